import { refused } from '../contract/fields.ts'
import { bypassGovernanceRetention, checksumsIn, ownership, requestCharged, versionName } from '../contract/groups.ts'
import { boolean, list, optional, refusedByHandler, string, struct } from '../contract/shapes.ts'
import { type ErrorCode, S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { findBucket } from '../store/buckets.ts'
import { deleteObject } from '../store/delete-object.ts'
import type { BucketScope } from '../store/scope.ts'
import type { Store } from '../store/store.ts'
import { defineOperation } from './context.ts'

const named = struct({
  Key: string,
  VersionId: optional(string),
  ETag: optional(string),
  LastModifiedTime: refusedByHandler(string),
  Size: refusedByHandler(string),
})

interface NamedObject {
  Key: string
  VersionId?: string | undefined
  ETag?: string | undefined
  LastModifiedTime?: string | undefined
  Size?: string | undefined
}

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
  // Asked for each entry by itself.
  permission: [],
  summary: 'Removes up to 1,000 objects; each is answered for itself.',
  input: {
    ...checksumsIn,
    bypassGovernanceRetention,
    mfa: refused('vendor', 'mfa'),
    ...ownership,
  },
  inputBody: {
    kind: 'xml',
    root: 'Delete',
    shape: struct({ Object: list(named), Quiet: optional(boolean) }),
    required: true,
    digestRequired: true,
    bytesMax: limits.xmlBodyBytesMax,
  },
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
  errors: ['NoSuchBucket', 'NoSuchKey', 'PreconditionFailed', 'MalformedXML'],

  async handle(context, { body, bypassGovernanceRetention }) {
    const { store, scope, mayBypassGovernance } = context
    if (body.Object.length === 0 || body.Object.length > limits.deleteObjectsMax) throw new S3Error('MalformedXML')
    await findBucket(store, scope)
    const bypass = mayBypassGovernance(bypassGovernanceRetention)
    const scopeFor = (permission: string): BucketScope =>
      context.scopeOf(scope.name, permission, context.expectedBucketOwner)
    const ofCurrent = scopeFor('s3:DeleteObject')
    const ofVersions = scopeFor('s3:DeleteObjectVersion')
    const scopeOfOne = ({ VersionId }: NamedObject): BucketScope => (VersionId === undefined ? ofCurrent : ofVersions)
    // The commits of one turn share one flush to disk, so all at once is also the cheapest way.
    const outcomes = await Promise.all(
      body.Object.map((object) => deleteNamed(store, scopeOfOne(object), object, bypass)),
    )
    const deleted = outcomes.flatMap((outcome) => (outcome.deleted === undefined ? [] : [outcome.deleted]))
    return {
      body: {
        Deleted: body.Quiet === true ? [] : deleted,
        Error: outcomes.flatMap((outcome) => (outcome.failed === undefined ? [] : [outcome.failed])),
      },
    }
  },
})

interface Deleted {
  Key: string
  VersionId: string | undefined
  DeleteMarker: true | undefined
  DeleteMarkerVersionId: string | undefined
}

async function deleteNamed(
  store: Store,
  scope: BucketScope,
  object: NamedObject,
  bypassGovernance: boolean,
): Promise<{ deleted?: Deleted; failed?: Failure }> {
  const { Key, VersionId } = object
  try {
    checkNamed(object)
    const deletion = { key: Key, versionId: VersionId, ifMatch: object.ETag, bypassGovernance }
    const { versionId, deleteMarker } = await deleteObject(store, scope, deletion)
    return {
      deleted: {
        Key,
        VersionId,
        DeleteMarker: deleteMarker ? true : undefined,
        DeleteMarkerVersionId: deleteMarker ? versionId : undefined,
      },
    }
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
    return { failed: { Key, VersionId, Code: error.code, Message: error.message } }
  }
}

function checkNamed({ Key, VersionId, LastModifiedTime, Size }: NamedObject): void {
  if (Key === '') throw new S3Error('MalformedXML')
  if (Buffer.byteLength(Key) > limits.keyBytesMax) throw new S3Error('KeyTooLongError')
  if (VersionId !== undefined) versionName(VersionId, 'VersionId')
  if (LastModifiedTime !== undefined || Size !== undefined) {
    throw new S3Error('NotImplemented', { message: 'LastModifiedTime and Size conditions are not implemented.' })
  }
}
