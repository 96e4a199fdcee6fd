/** Percent-decoding, exactly once and strictly: bad escapes and bytes that aren't UTF-8 are refused rather than replaced. */
import { isUtf8 } from 'node:buffer'
import { S3Error } from '../errors.ts'

/** Throws InvalidURI. A plus stays a plus. */
export function percentDecode(raw: string): string {
  return raw.includes('%') ? decodeEscapes(raw) : raw
}

/** Like `percentDecode`, but a plus is a space, as in form encoding: S3, MinIO and Ceph read queries that way. */
export function percentDecodeQuery(raw: string): string {
  return percentDecode(raw.includes('+') ? raw.replaceAll('+', ' ') : raw)
}

function decodeEscapes(raw: string): string {
  const bytes = Buffer.allocUnsafe(raw.length)
  let length = 0
  for (let i = 0; i < raw.length; i++) {
    let byte = raw.charCodeAt(i)
    if (byte === 0x25) {
      byte = (hexDigit(raw.charCodeAt(i + 1)) << 4) | hexDigit(raw.charCodeAt(i + 2))
      i += 2
    }
    // Node's parser lets nothing above ASCII into a target, so a character is a byte.
    bytes[length++] = byte
  }
  const decoded = bytes.subarray(0, length)
  if (!isUtf8(decoded)) throw new S3Error('InvalidURI')
  return decoded.toString('utf8')
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  if (lower >= 0x61 && lower <= 0x66) return lower - 0x57
  throw new S3Error('InvalidURI')
}
