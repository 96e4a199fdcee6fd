/** Encryption at rest: makes the object key that a request asks for, wraps it for the record, and unwraps it for reading. */
import { defaultKmsKeyName, type RingKey, storeKeyName } from '../encryption/key-ring.ts'
import { blobKey, hiddenEtag, keyBytes, unwrapObjectKey, wrapObjectKey } from '../encryption/object-key.ts'
import { S3Error } from '../errors.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import type { Encryption, ObjectData, OpenUpload } from '../records/records.ts'
import type { Backend } from './backend.ts'

/** A key that the client holds: 32 bytes. */
export interface CustomerKey {
  secret: Buffer
}

interface KmsRequest {
  by: 'kms'
  kmsKeyId?: string | undefined
  context?: string | undefined
  bucketKeyEnabled?: boolean | undefined
}

export type EncryptionRequest = { by: 'store' } | KmsRequest | { by: 'customer'; customerKey: CustomerKey }

/** What a wrapped object key is bound to: it opens no other object, version or upload. */
export interface KeyBinding {
  bucketId: string
  key: string
  /** The version's sequence, or the upload's id, because parts stay under that id after completion. */
  owner: { sequence: number } | { uploadId: string }
}

/** How a blob is to be encrypted. */
export interface BlobEncryption {
  /** Encrypts this blob only. */
  key: Buffer
  /** The ETag to show for an MD5, which must stay secret for some kinds of encryption. Both in hex. */
  etagOf(md5: string): string
}

/** The key of an object that is being written. */
export interface NewObjectKey {
  secret: Buffer
  by: Encryption['by']
  wrap(binding: KeyBinding): Encryption
}

const nonceBytes = 12

/** What wrapping needs from the backend. */
export type Wrapping = Pick<Backend, 'keys' | 'clock'>

/** What the request asks for, or else the bucket's default. The default also decides on the bucket key when a request for SSE-KMS leaves it open. */
export function encryptionFor(
  { encryption }: BucketRecord,
  request: EncryptionRequest | undefined,
): EncryptionRequest | undefined {
  if (request?.by !== 'kms' || encryption?.by !== 'kms') return request ?? encryption
  return { ...request, bucketKeyEnabled: request.bucketKeyEnabled ?? encryption.bucketKeyEnabled }
}

/** Throws KMS.NotFoundException when no key has the name that the request gives. */
export function newObjectKey(backend: Backend, request: EncryptionRequest): NewObjectKey {
  const secret = Buffer.from(backend.clock.random(keyBytes))
  const { by } = request
  const wrapped = (wrappingKey: Buffer, binding: KeyBinding, context?: string): string =>
    wrapObjectKey(secret, wrappingKey, bindingText(binding, context), backend.clock.random(nonceBytes))
  if (by === 'customer') {
    const { customerKey } = request
    return { secret, by, wrap: (binding) => ({ by, wrappedKey: wrapped(customerKey.secret, binding) }) }
  }
  const newest = (): RingKey => (by === 'store' ? storeKey(backend) : kmsKey(backend, request.kmsKeyId))
  const kmsFields = by === 'kms' ? { context: request.context, bucketKeyEnabled: request.bucketKeyEnabled } : {}
  // A request that names a missing key fails here, before its body is read.
  newest()
  return {
    secret,
    by,
    wrap: (binding) => {
      const { name, id, secret: wrapping } = newest()
      return { by, wrappedKey: wrapped(wrapping, binding, kmsFields.context), wrappedBy: { name, id }, ...kmsFields }
    },
  }
}

function storeKey({ keys }: Backend): RingKey {
  const key = keys.newest(storeKeyName)
  if (key === undefined) throw new ObjectKeyLost(`the key ring has no key named ${storeKeyName}`)
  return key
}

/** The newest key of the name that a client gives, or of the default name. Throws KMS.NotFoundException. */
export function kmsKey({ keys }: Backend, kmsKeyId: string | undefined): RingKey {
  const name = kmsKeyId === undefined ? defaultKmsKeyName : kmsKeyName(kmsKeyId)
  // Clients cannot name the key of SSE-S3.
  const key = name === storeKeyName ? undefined : keys.newest(name)
  if (key === undefined) {
    throw new S3Error('KMS.NotFoundException', {
      message: `Invalid keyId '${kmsKeyId ?? name}'`,
      details: { KeyId: name },
    })
  }
  return key
}

