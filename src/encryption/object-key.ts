/** The key of one object: unique to it, stored wrapped by another key, and the source of derived keys. Pure: the caller supplies randomness. */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'

export const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

/**
 * An object's key in its stored form, in base64. `binding` names the object and the context. Only the same binding unwraps the key.
 * `nonce`: 12 random bytes.
 */
export function wrapObjectKey(objectKey: Buffer, wrappingKey: Buffer, binding: string, nonce: Buffer): string {
  const cipher = createCipheriv('aes-256-gcm', wrappingKey, nonce, { authTagLength: tagBytes })
  cipher.setAAD(Buffer.from(binding))
  return Buffer.concat([nonce, cipher.update(objectKey), cipher.final(), cipher.getAuthTag()]).toString('base64')
}

/** `undefined` when the wrapping key or the binding is a different one, or the stored form is damaged. */
export function unwrapObjectKey(wrapped: string, wrappingKey: Buffer, binding: string): Buffer | undefined {
  const bytes = Buffer.from(wrapped, 'base64')
  if (bytes.length !== nonceBytes + keyBytes + tagBytes) return undefined
  const decipher = createDecipheriv('aes-256-gcm', wrappingKey, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(Buffer.from(binding))
  decipher.setAuthTag(bytes.subarray(nonceBytes + keyBytes))
  const objectKey = decipher.update(bytes.subarray(nonceBytes, nonceBytes + keyBytes))
  try {
    decipher.final()
    return objectKey
  } catch {
    return undefined
  }
}

/** The key of the blob called `name`. A name is never reused: a part that was sent twice is two blobs with two names. */
export function blobKey(objectKey: Buffer, name: string): Buffer {
  return createHmac('sha256', objectKey).update(`blob ${name}`).digest()
}

/** Derives an entity tag that does not reveal the MD5 of the plaintext. Both are in hex. */
export function hiddenEtag(objectKey: Buffer, md5: string): string {
  return createHmac('sha256', objectKey).update(`etag ${md5}`).digest('hex').slice(0, 32)
}
