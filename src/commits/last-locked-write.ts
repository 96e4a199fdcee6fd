/** Finds the time of the last write to a bucket with Object Lock. Replaces a lost mark of the lock clock: see `lock-clock`. */
import { type KeyRange, keyAfter } from '../kv/ordered-key.ts'
import { bucketCodec } from '../records/bucket-record.ts'
import { buckets, contentsOfBucket } from '../records/keyspace.ts'
import { versionCodec } from '../records/record-codecs.ts'
import type { Backend } from './backend.ts'

const pageEntries = 1000

/** Milliseconds since the epoch. `undefined` when no bucket with Object Lock holds anything. Reads all records of such buckets. */
export async function lastLockedWrite(backend: Pick<Backend, 'kv'>): Promise<number | undefined> {
  let newest: number | undefined
  for await (const { name, objectLock } of decoded(backend, buckets, bucketCodec.decode)) {
    if (objectLock === undefined) continue
    for (const range of contentsOfBucket(name)) {
      for await (const { modifiedMs } of decoded(backend, range, versionCodec.decodeListed)) {
        newest = Math.max(newest ?? modifiedMs, modifiedMs)
      }
    }
  }
  return newest
}

async function* decoded<T>(
  { kv }: Pick<Backend, 'kv'>,
  { start, end }: KeyRange,
  decode: (key: Buffer, value: Buffer) => T,
): AsyncGenerator<T> {
  for (let from = start; ; ) {
    const page = await kv.range({ start: from, end, limit: pageEntries })
    for (const { key, value } of page) yield decode(key, value)
    const last = page.at(-1)
    if (last === undefined || page.length < pageEntries) return
    from = keyAfter(last.key)
  }
}
