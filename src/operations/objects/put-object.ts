import { customerKey, encryptionOutOfWrite, encryptionRequest } from '../../contract/encryption-fields.ts'
import {
  absentUnless,
  type DecodedFields,
  type EncodedFields,
  outHeader,
  type RequestBody,
  refused,
} from '../../contract/fields.ts'
import {
  checksumsIn,
  checksumsOut,
  chosenChecksum,
  copyOf,
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
import { type ErrorCode, S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { writeObject } from '../../objects/write-object.ts'
import { writtenVersionId } from '../../rules/versions.ts'
import { accessOfWrite } from '../access-lists/access-list.ts'
import { defineOperation, type OperationContext } from '../context.ts'
import { checksumOutputs, incomingData, requireDigest, withChosenChecksum } from './data-digests.ts'
import { encryptionOutputs, encryptionRequestOf } from './encryption.ts'
import { expirationOutput } from './expiration.ts'
import { objectAttributes } from './object-attributes.ts'

/** The inputs that say how to write an object: headers of PutObject, or fields of a form. */
export const objectInputs = {
  ...descriptive,
  ...writeConditions,
  ...checksumsIn,
  ...chosenChecksum,
  tagging,
  ...lockRequest,
  ...objectAcl,
  ...keeping,
  ...encryptionRequest,
  ...customerKey,
  writeOffsetBytes: refused('vendor', 'write-offset-bytes'),
  ...ownership,
} as const

/** The outputs about a written object. */
export const objectOutputs = {
  etag: outHeader('ETag'),
  versionId: versionIdOut,
  expiration: expirationOut,
  objectSize: absentUnless('object-size', 'data was appended, which is refused'),
  ...requestCharged,
  ...checksumsOut,
  ...encryptionOutOfWrite,
} as const

export const errorsOfWrite = [
  'NoSuchBucket',
  'NoSuchKey',
  'PreconditionFailed',
  'ConditionalRequestConflict',
  'BadDigest',
  'InvalidDigest',
  'InvalidRequest',
  'EntityTooLarge',
  'QuotaExceeded',
  'MetadataTooLarge',
  'InvalidTag',
  'InvalidStorageClass',
  'InvalidRedirectLocation',
  'AccessControlListNotSupported',
  'InvalidArgument',
  'NotImplemented',
] as const satisfies ErrorCode[]

export const putObjectOperation = defineOperation({
  name: 'PutObject',
  method: 'PUT',
  target: 'object',
  permission: 's3:PutObject',
  summary: 'Writes an object in one request.',
  input: { ...objectInputs, ...copyOf },
  inputBody: { kind: 'stream' },
  output: objectOutputs,
  errors: errorsOfWrite,

  conditions: () => ({ 's3:ObjectCreationOperation': 'true' }),

  handle: (context, input) => putObject(context, input, 'Put'),
})

/** Writes the object under the request's key, and returns the values of `objectOutputs`. Throws `errorsOfWrite`. */
export async function putObject(
  context: OperationContext,
  input: DecodedFields<typeof objectInputs> & Partial<DecodedFields<typeof copyOf>> & { body: RequestBody },
  madeBy: 'Put' | 'Post',
): Promise<EncodedFields<typeof objectOutputs> & { etag: string }> {
  const { backend, scope, key, presigned, customerKeysMayTravel } = context
  checkObjectSize(input.body.size, limits.putBytesMax)
  const attributes = objectAttributes(input)
  const sent = incomingData(input.body, input, presigned)
  requireDigest('Put Object', attributes, sent)
  const data = withChosenChecksum(sent, input.chosenAlgorithm)
  const version = await writeObject(backend, scope, {
    key,
    attributes,
    accessIn: accessOfWrite(context, input),
    data,
    conditions: input,
    encryption: encryptionRequestOf(input, { customerKeysMayTravel }),
    madeBy,
  })
  const { etag, checksum, encryption } = version.record
  return {
    etag: `"${etag}"`,
    versionId: writtenVersionId(version.record.versionId),
    expiration: expirationOutput(key, version),
    ...checksumOutputs(checksum),
    ...encryptionOutputs(encryption, input),
  }
}

/** Throws EntityTooLarge. */
export function checkObjectSize(size: number, bytesMax: number): void {
  if (size <= bytesMax) return
  throw new S3Error('EntityTooLarge', { details: { ProposedSize: String(size), MaxSizeAllowed: String(bytesMax) } })
}
