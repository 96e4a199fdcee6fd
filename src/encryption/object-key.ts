/** The key of one object: made for it alone, kept wrapped by another key, and the keys derived from it. Pure, given randomness. */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'

export const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

/**
 * An object's key in its stored form, in base64. `binding` names the object and the context; the key can be unwrapped only with the same.
 * `nonce`: 12 random bytes.
 */
export function wrapObjectKey(objectKey: Buffer, wrappingKey: Buffer, binding: string, nonce: Buffer): string {
  const cipher = createCipheriv('aes-256-gcm', wrappingKey, nonce, { authTagLength: tagBytes })
  cipher.setAAD(Buffer.from(binding))
  return Buffer.concat([nonce, cipher.update(objectKey), cipher.final(), cipher.getAuthTag()]).toString('base64')
}

/** `undefined` with another wrapping key or another binding, or when it is damaged. */
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

/** The key of the one blob that `name` means: a part that was sent twice is two blobs, and so has two names. */
export function blobKey(objectKey: Buffer, name: string): Buffer {
  return createHmac('sha256', objectKey).update(`blob ${name}`).digest()
}

/** An entity tag that does not reveal the MD5 of the plaintext. Both in hex. */
export function hiddenEtag(objectKey: Buffer, md5: string): string {
  return createHmac('sha256', objectKey).update(`etag ${md5}`).digest('hex').slice(0, 32)
}
