/**
 * Metadata in an LMDB environment, which several processes of one machine may share. Every commit is durable when it resolves.
 * Knows nothing of what is stored. Durability depends on the settings below.
 */
import { mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { open, type RootDatabase, type Transaction } from 'lmdb'
import { systemClock } from '../clock.ts'
import { ProcessEnding } from '../errors.ts'
import { limits } from '../limits.ts'
import { BatchWriter } from './batch-writer.ts'
import { assertCommit, assertKey, rangeBounds } from './bounds.ts'
import { engineError, openedAt } from './engine-error.ts'
import { dataFileName } from './integrity/lmdb-file.ts'
import { LmdbIntegrity, versionsPerTransaction } from './integrity/lmdb-integrity.ts'
import { mapBytes } from './integrity/lmdb-pages.ts'
import { MetadataDamaged } from './integrity/metadata-damaged.ts'
import type { Commit, Entry, Key, Kv, RangeQuery, Snapshot, View } from './kv.ts'
import { KvUnavailable } from './kv.ts'
import { type Lent, lentEntry, ownEntry, versionOf } from './lent-entries.ts'
import { lending, ownCopy } from './lent-memory.ts'
import { LmdbRoom } from './lmdb-room.ts'
import { type NewestCommit, openAtNewest } from './newest-commit.ts'
import { iteratorOf } from './range-iterator.ts'
import { readRange } from './read-range.ts'
import { syncDirectories } from './sync-directories.ts'

export interface LmdbOptions {
  /** The environment's own directory; created when missing. */
  path: string
  /**
   * Called once, when a commit or its fsync has failed. Acknowledged commits are safe, but this process's view is no longer reliable:
   * every call rejects from then on, and the process must stop so that the next one recovers.
   */
  onFatal(error: Error): void
  /** Whether a record is what was written under its key, as far as the record itself can tell. Absent: records are not verified. */
  isWhole?(key: Key, value: Buffer): boolean
  /** Called once, with one line about the damage to the file. Nothing is written from then on. */
  onDamage?(message: string): void
  /** This process is about to own the environment (`Integrity.beginRun`). */
  takesOver?: boolean
}

type Database = RootDatabase<Buffer, Buffer>

interface WaitingCommit {
  commit: Commit
  resolve(applied: boolean): void
  reject(error: Error): void
}

const readersMax = 512

/** Rejects with `MetadataDamaged` for a file that LMDB must not map. */
export async function openLmdb(options: LmdbOptions): Promise<Kv> {
  const { path, onFatal, isWhole = () => true, onDamage = () => {}, takesOver = false } = options
  const directory = resolve(path)
  const firstCreated = await mkdir(directory, { recursive: true, mode: 0o700 })
  const integrity = await LmdbIntegrity.open({ directory, isWhole, onDamage, takesOver })
  const { db, newest } = await openAtNewest(join(directory, dataFileName), () => openDatabase(directory))
  // LMDB syncs its files, but not the directories that name them.
  await syncDirectories(directory, dirname(firstCreated ?? directory))
  return new LmdbKv(db, { integrity, newest, room: await LmdbRoom.open({ directory, db }) }, onFatal)
}

function openDatabase(path: string): Database {
  const lendValue = lending()
  const settings = {
    path,
    noSubdir: false,
    permissionsMode: 0o600,
    mapSize: mapBytes,
    maxReaders: readersMax,
    maxDbs: 1,
    noMemInit: true,
    // A commit must resolve after the fsync of its data and of the root that points to it. Never use noSync, noMetaSync, useWritemap or commitDelay.
    overlappingSync: false,
    // We batch ourselves. With this on, a failed commit also rejects a promise internal to lmdb-js, and the unhandled rejection ends the process.
    eventTurnBatching: false,
    // The writing thread then sleeps until the callback of its transaction has run. Otherwise it wakes a dozen times to look for other writes, of which there are none.
    strictAsyncOrder: true,
    // LMDB stores our version before the value.
    useVersions: true,
    // Plain bytes, as with `encoding: 'binary'`, but lent: a caller that keeps them must copy them.
    encoder: { encode: (value: Buffer) => value, decode: (shared: Buffer) => lendValue(shared, 0, shared.length) },
    keyEncoder: {
      writeKey: (key: Key, target: Buffer, at: number) => {
        target.set(key, at)
        return at + key.length
      },
      readKey: lending(),
    },
  }
  return openedAt(path, () => open<Buffer, Buffer>(settings))
}

class LmdbKv implements Kv {
  readonly #db: Database
  readonly integrity: LmdbIntegrity
  readonly #batches: BatchWriter
  readonly #room: LmdbRoom
  readonly #onFatal: (error: Error) => void
  /** Reads to run in this turn of the event loop. None of them throws. */
  #asked: (() => void)[] = []
  /** The first key of the last `get` in this turn, and its entry: concurrent requests usually read the same bucket first. */
  #askedFirst: { key: Key; entry: Entry | undefined } | undefined
  #waiting: WaitingCommit[] = []
  #writing: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #refusal: Error | undefined

  constructor(
    db: Database,
    { integrity, newest, room }: { integrity: LmdbIntegrity; newest: NewestCommit; room: LmdbRoom },
    onFatal: (error: Error) => void,
  ) {
    this.#db = db
    this.integrity = integrity
    this.#batches = new BatchWriter(db, integrity, newest)
    this.#room = room
    this.#onFatal = onFatal
    integrity.use({
      hold: () => {
        const transaction = this.#hold()
        return () => transaction.done()
      },
      writeDigest: async () => {
        this.#batches.digestIsWanted = true
        await this.commit({})
      },
    })
  }

  get(keys: readonly Key[]): Promise<(Entry | undefined)[]> {
    return this.#readTogether(() =>
      keys.map((key, place) => {
        if (place > 0) return this.#lookUp(key)
        const known = this.#askedFirst
        if (known?.key.equals(key)) return known.entry
        const entry = this.#lookUp(key)
        this.#askedFirst = { key, entry }
        return entry
      }),
    )
  }

  #lookUp(key: Key): Entry | undefined {
    assertKey(key)
    const found = this.#db.getEntry(key)
    return found === undefined ? undefined : { key, value: ownCopy(found.value), version: versionOf(found) }
  }

  /** Runs at once: gathering ranges would make listings cost half as much again (ADR 0010). */
  async range(query: RangeQuery): Promise<Entry[]> {
    return this.#readAtOnce(() => entriesOf(this.#db, query, ownEntry))
  }

  async view<T>(
    keys: readonly Key[],
    queries: readonly RangeQuery[],
    read: (entry: Entry, query: number) => T,
  ): Promise<View<T>> {
    return this.#readAtOnce(() => ({
      entries: keys.map((key) => this.#lookUp(key)),
      found: queries.map((query, place) => entriesOf(this.#db, query, (found) => read(lentEntry(found), place))),
    }))
  }

  async commit(commit: Commit): Promise<boolean> {
    this.#assertServing()
    const looking = commit.grows === true ? this.#room.requireRoom() : undefined
    if (looking !== undefined) {
      await looking
      this.#assertServing()
    }
    assertCommit(commit)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ commit, resolve, reject })
      this.#writing ??= this.#writeAll()
    })
  }

  async now(): Promise<number> {
    return this.#readAtOnce(() => systemClock.now())
  }

  async snapshot(): Promise<Snapshot> {
    const transaction = this.#hold()
    let closed = false
    return {
      range: async (query) => {
        this.#assertServing()
        if (closed) throw new Error('the snapshot is closed')
        return entriesOf(this.#db, query, ownEntry, transaction)
      },
      close: async () => {
        if (!closed) transaction.done()
        closed = true
      },
    }
  }

  /** Keeps what is committed now readable until the transaction is done. */
  #hold(): Transaction {
    this.#assertServing()
    this.#endSnapshot()
    const transaction = this.#db.useReadTransaction()
    // Later reads get a snapshot of their own, which ends with them.
    this.#endSnapshot()
    return transaction
  }

  close(): Promise<void> {
    this.#refusal ??= new Error('the metadata engine is closed')
    this.#closing ??= (async () => {
      await this.#writing
      await this.#room.close()
      await this.#batches.close()
      await this.integrity.close()
      await this.#db.close()
    })()
    return this.#closing
  }

  #assertServing(): void {
    if (this.#refusal !== undefined) throw this.#refusal
  }

  /** Runs `read`, which must not await, in a snapshot of its own. */
  #readAtOnce<T>(read: () => T): T {
    this.#assertServing()
    try {
      return read()
    } finally {
      this.#endSnapshot()
    }
  }

  /**
   * Runs `read`, which must not await, together with all other reads of this turn of the event loop. Requests then take each step together, which
   * costs half as much as one after the other (ADR 0010), and share a snapshot. Rejects with what `read` throws.
   */
  #readTogether<T>(read: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#asked.length === 0) setImmediate(() => this.#answerAll())
      this.#asked.push(() => {
        try {
          this.#assertServing()
          resolve(read())
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  #answerAll(): void {
    const asked = this.#asked
    this.#asked = []
    for (const answer of asked) answer()
    this.#askedFirst = undefined
    if (this.#refusal === undefined) this.#endSnapshot()
  }

  /**
   * Makes the next read take a fresh snapshot. lmdb-js would reuse this one for the next millisecond, and reads would miss what another process had
   * committed and acknowledged in that time.
   */
  #endSnapshot(): void {
    this.#db.resetReadTxn()
  }

  /** Writes the waiting commits, one LMDB transaction at a time. Commits that arrive while one is synced share the next transaction and its fsync. */
  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      let batch: WaitingCommit[] = []
      try {
        await this.integrity.admit()
        const applied = await this.#batches.write(() => {
          batch = this.#takeBatch()
          return batch.map(({ commit }) => commit)
        })
        for (const [i, { resolve }] of batch.entries()) resolve(applied[i] === true)
      } catch (thrown) {
        const refused = await this.#refusalFor(thrown)
        if (refused === undefined) {
          await this.#fail(thrown, batch)
          break
        }
        this.#rejectAll(refused, batch)
      }
      this.#room.wrote(batch)
    }
    this.#writing = undefined
  }

  /** The error for the waiting commits, if nothing was written and the engine can go on. `undefined`: it can't. */
  async #refusalFor(thrown: unknown): Promise<Error | undefined> {
    if (thrown instanceof KvUnavailable) return thrown
    if (!(thrown instanceof MetadataDamaged)) return undefined
    try {
      await this.integrity.found(thrown.message)
      return new KvUnavailable(thrown.message)
    } catch {
      // The damage could not be noted for other processes and the next start.
      return undefined
    }
  }

  #rejectAll(error: Error, batch: readonly WaitingCommit[]): void {
    for (const { reject } of [...batch, ...this.#waiting.splice(0)]) reject(error)
  }

  #takeBatch(): WaitingCommit[] {
    let bytes = 0
    let count = 0
    for (const { commit } of this.#waiting) {
      for (const { value } of commit.puts ?? []) bytes += value.length
      if (count > 0 && bytes > limits.kvBatchBytesMax) break
      if (++count === versionsPerTransaction) break
    }
    return this.#waiting.splice(0, count)
  }

  async #fail(thrown: unknown, batch: readonly WaitingCommit[]): Promise<void> {
    const failure = new ProcessEnding('the metadata engine failed to commit', { cause: await engineError(thrown) })
    this.#refusal = failure
    this.#rejectAll(failure, batch)
    this.#onFatal(failure)
  }
}

function entriesOf<T>(db: Database, query: RangeQuery, read: (found: Lent) => T, transaction?: Transaction): T[] {
  const bounds = rangeBounds(query)
  if (bounds === undefined) return []
  const { start, end } = bounds
  const { limit, reverse } = query
  const options = reverse
    ? { start: end, exclusiveStart: true, end: start, inclusiveEnd: true, reverse, limit, versions: true, transaction }
    : { start, end, limit, versions: true, transaction }
  // A folded page walks a thousand times. lmdb-js reads these options when a walk begins, and to make a range for each costs as much as the walk.
  const walks = db.getRange(options)
  const walk = (from: Key): Iterator<Lent> => {
    if (reverse) options.end = from
    else options.start = from
    return iteratorOf(walks)
  }
  return readRange(query, start, walk, read)
}
