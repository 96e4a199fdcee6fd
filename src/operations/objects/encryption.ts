/** Encryption at rest in requests and answers: converts between fields and the values that `objects/` uses. */
import { createHash } from 'node:crypto'
import type { CustomerKey, EncryptionRequest } from '../../commits/encryption.ts'
import { keyBytes } from '../../encryption/object-key.ts'
import { S3Error } from '../../errors.ts'
import type { Encryption } from '../../records/records.ts'

export interface CustomerKeyInputs {
  customerAlgorithm?: string | undefined
  customerKey?: string | undefined
  customerKeyMd5?: string | undefined
}

export interface EncryptionInputs extends CustomerKeyInputs {
  serverSideEncryption?: 'AES256' | 'aws:kms' | undefined
  kmsKeyId?: string | undefined
  bucketKeyEnabled?: boolean | undefined
  encryptionContext?: string | undefined
}

interface Connection {
  customerKeysMayTravel: boolean
}

// The message never repeats the value, because it can be a key.
const refusal = (message: string): S3Error => new S3Error('InvalidArgument', { message })

/** The encryption that a write asks for, if any. Throws InvalidArgument, InvalidRequest, InvalidEncryptionAlgorithmError. */
export function encryptionRequestOf(input: EncryptionInputs, connection: Connection): EncryptionRequest | undefined {
  const { serverSideEncryption: method, kmsKeyId, bucketKeyEnabled, encryptionContext: context } = input
  const customerKey = customerKeyOf(input, connection)
  if (customerKey !== undefined) {
    if (method !== undefined || kmsKeyId !== undefined || context !== undefined || bucketKeyEnabled === true) {
      throw refusal(
        'Server Side Encryption with Customer provided key is incompatible with the encryption method specified',
      )
    }
    return { by: 'customer', customerKey }
  }
  if (method === 'aws:kms') return { by: 'kms', kmsKeyId, bucketKeyEnabled, context }
  if (kmsKeyId !== undefined || context !== undefined || bucketKeyEnabled === true) {
    throw refusal(
      'Server Side Encryption with AWS KMS managed key requires HTTP header x-amz-server-side-encryption : aws:kms',
    )
  }
  return method === undefined ? undefined : { by: 'store' }
}

/** The customer's key in the request, if any. Throws InvalidArgument, InvalidRequest, InvalidEncryptionAlgorithmError. */
export function customerKeyOf(input: CustomerKeyInputs, connection: Connection): CustomerKey | undefined {
  const { customerAlgorithm: algorithm, customerKey: key, customerKeyMd5: md5 } = input
  if (algorithm === undefined && key === undefined && md5 === undefined) return undefined
  if (!connection.customerKeysMayTravel) {
    throw new S3Error('InvalidRequest', {
      message:
        'Requests specifying Server Side Encryption with Customer provided keys must be made over a secure connection.',
    })
  }
  const requests = 'Requests specifying Server Side Encryption with Customer provided keys must provide'
  if (algorithm === undefined) throw refusal(`${requests} a valid encryption algorithm.`)
  if (key === undefined) throw refusal(`${requests} an appropriate secret key.`)
  if (md5 === undefined) throw refusal(`${requests} the client calculated MD5 of the secret key.`)
  if (algorithm !== 'AES256') throw new S3Error('InvalidEncryptionAlgorithmError')
  const secret = Buffer.from(key, 'base64')
  if (secret.length !== keyBytes || secret.toString('base64') !== key) {
    throw refusal('The secret key was invalid for the specified algorithm.')
  }
  if (createHash('md5').update(secret).digest('base64') !== md5) {
    throw refusal('The calculated MD5 hash of the key did not match the hash that was provided.')
  }
  return { secret }
}

/** The customer's key for the source of a copy. Throws the same errors as `customerKeyOf`. */
export function sourceCustomerKeyOf(
  input: {
    sourceCustomerAlgorithm?: string | undefined
    sourceCustomerKey?: string | undefined
    sourceCustomerKeyMd5?: string | undefined
  },
  connection: Connection,
): CustomerKey | undefined {
  return customerKeyOf(
    {
      customerAlgorithm: input.sourceCustomerAlgorithm,
      customerKey: input.sourceCustomerKey,
      customerKeyMd5: input.sourceCustomerKeyMd5,
    },
    connection,
  )
}

/** The output fields that say how an object is encrypted. */
export function encryptionOutputs(
  encryption: Omit<Encryption, 'wrappedKey'> | undefined,
  { customerKeyMd5 }: CustomerKeyInputs,
) {
  switch (encryption?.by) {
    case undefined:
      return {}
    case 'store':
      return { serverSideEncryption: 'AES256' }
    case 'customer':
      return { customerAlgorithm: 'AES256', customerKeyMd5 }
    case 'kms':
      return {
        serverSideEncryption: 'aws:kms',
        kmsKeyId: encryption.wrappedBy?.name,
        bucketKeyEnabled: encryption.bucketKeyEnabled === true ? 'true' : undefined,
        encryptionContext: encryption.context,
      }
  }
}
