/**
 * Metadata in an LMDB environment, which several processes of one machine may share. Every commit is durable when it resolves.
 * Knows nothing of what is stored; the settings below are what durability rests on.
 */
import { mkdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { open, type RootDatabase, type Transaction } from 'lmdb'
import { limits } from '../limits.ts'
import { BatchWriter } from './batch-writer.ts'
import { assertCommit, assertKey, rangeBounds } from './bounds.ts'
import { engineError, openedAt } from './engine-error.ts'
import { LmdbIntegrity, versionsPerTransaction } from './integrity/lmdb-integrity.ts'
import { mapBytes } from './integrity/lmdb-pages.ts'
import { MetadataDamaged } from './integrity/metadata-damaged.ts'
import type { Commit, Entry, Key, Kv, RangeQuery, Snapshot, View } from './kv.ts'
import { KvUnavailable } from './kv.ts'
import { type Lent, lentEntry, ownEntry, versionOf } from './lent-entries.ts'
import { lending, ownCopy } from './lent-memory.ts'
import { LmdbRoom } from './lmdb-room.ts'
import { iteratorOf } from './range-iterator.ts'
import { readRange } from './read-range.ts'
import { syncDirectories } from './sync-directories.ts'

export interface LmdbOptions {
  /** A directory of the environment's own; created when missing. */
  path: string
  /**
   * Called once, when a commit or its fsync failed. What was acknowledged is safe, but nothing more can be said of this process's view:
   * every call rejects from then on, and the process must stop, so that the next one recovers.
   */
  onFatal(error: Error): void
  /** Whether a record is what was written under its key, as far as the record itself can tell. Absent: nobody can. */
  isWhole?(key: Key, value: Buffer): boolean
  /** Told once, in one line, of what was found to be wrong with the file. Nothing is written from then on. */
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

/** Throws `MetadataDamaged` for a file that LMDB must not map. */
export async function openLmdb(options: LmdbOptions): Promise<Kv> {
  const { path, onFatal, isWhole = () => true, onDamage = () => {}, takesOver = false } = options
  const directory = resolve(path)
  const firstCreated = await mkdir(directory, { recursive: true, mode: 0o700 })
  const integrity = await LmdbIntegrity.open({ directory, isWhole, onDamage, takesOver })
  const db = openDatabase(directory)
  // LMDB syncs its files, not the names by which they are found.
  await syncDirectories(directory, dirname(firstCreated ?? directory))
  const room = await LmdbRoom.open({ directory, db })
  return new LmdbKv(db, { integrity, room }, onFatal)
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
    // A commit resolves after fsync of its data and of the root that points to it. Never noSync, noMetaSync, useWritemap or commitDelay.
    overlappingSync: false,
    // We batch ourselves. With this on, a failed commit also rejects a promise that only lmdb-js knows, and that ends the process at once.
    eventTurnBatching: false,
    // LMDB stores our version before the value.
    useVersions: true,
    // Plain bytes, as with `encoding: 'binary'`, but lent: whoever keeps them copies them.
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
  /** Reads to be answered in this turn of the event loop; none throws. */
  #asked: (() => void)[] = []
  /** In this turn: requests that come together ask for the same bucket first, then for what differs. */
  #askedFirst: { key: Key; entry: Entry | undefined } | undefined
  #waiting: WaitingCommit[] = []
  #writing: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #refusal: Error | undefined

  constructor(
    db: Database,
    { integrity, room }: { integrity: LmdbIntegrity; room: LmdbRoom },
    onFatal: (error: Error) => void,
  ) {
    this.#db = db
    this.integrity = integrity
    this.#batches = new BatchWriter(db, integrity)
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

  /** At once: gathered, listings cost half as much again (ADR 0010). */
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

  /** What was committed before is there until the transaction is done. */
  #hold(): Transaction {
    this.#assertServing()
    this.#endSnapshot()
    const transaction = this.#db.useReadTransaction()
    // Reads that come now get one of their own, which ends as they do.
    this.#endSnapshot()
    return transaction
  }

  close(): Promise<void> {
    this.#refusal ??= new Error('the metadata store is closed')
    this.#closing ??= (async () => {
      await this.#writing
      await this.#room.close()
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
   * Runs `read`, which must not await, with all that is asked for in this turn of the event loop. Requests then go through each step together,
   * which costs half of one after the other (ADR 0010), and share a snapshot. Throws as `read` does.
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
   * The next read gets a snapshot as new as itself. lmdb-js would keep this one for reads of the next millisecond, and what another process
   * committed meanwhile, and told its client, would be missing from them.
   */
  #endSnapshot(): void {
    this.#db.resetReadTxn()
  }

  /** Writes what waits, one LMDB transaction at a time: commits that come while one is synced share the next, and its fsync. */
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

  /** What is told to those who wait, when nothing was written and the engine can go on. `undefined`: it can't. */
  async #refusalFor(thrown: unknown): Promise<Error | undefined> {
    if (thrown instanceof KvUnavailable) return thrown
    if (!(thrown instanceof MetadataDamaged)) return undefined
    try {
      await this.integrity.found(thrown.message)
      return new KvUnavailable(thrown.message)
    } catch {
      // Other processes could not be told of the damage, nor could the next start.
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
    const failure = new Error('the metadata store failed to commit', { cause: await engineError(thrown) })
    this.#refusal = failure
    this.#rejectAll(failure, batch)
    this.#onFatal(failure)
  }
}

function entriesOf<T>(db: Database, query: RangeQuery, read: (found: Lent) => T, transaction?: Transaction): T[] {
  const bounds = rangeBounds(query)
  if (bounds === undefined) return []
  const { start, end } = bounds
  // Literals, without a spread: a folded page walks a thousand times, and spreads took a quarter of it.
  const walk = (from: Key, limit: number): Iterator<Lent> =>
    iteratorOf(
      db.getRange(
        query.reverse
          ? {
              start: end,
              exclusiveStart: true,
              end: from,
              inclusiveEnd: true,
              reverse: true,
              limit,
              versions: true,
              transaction,
            }
          : { start: from, end, limit, versions: true, transaction },
      ),
    )
  return readRange(query, start, walk, read)
}
