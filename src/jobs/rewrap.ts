/** Wraps the keys of objects, and the secrets of access keys, again after a key of the ring was replaced. Only records change, never the bytes of objects. */

import { bindingOf, rewrapped, type Wrapping } from '../commits/encryption.ts'
import { advanceGeneration } from '../commits/identity-generation.ts'
import { resealed } from '../commits/sealed-secrets.ts'
import type { Entry, Key, Kv, Put, Version } from '../kv/kv.ts'
import type { KeyRange } from '../kv/ordered-key.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import { keyCodec } from '../records/identity-records.ts'
import {
  accessKeys,
  historyKeyOf,
  historyOfBucket,
  identityOf,
  ObjectKeys,
  uploadIdOf,
  uploads,
} from '../records/keyspace.ts'
import { uploadCodec, versionCodec } from '../records/record-codecs.ts'
import type { Encryption } from '../records/records.ts'
import { everyBucket } from './blob-reference.ts'
import { everyEntry } from './every-entry.ts'

const batchEntries = 100

export interface RewrapReport {
  /** Encrypted objects, versions and open uploads that the walk saw. It does not count those encrypted with customers' keys. */
  encrypted: number
  /** How many of them an older key of the ring had wrapped. */
  rewrapped: number
  /** Secrets of access keys. */
  secrets: number
  /** How many of them an older key of the ring had sealed. */
  resealed: number
}

/** Counts records that the ring encrypts, and those that were renewed with its newest key. */
interface Tally {
  seen: number
  renewed: number
}

/** The metadata, and the ring that every process uses by now. */
export type Rewrapping = Wrapping & { kv: Kv }

/** The new value of an entry, if its subject is encrypted by the ring. */
type Change = (entry: Entry) => { changed: Buffer | undefined } | undefined

/**
 * Clients can write meanwhile. The newest key wraps whatever they write (see `newest-wrapping`), so anything that this walk misses needs no new wrapping.
 * After a crash, a repeated run continues. Throws `ObjectKeyLost` when a key does not open.
 */
export async function rewrapKeys(backend: Rewrapping): Promise<RewrapReport> {
  const objects: Tally = { seen: 0, renewed: 0 }
  await change(backend, uploads, changeUpload(backend), objects)
  for await (const bucket of everyBucket(backend.kv)) {
    const keys = new ObjectKeys(bucket.name)
    await change(
      backend,
      keys.startingWith(''),
      changeVersion(backend, bucket, (key) => keys.unpack(key)),
      objects,
    )
    await change(backend, historyOfBucket(bucket.name), changeVersion(backend, bucket, historyKeyOf), objects)
  }
  const secrets: Tally = { seen: 0, renewed: 0 }
  await change(backend, accessKeys, changeSecret(backend), secrets)
  // A process that read secrets before they were sealed again might try to open them only now, so all read them again.
  if (secrets.seen > 0) await advanceGeneration(backend)
  return {
    encrypted: objects.seen,
    rewrapped: objects.renewed,
    secrets: secrets.seen,
    resealed: secrets.renewed,
  }
}

function changeSecret(backend: Wrapping): Change {
  return ({ key, value }) => {
    const renewed = resealed(backend, identityOf(key).name, keyCodec.decode(key, value))
    return { changed: renewed && keyCodec.encode(key, renewed) }
  }
}

function changeVersion(backend: Wrapping, bucket: BucketRecord, objectKeyOf: (key: Buffer) => string): Change {
  return ({ key, value }) => {
    const record = versionCodec.decode(key, value)
    if (record.kind === 'marker' || !isByRing(record.encryption)) return undefined
    const { encryption } = record
    const renewed = rewrapped(backend, encryption, bindingOf(bucket.id, objectKeyOf(key), record))
    return { changed: renewed && versionCodec.encode(key, { ...record, encryption: renewed }) }
  }
}

function changeUpload(backend: Wrapping): Change {
  return ({ key, value }) => {
    const record = uploadCodec.decode(key, value)
    if (record.state !== 'open' || !isByRing(record.encryption)) return undefined
    const { encryption } = record
    const owner = { uploadId: uploadIdOf(key) }
    const renewed = rewrapped(backend, encryption, { bucketId: record.bucketId, key: record.key, owner })
    return { changed: renewed && uploadCodec.encode(key, { ...record, encryption: renewed }) }
  }
}

/** False for keys that a customer's key wraps. */
function isByRing(encryption: Encryption | undefined): encryption is Encryption {
  return encryption !== undefined && encryption.by !== 'customer'
}

/** A new value, and the version of the entry that it replaces. */
interface Replacement extends Put {
  version: Version
}

async function change({ kv }: Rewrapping, range: KeyRange, changeOf: Change, tally: Tally): Promise<void> {
  let batch: Replacement[] = []
  const flush = async (): Promise<void> => {
    if (!(await replace(kv, batch))) for (const { key } of batch) await replaceAlone(kv, key, changeOf)
    tally.renewed += batch.length
    batch = []
  }
  for await (const entry of everyEntry(kv, range)) {
    const found = changeOf(entry)
    if (found === undefined) continue
    tally.seen += 1
    if (found.changed === undefined) continue
    batch.push({ ...entry, value: found.changed })
    if (batch.length >= batchEntries) await flush()
  }
  await flush()
}

/** `false`: a client changed one of the entries, and nothing was written. */
async function replace(kv: Kv, batch: readonly Replacement[]): Promise<boolean> {
  if (batch.length === 0) return true
  const checks = batch.map(({ key, version }) => ({ key, version }))
  return kv.commit({ checks, puts: batch.map(({ key, value }) => ({ key, value })) })
}

/** An entry that is gone needs nothing: the write that moved it has wrapped its key again. */
async function replaceAlone(kv: Kv, key: Key, changeOf: Change): Promise<void> {
  for (;;) {
    const [entry] = await kv.get([key])
    const value = entry && changeOf(entry)?.changed
    if (entry === undefined || value === undefined || (await replace(kv, [{ ...entry, value }]))) return
  }
}
