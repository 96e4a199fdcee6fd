/** Resolves a Range header against an object's size: RFC 9110 section 14, a single range, as S3 serves it. Pure. */
import { S3Error } from '../errors.ts'

export interface ByteRange {
  /** First byte. */
  start: number
  /** One past the last byte. */
  end: number
}

/**
 * The bytes that `header` asks for. `undefined` when it is not a single byte range in valid syntax: such a header is ignored, as RFC 9110 allows and S3 does.
 * Throws InvalidRange when the range cannot be satisfied.
 */
export function resolveRange(header: string, size: number): ByteRange | undefined {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header)
  if (match === null) return undefined
  const [, first = '', last = ''] = match
  if (first === '' && last === '') return undefined
  if (first === '') {
    const suffix = Number(last)
    if (suffix === 0) throw unsatisfiable(header, size)
    // RFC 9110 section 14.1.3: a suffix longer than the object means all of it. A 206 could not express an empty range, so the header is ignored.
    if (size === 0) return undefined
    return { start: Math.max(0, size - suffix), end: size }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= size) throw unsatisfiable(header, size)
  return { start, end: last === '' ? size : Math.min(size, Number(last) + 1) }
}

function unsatisfiable(header: string, size: number): S3Error {
  return new S3Error('InvalidRange', {
    details: { RangeRequested: header, ActualObjectSize: String(size) },
    headers: { 'Content-Range': `bytes */${size}` },
  })
}
