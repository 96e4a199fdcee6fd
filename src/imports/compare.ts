/** The rules for what an import copies of a key. Pure. */
import { compareUtf8 } from '../rules/utf8-order.ts'
import { ImportRefused } from './failures.ts'
import type { ListedKey, ListedVersion } from './listing.ts'

/** What to do about one key. */
export type KeyPlan =
  | { kind: 'same' }
  /** `versions`: the oldest first. */
  | { kind: 'copy'; versions: readonly ListedVersion[] }
  /** What is here is newer than what the source has. */
  | { kind: 'newer here' }
  /** The versions here are not the source's, so the missing ones have no place among them. */
  | { kind: 'diverged' }

export interface Comparing {
  /** Copies what differs even if it is newer here. */
  overwrite: boolean
  /** The source's ETags are not digests of the bytes, so an object of the same size that is not older here counts as its copy. */
  ignoreEtags: boolean
}

/** The plan for the newest object of a key. */
export function planCurrent(
  source: ListedVersion | undefined,
  target: ListedVersion | undefined,
  comparing: Comparing,
): KeyPlan {
  if (source === undefined) return { kind: 'same' }
  if (target === undefined) return { kind: 'copy', versions: [source] }
  if (isCopyOf(target, source, comparing)) return { kind: 'same' }
  const isNewer = target.modifiedMs > source.modifiedMs
  return isNewer && !comparing.overwrite ? { kind: 'newer here' } : { kind: 'copy', versions: [source] }
}

/**
 * The plan for all versions of a key. Earlier imports copied versions in order, so the newest versions here must equal the oldest of the source. Older ones here are
 * versions that the source has removed since. `source` and `target`: the oldest first.
 */
export function planHistory(
  source: readonly ListedVersion[],
  target: readonly ListedVersion[],
  comparing: Pick<Comparing, 'ignoreEtags'>,
): KeyPlan {
  if (source.length === 0) return { kind: 'same' }
  if (target.length === 0) return { kind: 'copy', versions: source }
  for (let removed = 0; removed < target.length; removed++) {
    const kept = target.slice(removed)
    if (!kept.every((version, i) => isCopyOf(version, source[i], comparing))) continue
    const versions = source.slice(kept.length)
    return versions.length === 0 ? { kind: 'same' } : { kind: 'copy', versions }
  }
  return { kind: 'diverged' }
}

/**
 * Whether an import made `copy` from `original`. The ETag of a multipart object depends on its parts, which not every source tells: then an object of the same size
 * counts as the copy if it is not older than the original.
 */
function isCopyOf(
  copy: ListedVersion,
  original: ListedVersion | undefined,
  { ignoreEtags }: Pick<Comparing, 'ignoreEtags'>,
): boolean {
  if (original === undefined || copy.isMarker !== original.isMarker) return false
  if (copy.isMarker) return true
  if (copy.size !== original.size) return false
  if (copy.etag === original.etag) return true
  return (ignoreEtags || isMultipart(original)) && copy.modifiedMs >= original.modifiedMs
}

export const isMultipart = ({ etag }: ListedVersion): boolean => /-\d+$/.test(etag)

/** A key of one bucket, of the other, or of both. */
export interface KeyPair {
  key: string
  source: ListedKey | undefined
  target: ListedKey | undefined
}

/** Merges two listings. Throws `ImportRefused` unless both are in UTF-8 order. */
export async function* pairedKeys(
  source: AsyncIterable<ListedKey>,
  target: AsyncIterable<ListedKey>,
): AsyncGenerator<KeyPair> {
  const left = inOrder(source)
  const right = inOrder(target)
  try {
    let [a, b] = await Promise.all([left.next(), right.next()])
    while (a.value !== undefined || b.value !== undefined) {
      const order = orderOf(a.value, b.value)
      const key = (order <= 0 ? a.value : b.value)?.key ?? ''
      yield { key, source: order <= 0 ? a.value : undefined, target: order >= 0 ? b.value : undefined }
      ;[a, b] = await Promise.all([order <= 0 ? left.next() : a, order >= 0 ? right.next() : b])
    }
  } finally {
    await Promise.all([left.return(undefined), right.return(undefined)])
  }
}

/** Negative: `a` comes first. */
function orderOf(a: ListedKey | undefined, b: ListedKey | undefined): number {
  if (a === undefined) return 1
  return b === undefined ? -1 : compareUtf8(a.key, b.key)
}

async function* inOrder(keys: AsyncIterable<ListedKey>): AsyncGenerator<ListedKey, undefined> {
  let before: string | undefined
  for await (const listed of keys) {
    if (before !== undefined && compareUtf8(before, listed.key) >= 0) {
      throw new ImportRefused(`a listing names '${before}' before '${listed.key}', which is not S3's order`)
    }
    before = listed.key
    yield listed
  }
  return undefined
}
