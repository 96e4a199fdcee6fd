/** How long a key may be. Pure. */
import { S3Error } from './errors.ts'
import { limits } from './limits.ts'

/** Throws KeyTooLongError. */
export function checkKeyLength(key: string): void {
  // UTF-8 takes at most three bytes for a UTF-16 code unit.
  if (key.length * 3 <= limits.keyBytesMax) return
  const bytes = Buffer.byteLength(key)
  if (bytes <= limits.keyBytesMax) return
  throw new S3Error('KeyTooLongError', {
    details: { Size: String(bytes), MaxSizeAllowed: String(limits.keyBytesMax) },
  })
}
