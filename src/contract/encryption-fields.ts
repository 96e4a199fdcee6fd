/** Fields of encryption at rest, which writes, reads and copies share. */
import { invalidArgument, S3Error } from '../errors.ts'
import { type InputField, outVendor, refused, vendor, worksOnly } from './fields.ts'
import { boolean, type Parser, text } from './values.ts'

const method: Parser<'AES256' | 'aws:kms'> = (raw, name) => {
  if (raw === 'AES256' || raw === 'aws:kms') return raw
  if (raw === 'aws:kms:dsse' || raw === 'aws:fsx') {
    throw new S3Error('NotImplemented', {
      message: `${name} ${raw} is not implemented by this server.`,
      details: { NotImplemented: `${name} ${raw}` },
    })
  }
  throw invalidArgument(name, raw, 'The encryption method specified is not supported')
}

/** Base64 of a JSON object of strings, kept as sent. */
const encryptionContext: Parser<string> = (raw, name) => {
  const bytes = Buffer.from(raw, 'base64')
  if (bytes.toString('base64') === raw && isStringMap(bytes.toString('utf8'))) return raw
  throw invalidArgument(
    name,
    raw,
    `The header '${name}' shall be Base64-encoded UTF-8 string holding JSON which represents a string-string map`,
  )
}

function isStringMap(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    return Object.values(value).every((entry) => typeof entry === 'string')
  } catch {
    return false
  }
}

/** The encryption that a write asks for. */
export const encryptionRequest = {
  serverSideEncryption: worksOnly(vendor('server-side-encryption', method), 'AES256, aws:kms'),
  kmsKeyId: vendor('server-side-encryption-aws-kms-key-id', text),
  bucketKeyEnabled: vendor('server-side-encryption-bucket-key-enabled', boolean),
  encryptionContext: vendor('server-side-encryption-context', encryptionContext),
} as const

/** A read can't ask for encryption, because the write decided it. */
const refusedOfRead = (name: string): InputField<undefined> => ({
  ...refused('vendor', name, 'InvalidArgument'),
  parse: (raw, sentName) => {
    throw invalidArgument(sentName, raw, `${sentName} header is not supported for this operation.`)
  },
})

export const encryptionOfRead = {
  serverSideEncryption: refusedOfRead('server-side-encryption'),
  kmsKeyId: refusedOfRead('server-side-encryption-aws-kms-key-id'),
  bucketKeyEnabled: refusedOfRead('server-side-encryption-bucket-key-enabled'),
  encryptionContext: refusedOfRead('server-side-encryption-context'),
} as const

/** A key that the client holds. `text` accepts any value, so that no parser's error can repeat a secret. */
export const customerKey = {
  customerAlgorithm: vendor('server-side-encryption-customer-algorithm', text),
  customerKey: vendor('server-side-encryption-customer-key', text),
  customerKeyMd5: vendor('server-side-encryption-customer-key-MD5', text),
} as const

/** The key with which the source of a copy was written. */
export const sourceCustomerKey = {
  sourceCustomerAlgorithm: vendor('copy-source-server-side-encryption-customer-algorithm', text),
  sourceCustomerKey: vendor('copy-source-server-side-encryption-customer-key', text),
  sourceCustomerKeyMd5: vendor('copy-source-server-side-encryption-customer-key-MD5', text),
} as const

/** How the server encrypts an object. The completion of an upload returns only this. */
export const encryptionOutOfCompletion = {
  serverSideEncryption: outVendor('server-side-encryption'),
  kmsKeyId: outVendor('server-side-encryption-aws-kms-key-id'),
  bucketKeyEnabled: outVendor('server-side-encryption-bucket-key-enabled'),
} as const

/** How an object is encrypted, in answers. */
export const encryptionOut = {
  ...encryptionOutOfCompletion,
  customerAlgorithm: outVendor('server-side-encryption-customer-algorithm'),
  customerKeyMd5: outVendor('server-side-encryption-customer-key-MD5'),
} as const

/** The same, in answers to writes. */
export const encryptionOutOfWrite = {
  ...encryptionOut,
  encryptionContext: outVendor('server-side-encryption-context'),
} as const
