import { outHeader, vendor } from '../contract/fields.ts'
import {
  checksumsIn,
  checksumsOut,
  customerKey,
  descriptive,
  objectAcl,
  ownership,
  unkeptGuarantees,
  writeConditions,
} from '../contract/groups.ts'
import { text } from '../contract/values.ts'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
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
    tagging: vendor('tagging', text, 'not-supported'),
    ...objectAcl,
    ...unkeptGuarantees,
    ...customerKey,
    ...ownership,
  },
  inputBody: { kind: 'stream' },
  output: { etag: outHeader('ETag', 'not-supported'), ...checksumsOut },
  errors: [
    'NoSuchBucket',
    'PreconditionFailed',
    'BadDigest',
    'InvalidDigest',
    'EntityTooLarge',
    'MetadataTooLarge',
    'InvalidTag',
  ],

  async handle({ store, scope, key, presigned }, input) {
    checkObjectSize(input.body.size, limits.putBytesMax)
    const record = await writeObject(store, scope, {
      key,
      attributes: objectAttributes(input),
      data: incomingData(input.body, input, presigned),
      conditions: input,
    })
    return { etag: `"${record.etag}"`, ...checksumOutputs(record.checksum) }
  },
})

/** Throws EntityTooLarge. */
export function checkObjectSize(size: number, bytesMax: number): void {
  if (size <= bytesMax) return
  throw new S3Error('EntityTooLarge', { details: { ProposedSize: String(size), MaxSizeAllowed: String(bytesMax) } })
}
