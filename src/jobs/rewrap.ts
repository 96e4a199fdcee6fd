/** Wraps the keys of objects anew, after a key of the ring was replaced. Bytes stay as they are: only records change. */

import { bindingOf, rewrapped, type Wrapping } from '../commits/encryption.ts'
import type { Entry, Key, Kv, Put, Version } from '../kv/kv.ts'
import type { KeyRange } from '../kv/ordered-key.ts'
import { historyKeyOf, historyOfBucket, ObjectKeys, uploadIdOf, uploads } from '../records/keyspace.ts'
import { uploadCodec, versionCodec } from '../records/record-codecs.ts'
import type { BucketRecord, Encryption } from '../records/records.ts'
import { everyBucket } from './blob-reference.ts'
import { everyEntry } from './every-entry.ts'

const batchEntries = 100

export interface RewrapReport {
  /** Encrypted objects, versions and open uploads that were looked at. Not counted: those of customers' keys. */
  encrypted: number
  /** Of them, those whose key was wrapped by an older key of the ring. */
  rewrapped: number
}

/** What has records with wrapped keys, and the ring that every process wraps with by now. */
export type Rewrapping = Wrapping & { kv: Kv }

/** The new value of an entry, if it is of something encrypted by the ring. */
type Change = (entry: Entry) => { encryption: Encryption; changed: Buffer | undefined } | undefined

/**
 * Beside clients that write: whatever they place is wrapped by the newest key (see `newest-wrapping`), so what this walk misses needs no wrapping.
 * Repeating it after a crash goes on. Throws `ObjectKeyLost` when a key does not open.
 */
export async function rewrapKeys(backend: Rewrapping): Promise<RewrapReport> {
  const report = { encrypted: 0, rewrapped: 0 }
  await change(backend, uploads, changeUpload(backend), report)
  for await (const bucket of everyBucket(backend.kv)) {
    const objects = new ObjectKeys(bucket.name)
    await change(
      backend,
      objects.startingWith(''),
      changeVersion(backend, bucket, (key) => objects.unpack(key)),
      report,
    )
    await change(backend, historyOfBucket(bucket.name), changeVersion(backend, bucket, historyKeyOf), report)
  }
  return report
}

function changeVersion(backend: Wrapping, bucket: BucketRecord, objectKeyOf: (key: Buffer) => string): Change {
  return ({ key, value }) => {
    const record = versionCodec.decode(key, value)
    if (record.kind === 'marker' || record.encryption === undefined) return undefined
    const { encryption } = record
    const renewed = rewrapped(backend, encryption, bindingOf(bucket.id, objectKeyOf(key), record))
    return { encryption, changed: renewed && versionCodec.encode(key, { ...record, encryption: renewed }) }
  }
}

function changeUpload(backend: Wrapping): Change {
  return ({ key, value }) => {
    const record = uploadCodec.decode(key, value)
    if (record.state !== 'open' || record.encryption === undefined) return undefined
    const { encryption } = record
    const place = { uploadId: uploadIdOf(key) }
    const renewed = rewrapped(backend, encryption, { bucketId: record.bucketId, key: record.key, place })
    return { encryption, changed: renewed && uploadCodec.encode(key, { ...record, encryption: renewed }) }
  }
}

/** A value, and the version of the one whose place it takes. */
interface Replacement extends Put {
  version: Version
}

async function change({ kv }: Rewrapping, range: KeyRange, changeOf: Change, report: RewrapReport): Promise<void> {
  let batch: Replacement[] = []
  const flush = async (): Promise<void> => {
    if (!(await replace(kv, batch))) for (const { key } of batch) await replaceAlone(kv, key, changeOf)
    report.rewrapped += batch.length
    batch = []
  }
  for await (const entry of everyEntry(kv, range)) {
    const found = changeOf(entry)
    if (found === undefined || found.encryption.by === 'customer') continue
    report.encrypted += 1
    if (found.changed === undefined) continue
    batch.push({ ...entry, value: found.changed })
    if (batch.length >= batchEntries) await flush()
  }
  await flush()
}

/** `false`: a client changed one of them, and nothing was written. */
async function replace(kv: Kv, batch: readonly Replacement[]): Promise<boolean> {
  if (batch.length === 0) return true
  const checks = batch.map(({ key, version }) => ({ key, version }))
  return kv.commit({ checks, puts: batch.map(({ key, value }) => ({ key, value })) })
}

/** What has gone from there meanwhile was wrapped anew by whoever placed it elsewhere. */
async function replaceAlone(kv: Kv, key: Key, changeOf: Change): Promise<void> {
  for (;;) {
    const [entry] = await kv.get([key])
    const value = entry && changeOf(entry)?.changed
    if (entry === undefined || value === undefined || (await replace(kv, [{ ...entry, value }]))) return
  }
}
