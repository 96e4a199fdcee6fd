/** Stores in memory for tests, metadata that can be watched and interrupted, and the few calls that most tests make. */

import { type Blobs, openBlobs } from '../../src/blobs/blobs.ts'
import { type ByteSource, bytesSource } from '../../src/byte-source.ts'
import { type Backend, unsharedKeys } from '../../src/commits/backend.ts'
import type { BucketScope } from '../../src/commits/scope.ts'
import { keyRing, withKeysFor } from '../../src/encryption/key-ring.ts'
import { S3Error } from '../../src/errors.ts'
import type { Commit, Entry, Key, Kv, RangeQuery, Snapshot, View } from '../../src/kv/kv.ts'
import { memoryKv } from '../../src/kv/memory.ts'
import { abortUpload } from '../../src/objects/abort-upload.ts'
import { createBucket } from '../../src/objects/buckets.ts'
import { completeUpload, type ListedPart } from '../../src/objects/complete-upload.ts'
import { openObject } from '../../src/objects/read-object.ts'
import { listParts, writePart } from '../../src/objects/upload-parts.ts'
import { createUpload, type UploadAddress } from '../../src/objects/uploads.ts'
import { writeObject } from '../../src/objects/write-object.ts'
import { readDescription } from '../../src/records/description-bytes.ts'
import { garbage } from '../../src/records/keyspace.ts'
import type { ObjectAttributes } from '../../src/records/object-attributes.ts'
import { garbageCodec } from '../../src/records/record-codecs.ts'
import type { GarbageRecord, ObjectRecord, OpenUpload, PartRecord } from '../../src/records/records.ts'
import type { WriteConditions } from '../../src/rules/preconditions.ts'
import { memoryShardStore } from '../../src/stores/memory.ts'
import type { FoundShard, ShardStore } from '../../src/stores/shard-store.ts'
import { noThreads } from '../../src/threads/threads.ts'
import { seededClock, seededRandom, type TestClock } from '../support/seeded.ts'

export interface TestStore {
  backend: Backend
  kv: WatchedKv
  shards: ShardStore
  clock: TestClock
}

export function memoryStore({ clock = seededClock(seededRandom(1)), bytesMax = Infinity } = {}): TestStore {
  return storeOver(memoryShardStore({ clock, bytesMax }), clock)
}

export function storeOver(shards: ShardStore, clock: TestClock): TestStore {
  const blobs = openBlobs([{ name: 'default', version: 1, scheme: 'replica', stores: [shards] }])
  return { ...storeOfBlobs(blobs, clock), shards }
}

export function storeOfBlobs(blobs: Blobs, clock: TestClock): Omit<TestStore, 'shards'> {
  const kv = new WatchedKv(memoryKv())
  return { backend: { kv, blobs, clock, keys: testKeys, threads: noThreads() }, kv, clock }
}

/** A ring whose keys are the same in every run. */
export const testKeys = unsharedKeys(
  withKeysFor(keyRing([]), ['sse-s3', 'aws/s3', 'invoices'], (bytes) => Buffer.alloc(bytes, 7)),
)

/** The same metadata and shards as another process has them: changes there do not wait for changes here. */
export const elsewhere = (made: TestStore): TestStore => ({ ...made, backend: { ...made.backend } })

/** The key that a shard says that it is of; empty: it says none. */
export function describedKey(description: Buffer): string {
  const read = readDescription(description)
  return read === undefined || read.kind === 'snapshot' ? '' : read.key
}

/** Counts what is read, lets others run between any two calls, and lets a test act just before a commit or a read. */
export class WatchedKv implements Kv {
  readonly #kv: Kv
  readonly integrity: Kv['integrity']
  #beforeGet: (() => Promise<void>) | undefined
  #beforeCommit: { of?: Key; work: () => Promise<unknown> } | undefined
  #commitsLeft: number | undefined
  #asked = 0
  /** By ranges. */
  entriesRead = 0
  commits = 0

  constructor(kv: Kv) {
    this.#kv = kv
    this.integrity = kv.integrity
  }

  /** Runs `work` once, when the next commit has been decided and not yet applied. */
  beforeNextCommit(work: () => Promise<unknown>): void {
    this.#beforeCommit = { work }
  }

  /** Runs `work` once, when the next commit that writes `key` has been decided and not yet applied. */
  beforeCommitOf(key: Key, work: () => Promise<unknown>): void {
    this.#beforeCommit = { of: key, work }
  }

  /** Runs `work` once, before the read that follows `skipped` others. */
  beforeRead(skipped: number, work: () => Promise<unknown>): void {
    let left = skipped
    const hook = async (): Promise<void> => {
      if (left-- > 0) this.#beforeGet = hook
      else await work()
    }
    this.#beforeGet = hook
  }

  /** Commits fail after so many, as if the process died; `undefined`: no more. */
  failAfterCommits(commits: number | undefined): void {
    this.#commitsLeft = commits
  }

  /** Nothing is asked of it any more, nor in reply to what was asked. */
  async idle(): Promise<void> {
    for (let asked = -1; asked !== this.#asked; ) {
      asked = this.#asked
      // More than it takes to answer, and to ask again.
      for (let turns = 0; turns < 5; turns++) await turn()
    }
  }

  async get(keys: readonly Key[]): Promise<(Entry | undefined)[]> {
    this.#asked++
    const hook = this.#beforeGet
    this.#beforeGet = undefined
    await hook?.()
    await turn()
    return this.#kv.get(keys)
  }

  now(): Promise<number> {
    return this.#kv.now()
  }

