import { outHeader } from '../contract/fields.ts'
import {
  checksumsIn,
  checksumsOut,
  customerKey,
  descriptive,
  encryptionRequest,
  expirationOut,
  keeping,
  lockRequest,
  objectAcl,
  ownership,
  requestCharged,
  tagging,
  versionIdOut,
  writeConditions,
} from '../contract/groups.ts'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { IncomingData } from '../store/incoming-data.ts'
import type { ObjectAttributes } from '../store/records.ts'
import { shownVersionId } from '../store/versions.ts'
import { writeObject } from '../store/write-object.ts'
import { defineOperation } from './context.ts'
import { checksumOutputs, incomingData } from './data-digests.ts'
import { objectAttributes } from './object-attributes.ts'

export const putObjectOperation = defineOperation({
  name: 'PutObject',
  method: 'PUT',
  target: 'object',
  permission: 's3:PutObject',
  summary: 'Writes an object in one request.',
  input: {
    ...descriptive,
    ...writeConditions,
    ...checksumsIn,
    tagging,
    ...lockRequest,
    ...objectAcl,
    ...keeping,
    ...encryptionRequest,
    ...customerKey,
    ...ownership,
  },
  inputBody: { kind: 'stream' },
  output: {
    etag: outHeader('ETag'),
    versionId: versionIdOut,
    expiration: expirationOut,
    ...requestCharged,
    ...checksumsOut,
  },
  errors: [
    'NoSuchBucket',
    'PreconditionFailed',
    'BadDigest',
    'InvalidDigest',
    'EntityTooLarge',
    'MetadataTooLarge',
    'InvalidTag',
    'InvalidStorageClass',
    'InvalidRedirectLocation',
    'InvalidRequest',
  ],

  async handle({ store, scope, key, presigned }, input) {
    checkObjectSize(input.body.size, limits.putBytesMax)
    const attributes = objectAttributes(input)
    const data = incomingData(input.body, input, presigned)
    requireDigest(attributes, data, 'Put Object')
    const version = await writeObject(store, scope, {
      key,
      attributes,
      data,
      conditions: input,
    })
    const { etag, checksum } = version.record
    return { etag: `"${etag}"`, versionId: shownVersionId(version), ...checksumOutputs(checksum) }
  },
})

/** What is to be locked must be known to have arrived whole. Throws InvalidRequest. */
export function requireDigest(
  { retention, legalHold }: Pick<ObjectAttributes, 'retention' | 'legalHold'>,
  data: IncomingData,
  what: 'Put Object' | 'Put Part',
): void {
  if ((retention === undefined && legalHold === undefined) || data.contentMd5 !== undefined) return
  if (data.checksum !== undefined) return
  throw new S3Error('InvalidRequest', {
    message: `Content-MD5 OR a checksum HTTP header is required for ${what} requests with Object Lock parameters`,
  })
}

/** Throws EntityTooLarge. */
export function checkObjectSize(size: number, bytesMax: number): void {
  if (size <= bytesMax) return
  throw new S3Error('EntityTooLarge', { details: { ProposedSize: String(size), MaxSizeAllowed: String(bytesMax) } })
}
