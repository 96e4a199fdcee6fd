/** Whether a request's If-* conditions allow it: RFC 9110 section 13 for reads, S3's conditional writes for writes. Pure. */
import type { Clock } from '../clock.ts'
import { S3Error } from '../errors.ts'
import { httpDate } from '../time-text.ts'

export interface ReadConditions {
  ifMatch?: string | undefined
  ifNoneMatch?: string | undefined
  ifModifiedSinceMs?: number | undefined
  ifUnmodifiedSinceMs?: number | undefined
}

export interface WriteConditions {
  ifMatch?: string | undefined
  ifNoneMatch?: string | undefined
}

/** S3 supports the last two on directory buckets only. */
export interface DeleteConditions {
  ifMatch?: string | undefined
  /** In whole seconds, as HTTP dates are. */
  ifMatchLastModifiedMs?: number | undefined
  ifMatchSize?: number | undefined
}

export interface Existing {
  etag: string
  modifiedMs: number
}

/** `"a", "b", c` -> whether one of them is `etag`, or the list is `*`. Compares strongly: `W/"a"` is never equal to anything. */
export function etagListed(list: string, etag: string): boolean {
  if (list.trim() === '*') return true
  return list.split(',').some((item) => unquote(item.trim()) === etag)
}

/** The same, comparing weakly: for If-None-Match, as RFC 9110 section 13.1.2 says. */
function etagListedWeakly(list: string, etag: string): boolean {
  return etagListed(list.replace(/(^|,)(\s*)W\//g, '$1$2'), etag)
}

/** An entity tag as clients write it: with quotes, without, and, as S3 takes it, with one of them. */
export function unquote(etag: string): string {
  return etag.slice(etag.startsWith('"') ? 1 : 0, etag.length > 1 && etag.endsWith('"') ? -1 : undefined)
}

/** Runs a commit. When other commits kept coming first, a conditional request fails with ConditionalRequestConflict instead of OperationAborted. */
export async function conditionally<T>(
  { ifMatch, ifNoneMatch, ifMatchLastModifiedMs, ifMatchSize }: WriteConditions & DeleteConditions,
  commit: () => Promise<T>,
): Promise<T> {
  try {
    return await commit()
  } catch (error) {
    const isConditional = [ifMatch, ifNoneMatch, ifMatchLastModifiedMs, ifMatchSize].some((said) => said !== undefined)
    if (!isConditional || !(error instanceof S3Error) || error.code !== 'OperationAborted') throw error
    throw new S3Error('ConditionalRequestConflict', { cause: error })
  }
}

/** HTTP dates have whole seconds, so a stored time within the same second does not count as later. */
const wholeSecond = (ms: number): number => Math.floor(ms / 1000) * 1000

/** Throws PreconditionFailed, or NotModified with the headers that a 304 carries. A time after now can't be when the client read the object, so it is ignored. */
export function checkRead(conditions: ReadConditions, existing: Existing, clock: Pick<Clock, 'now'>): void {
  const { ifMatch, ifNoneMatch, ifModifiedSinceMs, ifUnmodifiedSinceMs } = conditions
  const modified = wholeSecond(existing.modifiedMs)
  if (ifMatch !== undefined) {
    if (!etagListed(ifMatch, existing.etag)) throw failed('If-Match')
  } else if (ifUnmodifiedSinceMs !== undefined && modified > ifUnmodifiedSinceMs) {
    throw failed('If-Unmodified-Since')
  }
  if (ifNoneMatch !== undefined) {
    if (etagListedWeakly(ifNoneMatch, existing.etag)) throw notModified(existing)
  } else if (ifModifiedSinceMs !== undefined && modified <= ifModifiedSinceMs && ifModifiedSinceMs <= clock.now()) {
    throw notModified(existing)
  }
}

/** Whether the object is still the one of an If-Range, so that a range of it fits what the client has: RFC 9110 section 13.1.5. */
export function isRangeOf(ifRange: string, existing: Existing): boolean {
  return unquote(ifRange) === existing.etag || ifRange === httpDate(existing.modifiedMs)
}

/** For the source of a copy: every failed condition is PreconditionFailed, as S3 documents. */
export function checkCopySource(conditions: ReadConditions, existing: Existing, clock: Pick<Clock, 'now'>): void {
  try {
    checkRead(conditions, existing, clock)
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
    const notModified = conditions.ifNoneMatch === undefined ? 'If-Modified-Since' : 'If-None-Match'
    const condition = error.details.Condition ?? notModified
    throw new S3Error('PreconditionFailed', { vendorDetails: { Condition: `copy-source-${condition}` } })
  }
}

/** Throws PreconditionFailed, NoSuchKey (If-Match without an object), or NotImplemented (If-None-Match with an entity tag). */
export function checkWrite(conditions: WriteConditions, existing: Existing | undefined, key: string): void {
  const { ifMatch, ifNoneMatch } = conditions
  if (ifNoneMatch !== undefined) {
    if (ifNoneMatch.trim() !== '*') {
      throw new S3Error('NotImplemented', {
        message: 'If-None-Match on a write accepts * only.',
        details: { Header: 'If-None-Match' },
      })
    }
    if (existing !== undefined) throw failed('If-None-Match')
  }
  if (ifMatch !== undefined) {
    if (existing === undefined) throw new S3Error('NoSuchKey', { details: { Key: key } })
    if (!etagListed(ifMatch, existing.etag)) throw failed('If-Match')
  }
}

/** For an object whose upload began at `sinceMs`, under a condition. Throws ConditionalRequestConflict when the key has changed since, as S3 does. */
export function checkUnchangedSince(
  { ifMatch, ifNoneMatch }: WriteConditions,
  sinceMs: number,
  latest: Pick<Existing, 'modifiedMs'> | undefined,
  key: string,
): void {
  const condition = ifMatch !== undefined ? 'If-Match' : ifNoneMatch !== undefined ? 'If-None-Match' : undefined
  if (condition === undefined || latest === undefined || latest.modifiedMs <= sinceMs) return
  throw new S3Error('ConditionalRequestConflict', { details: { Condition: condition, Key: key } })
}

/**
 * For a delete. Throws PreconditionFailed, or NoSuchKey for If-Match without an object. The other two conditions hold without an object: S3 documents that
 * such a delete succeeds.
 */
export function checkDelete(
  { ifMatch, ifMatchLastModifiedMs, ifMatchSize }: DeleteConditions,
  existing: (Existing & { size: number }) | undefined,
  key: string,
): void {
  if (existing === undefined) {
    if (ifMatch !== undefined) throw new S3Error('NoSuchKey', { details: { Key: key } })
    return
  }
  if (ifMatch !== undefined && !etagListed(ifMatch, existing.etag)) throw failed('If-Match')
  if (ifMatchLastModifiedMs !== undefined && ifMatchLastModifiedMs !== wholeSecond(existing.modifiedMs)) {
    throw failedVendor('if-match-last-modified-time')
  }
  if (ifMatchSize !== undefined && ifMatchSize !== existing.size) throw failedVendor('if-match-size')
}

function failed(condition: string): S3Error {
  return new S3Error('PreconditionFailed', { details: { Condition: condition } })
}

function failedVendor(condition: string): S3Error {
  return new S3Error('PreconditionFailed', { vendorDetails: { Condition: condition } })
}

function notModified(existing: Existing): S3Error {
  return new S3Error('NotModified', {
    headers: { ETag: `"${existing.etag}"`, 'Last-Modified': new Date(existing.modifiedMs).toUTCString() },
  })
}