  snapshot(): Promise<Snapshot> {
    return this.#kv.snapshot()
  }

  async range(query: RangeQuery): Promise<Entry[]> {
    await turn()
    const entries = await this.#kv.range(query)
    this.entriesRead += entries.length
    return entries
  }

  async view<T>(
    keys: readonly Key[],
    queries: readonly RangeQuery[],
    read: (entry: Entry, query: number) => T,
  ): Promise<View<T>> {
    await turn()
    return this.#kv.view(keys, queries, (entry, query) => {
      this.entriesRead++
      return read(entry, query)
    })
  }

  async commit(commit: Commit): Promise<boolean> {
    this.#asked++
    const hook = this.#beforeCommit
    const { of } = hook ?? {}
    if (hook !== undefined && (of === undefined || commit.puts?.some(({ key }) => key.equals(of)))) {
      this.#beforeCommit = undefined
      await hook.work()
    }
    await turn()
    if (this.#commitsLeft !== undefined && this.#commitsLeft-- <= 0) throw new Error('killed')
    this.commits++
    return this.#kv.commit(commit)
  }

  close(): Promise<void> {
    return this.#kv.close()
  }
}

/** Whoever else is ready goes first: calls made at the same time advance in step. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A bucket as a request may use it that may do everything. */
export const scopeOf = (name: string): BucketScope => ({ name, admit: () => {} })

export const scope = scopeOf('bucket')

export function makeBucket({ backend }: TestStore, name = 'bucket', owner = 'main'): Promise<unknown> {
  return createBucket(backend, {
    name,
    owner,
    locationConstraint: undefined,
    location: 'default',
    objectLock: undefined,
  })
}

export async function storeWithBucket(options?: Parameters<typeof memoryStore>[0]): Promise<TestStore> {
  const made = memoryStore(options)
  await makeBucket(made)
  return made
}

export const plain: ObjectAttributes = { headers: {}, metadata: {}, tags: [] }

export async function put(
  { backend }: Pick<TestStore, 'backend'>,
  key: string,
  data: string | Buffer | ByteSource = key,
  conditions: WriteConditions = {},
): Promise<ObjectRecord> {
  const body =
    typeof data === 'string' ? bytesSource(Buffer.from(data)) : Buffer.isBuffer(data) ? bytesSource(data) : data
  const { record } = await writeObject(backend, scope, { key, attributes: plain, data: { body }, conditions })
  return record
}

/** A body whose client goes away. */
export function unreadable(message: string): ByteSource {
  const fail = () => Promise.reject(new Error(message))
  return { size: 5, drain: fail, read: fail, cancel: () => {} }
}

/** The bytes of `key`, or of a range of them. */
export async function read({ backend }: TestStore, key: string, range?: [number, number]): Promise<Buffer> {
  const { body } = await openObject(backend, scope, { key }, ({ size }) => {
    const [start, end] = range ?? [0, size]
    return { range: { start, end } }
  })
  return body.read()
}

export async function begin(
  { backend }: TestStore,
  key: string,
  checksum?: OpenUpload['checksum'],
): Promise<UploadAddress> {
  return { key, uploadId: (await createUpload(backend, scope, { attributes: plain, key, checksum })).uploadId }
}

export async function sendPart(
  { backend }: TestStore,
  address: UploadAddress,
  number: number,
  data: string | Buffer | ByteSource,
): Promise<PartRecord> {
  const body = typeof data === 'string' || Buffer.isBuffer(data) ? bytesSource(Buffer.from(data)) : data
  const { part } = await writePart(backend, scope, {
    ...address,
    number,
    data: ({ checksum }) => ({
      body,
      checksum: checksum && { algorithm: checksum.algorithm, expected: () => undefined },
    }),
  })
  return part
}

export const abort = ({ backend }: TestStore, address: UploadAddress): Promise<void> =>
  abortUpload(backend, scope, address)

export async function partNumbers({ backend }: TestStore, address: UploadAddress): Promise<number[]> {
  const { parts } = await listParts(backend, scope, { ...address, afterNumber: 0, max: 1000 })
  return parts.map(({ number }) => number)
}

type SentPart = Pick<PartRecord, 'number' | 'etag'> & Partial<Pick<PartRecord, 'checksum'>>

export const listedPart = ({ number, etag, checksum }: SentPart): ListedPart => ({
  number,
  etag: `"${etag}"`,
  checksum,
})

export function complete(
  { backend }: TestStore,
  address: UploadAddress,
  parts: readonly SentPart[],
  conditions: WriteConditions = {},
) {
  return completeUpload(backend, scope, { ...address, parts: parts.map(listedPart), conditions, expected: {} })
}

/** Resolves with the code of the error sent to the client, or `ok`. Anything but an S3Error is a failure. */
export async function outcome(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'ok'
  } catch (error) {
    if (error instanceof S3Error) return error.code
    throw error
  }
}

/** The code of what `work` throws, or `ok`. */
export function outcomeOf(work: () => unknown): string {
  try {
    work()
    return 'ok'
  } catch (error) {
    if (error instanceof S3Error) return error.code
    throw error
  }
}

export async function shardsOf({ shards }: TestStore): Promise<FoundShard[]> {
  const found: FoundShard[] = []
  for await (const shard of shards.list()) found.push(shard)
  return found
}

export async function garbageOf({ kv }: TestStore): Promise<GarbageRecord[]> {
  const entries = await kv.range({ ...garbage, limit: 10_000 })
  return entries.map((entry) => garbageCodec.decode(entry.key, entry.value))
}