/** Clients give a key's name alone, as an alias, or in an ARN that ends with either. */
function kmsKeyName(kmsKeyId: string): string {
  return kmsKeyId.replace(/^arn:[^:]*:kms:[^:]*:[^:]*:/, '').replace(/^(?:key|alias)\//, '')
}

/** The same object key, wrapped by the newest ring key of the same name. `undefined` when it already is. */
export function rewrapped(backend: Wrapping, encryption: Encryption, binding: KeyBinding): Encryption | undefined {
  const before = encryption.wrappedBy
  const newest = before && backend.keys.newest(before.name)
  if (before === undefined || newest === undefined || newest.id === before.id) return undefined
  return wrappedBy(backend, newest, unwrapByRing(backend, encryption, binding), encryption, binding)
}

/**
 * The same object key, wrapped by the SSE-KMS key that the request names. Throws InvalidRequest when the object is not encrypted or its client holds the
 * key, and KMS.NotFoundException.
 */
export function rewrappedFor(
  backend: Backend,
  encryption: Encryption | undefined,
  binding: KeyBinding,
  request: KmsRequest,
): Encryption {
  const operation = 'The UpdateObjectEncryption operation'
  const only = 'Only source objects encrypted with SSE-S3 or SSE-KMS are supported.'
  if (encryption === undefined) {
    throw new S3Error('InvalidRequest', { message: `${operation} doesn't support unencrypted source objects. ${only}` })
  }
  if (encryption.by === 'customer') {
    throw new S3Error('InvalidRequest', {
      message: `${operation} doesn't support source objects with the encryption type DSSE-KMS or SSE-C. ${only}`,
    })
  }
  const wrapping = kmsKey(backend, request.kmsKeyId)
  return {
    ...wrappedBy(backend, wrapping, unwrapByRing(backend, encryption, binding), encryption, binding),
    by: 'kms',
    bucketKeyEnabled: request.bucketKeyEnabled,
  }
}

function wrappedBy(
  backend: Wrapping,
  { name, id, secret }: RingKey,
  objectSecret: Buffer,
  encryption: Encryption,
  binding: KeyBinding,
): Encryption {
  const text = bindingText(binding, encryption.context)
  const wrappedKey = wrapObjectKey(objectSecret, secret, text, backend.clock.random(nonceBytes))
  return { ...encryption, wrappedKey, wrappedBy: { name, id } }
}

/**
 * The key that opens an object, or `undefined` when it is not encrypted. Throws InvalidRequest when a customer's key is missing, or given for an object
 * without one, and AccessDenied when it is the wrong key.
 */
export function objectKeyOf(
  backend: Backend,
  encryption: Encryption | undefined,
  binding: KeyBinding,
  customerKey: CustomerKey | undefined,
): Buffer | undefined {
  if (encryption?.by !== 'customer') {
    if (customerKey !== undefined) {
      throw new S3Error('InvalidRequest', {
        message: 'The encryption parameters are not applicable to this object.',
      })
    }
    return encryption && unwrapByRing(backend, encryption, binding)
  }
  if (customerKey === undefined) {
    throw new S3Error('InvalidRequest', {
      message:
        'The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object.',
    })
  }
  const secret = unwrapObjectKey(encryption.wrappedKey, customerKey.secret, bindingText(binding, encryption.context))
  if (secret === undefined) throw new S3Error('AccessDenied')
  return secret
}

/**
 * The key of an open upload. `request` is what a client says about encryption when it sends a part. Throws InvalidRequest when it contradicts the upload, and
 * when the customer's key is missing.
 */
export function uploadKeyOf(
  backend: Backend,
  { bucketId, encryption }: OpenUpload,
  { key, uploadId }: { key: string; uploadId: string },
  request: EncryptionRequest | undefined,
): Buffer | undefined {
  checkRepeatedEncryption(encryption, request)
  const customerKey = request?.by === 'customer' ? request.customerKey : undefined
  const needsCustomerKey = encryption?.by === 'customer'
  if (needsCustomerKey && customerKey === undefined) {
    throw new S3Error('InvalidRequest', {
      message:
        'The multipart upload initiate requested encryption. Subsequent part requests must include the appropriate encryption parameters.',
    })
  }
  if (!needsCustomerKey && customerKey !== undefined) {
    throw new S3Error('InvalidRequest', {
      message:
        'The multipart upload initiate did not request encryption. Please resend the request without sending encryption parameters.',
    })
  }
  try {
    return objectKeyOf(backend, encryption, { bucketId, key, owner: { uploadId } }, customerKey)
  } catch (error) {
    if (error instanceof S3Error) throw encryptionMismatch()
    throw error
  }
}

const encryptionMismatch = (): S3Error =>
  new S3Error('InvalidRequest', {
    message: 'The provided encryption parameters did not match the ones used originally.',
  })

/**
 * Clients such as minio-go repeat the upload's encryption with each part and with the completion. It must match the upload's. Customers' keys are checked
 * where they are used. Throws InvalidRequest.
 */
export function checkRepeatedEncryption(
  encryption: Omit<Encryption, 'wrappedKey'> | undefined,
  request: EncryptionRequest | undefined,
): void {
  if (request === undefined || request.by === 'customer') return
  if (encryption?.by !== request.by) throw encryptionMismatch()
  if (request.by === 'store') return
  const { kmsKeyId, context, bucketKeyEnabled } = request
  if (kmsKeyId !== undefined && kmsKeyName(kmsKeyId) !== encryption.wrappedBy?.name) throw encryptionMismatch()
  if (context !== undefined && context !== encryption.context) throw encryptionMismatch()
  if (bucketKeyEnabled !== undefined && bucketKeyEnabled !== (encryption.bucketKeyEnabled ?? false)) {
    throw encryptionMismatch()
  }
}

/** Thrown when the key ring can't open what it sealed or wrapped: the ring lacks the key, or the record was altered. */
export class ObjectKeyLost extends Error {
  constructor(why: string) {
    super(why)
    this.name = 'ObjectKeyLost'
  }
}

function unwrapByRing(backend: Wrapping, encryption: Encryption, binding: KeyBinding): Buffer {
  const { name = '', id = '' } = encryption.wrappedBy ?? {}
  const ringKey = backend.keys.find(name, id)
  if (ringKey === undefined) throw new ObjectKeyLost(`the key ring lacks key ${id} of ${name}`)
  const secret = unwrapObjectKey(encryption.wrappedKey, ringKey.secret, bindingText(binding, encryption.context))
  if (secret === undefined) throw new ObjectKeyLost(`an object's key does not open with key ${id} of ${name}`)
  return secret
}

function bindingText({ bucketId, key, owner }: KeyBinding, context: string | undefined): string {
  const placed = 'uploadId' in owner ? ['upload', owner.uploadId] : ['version', owner.sequence]
  return JSON.stringify([bucketId, key, placed, context ?? null])
}

/** What the key of a stored object is bound to. */
export function bindingOf(
  bucketId: string,
  key: string,
  { data, encryption, ...object }: { sequence: number; data: ObjectData; encryption?: Encryption | undefined },
): KeyBinding {
  const sequence = encryption?.boundSequence ?? object.sequence
  return { bucketId, key, owner: data.kind === 'parts' ? { uploadId: data.uploadId } : { sequence } }
}

/** The label that derives the key of a whole object's blob from the object's key. */
export const wholeBlob = 'object'

/** The label that derives the key of one part's blob from the object's key. */
export const partBlob = (number: number, salt: string): string => `part ${number} ${salt}`

/** How one blob of an object is encrypted. Only SSE-S3 shows the MD5 of the plaintext. */
export function blobEncryption({ secret, by }: Pick<NewObjectKey, 'secret' | 'by'>, blob: string): BlobEncryption {
  return {
    key: blobKey(secret, blob),
    etagOf: (md5) => (by === 'store' ? md5 : hiddenEtag(secret, md5)),
  }
}
