import type { BucketScope } from '../../commits/scope.ts'
import { refused } from '../../contract/fields.ts'
import {
  bypassGovernanceRetention,
  checksumsIn,
  ownership,
  requestCharged,
  requiredDocument,
  versionName,
} from '../../contract/groups.ts'
import { boolean, httpTime, type Infer, integer, list, optional, string, struct } from '../../contract/shapes.ts'
import { type ErrorCode, S3Error } from '../../errors.ts'
import { checkKeyLength } from '../../key-length.ts'
import { limits } from '../../limits.ts'
import { findBucket } from '../../objects/buckets.ts'
import { type DeletionOutcome, deleteObjects, type ScopedDeletion } from '../../objects/delete-objects.ts'
import { defineOperation } from '../context.ts'
import { readPermission } from './copy-source.ts'
import { comparesObject } from './delete-object.ts'

const named = struct({
  Key: string,
  VersionId: optional(string),
  ETag: optional(string),
  LastModifiedTime: optional(httpTime),
  Size: optional(integer),
})

type NamedObject = Infer<typeof named>

interface Failure {
  Key: string
  VersionId: string | undefined
  Code: ErrorCode
  Message: string
}

export const deleteObjectsOperation = defineOperation({
  name: 'DeleteObjects',
  method: 'POST',
  target: 'bucket',
  query: ['delete'],
  // The permission is checked for each entry.
  permission: [],
  summary: 'Deletes up to 1,000 objects, each with a result of its own.',
  input: {
    ...checksumsIn,
    bypassGovernanceRetention,
    mfa: refused('vendor', 'mfa'),
    ...ownership,
  },
  inputBody: requiredDocument('Delete', struct({ Object: list(named), Quiet: optional(boolean) }), true),
  output: requestCharged,
  outputBody: {
    kind: 'xml',
    root: 'DeleteResult',
    shape: struct({
      Deleted: list(
        struct({
          Key: string,
          VersionId: optional(string),
          DeleteMarker: optional(boolean),
          DeleteMarkerVersionId: optional(string),
        }),
      ),
      Error: list(struct({ Key: string, VersionId: optional(string), Code: string, Message: string })),
    }),
  },
  errors: [
    'NoSuchBucket',
    'NoSuchKey',
    'NoSuchVersion',
    'PreconditionFailed',
    'MalformedXML',
    'UserKeyMustBeSpecified',
    'KeyTooLongError',
  ],

  async handle(context, { body, bypassGovernanceRetention }) {
    const { backend, scope } = context
    if (body.Object.length === 0 || body.Object.length > limits.deleteObjectsMax) throw new S3Error('MalformedXML')
    for (const { Key } of body.Object) checkKeyLength(Key)
    await findBucket(backend, scope)
    if (body.Object.some(({ Key }) => Key === '')) throw new S3Error('UserKeyMustBeSpecified')
    const bypass = bypassGovernanceRetention === true
    const scopeOfOne = (object: NamedObject): BucketScope => {
      const { Key: key, VersionId: versionId } = object
      const permission = versionId === undefined ? 's3:DeleteObject' : 's3:DeleteObjectVersion'
      const one = context.scopeOf({ bucket: scope.name, key, versionId }, permission, context.expectedBucketOwner)
      if (comparesObject(conditionsOf(object))) one.ask(readPermission({ versionId }))
      if (bypass && versionId !== undefined) one.ask('s3:BypassGovernanceRetention')
      return one
    }
    const objects = onceEach(body.Object)
    const named = objects.map((object) => refusalOf(object) ?? deletionOf(object, scopeOfOne(object), bypass))
    const deletions = named.flatMap((one) => (one instanceof S3Error ? [] : [one]))
    const outcomes = (await deleteObjects(backend, scope.name, deletions)).values()
    const answers = objects.map((object, i) => {
      const refused = named[i]
      return answerOf(object, refused instanceof S3Error ? refused : outcomes.next().value)
    })
    return {
      body: {
        Deleted: body.Quiet === true ? [] : answers.flatMap(({ deleted }) => deleted ?? []),
        Error: answers.flatMap(({ failed }) => failed ?? []),
      },
    }
  },
})

/** S3 deletes once what is named twice in the same words: it makes one delete marker of it, and answers it once. */
function onceEach(objects: readonly NamedObject[]): readonly NamedObject[] {
  const named = objects.map(
    (object) =>
      [
        JSON.stringify([object.Key, object.VersionId, object.ETag, object.LastModifiedTime, object.Size]),
        object,
      ] as const,
  )
  return [...new Map(named).values()]
}

interface Deleted {
  Key: string
  VersionId: string | undefined
  DeleteMarker: true | undefined
  DeleteMarkerVersionId: string | undefined
}

function deletionOf(object: NamedObject, scope: BucketScope, bypassGovernance: boolean): ScopedDeletion {
  return {
    scope,
    key: object.Key,
    versionId: object.VersionId,
    ...conditionsOf(object),
    bypassGovernance,
  }
}

/** An entity tag that no object has. */
const nobodysTag = '""'

// S3 takes the element for one entity tag. Unlike the header, it can't hold a list.
const conditionsOf = ({ ETag, LastModifiedTime, Size }: NamedObject) => ({
  ifMatch: ETag?.includes(',') ? nobodysTag : ETag,
  ifMatchLastModifiedMs: LastModifiedTime,
  ifMatchSize: Size,
})

function answerOf(
  { Key, VersionId }: NamedObject,
  outcome: DeletionOutcome | undefined,
): { deleted?: Deleted; failed?: Failure } {
  if (outcome === undefined) throw new Error('an object in the request has no outcome')
  if (outcome instanceof S3Error) return { failed: { Key, VersionId, Code: outcome.code, Message: outcome.message } }
  const { versionId, deleteMarker } = outcome
  return {
    deleted: {
      Key,
      VersionId,
      DeleteMarker: deleteMarker ? true : undefined,
      DeleteMarkerVersionId: deleteMarker ? versionId : undefined,
    },
  }
}

/** The error of an entry whose key or version id is invalid. */
function refusalOf({ VersionId }: NamedObject): S3Error | undefined {
  try {
    if (VersionId !== undefined) versionName(VersionId, 'VersionId')
    return undefined
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
    // As in S3, an entry tells only that there is no such version.
    return error.code === 'InvalidArgument' ? new S3Error('NoSuchVersion') : error
  }
}
