import {
  customerKey,
  encryptionOutOfWrite,
  encryptionRequest,
  sourceCustomerKey,
} from '../../contract/encryption-fields.ts'
import { outVendor, required, vendor } from '../../contract/fields.ts'
import {
  checksumAlgorithm,
  descriptive,
  expirationOut,
  keeping,
  lockRequest,
  objectAcl,
  ownership,
  requestCharged,
  tagging,
  versionIdOut,
  writeConditions,
} from '../../contract/groups.ts'
import { optional, string, struct, timestamp } from '../../contract/shapes.ts'
import { oneOf, oneOfOr, text } from '../../contract/values.ts'
import { S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { writeObject } from '../../objects/write-object.ts'
import type { ObjectAttributes } from '../../records/object-attributes.ts'
import { checkCopySource } from '../../rules/preconditions.ts'
import { parseTaggingHeader } from '../../rules/tag-set.ts'
import { shownVersionId } from '../../rules/versions.ts'
import { accessOfWrite } from '../access-lists/access-list.ts'
import { defineOperation } from '../context.ts'
import {
  copiedVersionId,
  copyConditions,
  copySourceInputs,
  openCopySource,
  parseCopySource,
  readPermission,
} from './copy-source.ts'
import { checksumElementShapes, checksumElements } from './data-digests.ts'
import { encryptionOutputs, encryptionRequestOf, sourceCustomerKeyOf } from './encryption.ts'
import { expirationOutput } from './expiration.ts'
import { type AttributeInputs, objectAttributes } from './object-attributes.ts'

export const copyObjectOperation = defineOperation({
  name: 'CopyObject',
  method: 'PUT',
  target: 'object',
  vendorHeaders: ['copy-source'],
  permission: 's3:PutObject',
  summary: 'Copies an object within the server, with its metadata and tags or with new ones.',
  input: {
    copySource: required(vendor('copy-source', text)),
    ...copySourceInputs,
    ...sourceCustomerKey,
    metadataDirective: vendor('metadata-directive', oneOfOr('Unknown metadata directive.', 'COPY', 'REPLACE')),
    taggingDirective: vendor('tagging-directive', oneOfOr('Unknown tagging directive.', 'COPY', 'REPLACE')),
    tagging,
    // No object here has annotations to copy or to leave.
    annotationDirective: vendor('object-annotation-directive', oneOf('COPY', 'EXCLUDE')),
    checksumAlgorithm: vendor('checksum-algorithm', checksumAlgorithm),
    ...descriptive,
    ...writeConditions,
    ...lockRequest,
    ...objectAcl,
    ...keeping,
    ...encryptionRequest,
    ...customerKey,
    ...ownership,
  },
  output: {
    versionId: versionIdOut,
    sourceVersionId: outVendor('copy-source-version-id'),
    ...encryptionOutOfWrite,
    expiration: expirationOut,
    ...requestCharged,
  },
  outputBody: {
    kind: 'xml',
    root: 'CopyObjectResult',
    shape: struct({
      LastModified: timestamp,
      ETag: string,
      ...checksumElementShapes,
      ChecksumType: optional(string),
    }),
  },
  slow: true,
  errors: [
    'NoSuchBucket',
    'NoSuchKey',
    'NoSuchVersion',
    'PreconditionFailed',
    'ConditionalRequestConflict',
    'QuotaExceeded',
    'InvalidRequest',
    'InvalidArgument',
    'InvalidTag',
    'MetadataTooLarge',
    'InvalidStorageClass',
    'InvalidRedirectLocation',
    'AccessControlListNotSupported',
    'NotImplemented',
  ],

  conditions: ({ taggingDirective }) => ({
    's3:ObjectCreationOperation': 'true',
    // A copy that takes the tags of its source asks for none.
    ...(taggingDirective === 'REPLACE' ? {} : { 's3:RequestObjectTagKeys': undefined }),
  }),

  async handle(context, input) {
    const { backend, scope, scopeOf, bucket, key, customerKeysMayTravel } = context
    const connection = { customerKeysMayTravel }
    const source = { ...parseCopySource(input.copySource), customerKey: sourceCustomerKeyOf(input, connection) }
    const encryption = encryptionRequestOf(input, connection)
    const isItself = source.bucket === bucket && source.key === key && source.versionId === undefined
    const changesNothing = isItself && encryption === undefined && !changesObject(input)
    const accessIn = accessOfWrite(context, input)
    const sourceScope = scopeOf(source, readPermission(source), input.sourceExpectedBucketOwner)
    const opened = await openCopySource(context, sourceScope, source, (record) => {
      checkCopySource(copyConditions(input), record, backend.clock)
      checkCopySize(record.size)
      return { range: { start: 0, end: record.size } }
    })
    try {
      // The default encryption of a bucket may have come after the object, and a copy that names no key takes the client's away.
      const staysEncrypted = opened.bucket.encryption === undefined && opened.record.encryption?.by !== 'customer'
      if (changesNothing && staysEncrypted) {
        throw new S3Error('InvalidRequest', {
          message:
            "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
        })
      }
      if (input.taggingDirective !== 'REPLACE' && opened.record.attributes.tags.length > 0) {
        // Copying tags needs the permissions to read them and to write them.
        sourceScope.ask(source.versionId === undefined ? 's3:GetObjectTagging' : 's3:GetObjectVersionTagging')
        scope.ask('s3:PutObjectTagging')
      }
      const algorithm = input.checksumAlgorithm ?? opened.record.checksum?.algorithm
      const version = await writeObject(backend, scope, {
        key,
        attributes: copiedAttributes(input, opened.record.attributes),
        accessIn,
        data: {
          body: opened.body,
          checksum: algorithm === undefined ? undefined : { algorithm, expected: () => undefined },
        },
        conditions: input,
        encryption,
        madeBy: 'Copy',
      })
      const { modifiedMs, etag, checksum } = version.record
      return {
        versionId: shownVersionId(version),
        sourceVersionId: copiedVersionId(source, opened.record),
        expiration: expirationOutput(key, version),
        ...encryptionOutputs(version.record.encryption, input),
        body: { LastModified: modifiedMs, ETag: `"${etag}"`, ...checksumElements(checksum) },
      }
    } finally {
      opened.body.cancel()
    }
  },
})

function checkCopySize(size: number): void {
  if (size <= limits.putBytesMax) return
  throw new S3Error('InvalidRequest', {
    message: `The specified copy source is larger than the maximum allowable size for a copy source: ${limits.putBytesMax}`,
  })
}

interface CopyDirectives extends AttributeInputs {
  metadataDirective?: 'COPY' | 'REPLACE' | undefined
  taggingDirective?: 'COPY' | 'REPLACE' | undefined
}

/** Whether a copy of an object onto itself would change anything. */
function changesObject(input: CopyDirectives): boolean {
  if (input.metadataDirective === 'REPLACE' || input.taggingDirective === 'REPLACE') return true
  return input.storageClass !== undefined || input.websiteRedirectLocation !== undefined
}

/** Metadata and tags each come from the source, or from the request when its directive says so. */
function copiedAttributes(input: CopyDirectives, source: ObjectAttributes): ObjectAttributes {
  const replaces = input.metadataDirective === 'REPLACE'
  // Metadata beside another directive is ignored, however long it is.
  const own = objectAttributes({ ...input, tagging: undefined, metadata: replaces ? input.metadata : {} })
  const { headers, metadata } = replaces ? own : source
  const tags = input.taggingDirective === 'REPLACE' ? parseTaggingHeader(input.tagging ?? '') : source.tags
  // Lock, storage class and redirect are never copied. They come from the request or from the bucket.
  return { ...own, headers, metadata, tags }
}
