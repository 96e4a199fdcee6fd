/** Wraps the keys of objects anew, after a key of the ring was replaced. Bytes stay as they are: only records change. */
import type { Entry, Put } from '../kv/kv.ts'
import type { KeyRange } from '../kv/ordered-key.ts'
import { bindingOf, rewrapped } from '../store/encryption.ts'
import { historyKeyOf, historyOfBucket, ObjectKeys, uploadIdOf, uploads } from '../store/keyspace.ts'
import { uploadCodec, versionCodec } from '../store/record-codecs.ts'
import type { BucketRecord, Encryption } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { everyBucket } from './blob-reference.ts'
import { everyEntry } from './every-entry.ts'

const pageEntries = 500

export interface RewrapReport {
  /** Encrypted objects, versions and open uploads that were looked at. Not counted: those of customers' keys. */
  encrypted: number
  /** Of them, those whose key was wrapped by an older key of the ring. */
  rewrapped: number
}

/** The new value of an entry, if it is of something encrypted by the ring. */
type Change = (entry: Entry) => { encryption: Encryption; changed: Buffer | undefined } | undefined

/** Nobody else may write meanwhile. Repeating it after a crash goes on. Throws `ObjectKeyLost` when a key does not open. */
export async function rewrapKeys(store: Store): Promise<RewrapReport> {
  const report = { encrypted: 0, rewrapped: 0 }
  for await (const bucket of everyBucket(store.kv)) {
    const objects = new ObjectKeys(bucket.name)
    await change(
      store,
      objects.startingWith(''),
      changeVersion(store, bucket, (key) => objects.unpack(key)),
      report,
    )
    await change(store, historyOfBucket(bucket.name), changeVersion(store, bucket, historyKeyOf), report)
  }
  await change(store, uploads, changeUpload(store), report)
  return report
}

function changeVersion(store: Store, bucket: BucketRecord, objectKeyOf: (key: Buffer) => string): Change {
  return ({ key, value }) => {
    const record = versionCodec.decode(key, value)
    if (record.kind === 'marker' || record.encryption === undefined) return undefined
    const { encryption } = record
    const renewed = rewrapped(store, encryption, bindingOf(bucket.id, objectKeyOf(key), record))
    return { encryption, changed: renewed && versionCodec.encode(key, { ...record, encryption: renewed }) }
  }
}

function changeUpload(store: Store): Change {
  return ({ key, value }) => {
    const record = uploadCodec.decode(key, value)
    if (record.state !== 'open' || record.encryption === undefined) return undefined
    const { encryption } = record
    const place = { uploadId: uploadIdOf(key) }
    const renewed = rewrapped(store, encryption, { bucketId: record.bucketId, key: record.key, place })
    return { encryption, changed: renewed && uploadCodec.encode(key, { ...record, encryption: renewed }) }
  }
}

async function change(store: Store, range: KeyRange, changeOf: Change, report: RewrapReport): Promise<void> {
  let puts: Put[] = []
  const flush = async (): Promise<void> => {
    if (puts.length > 0) await store.kv.commit({ puts })
    report.rewrapped += puts.length
    puts = []
  }
  for await (const entry of everyEntry(store.kv, range)) {
    const found = changeOf(entry)
    if (found === undefined || found.encryption.by === 'customer') continue
    report.encrypted += 1
    if (found.changed === undefined) continue
    puts.push({ key: entry.key, value: found.changed })
    if (puts.length >= pageEntries) await flush()
  }
  await flush()
}
