/**
 * The metadata store in an LMDB environment, which several processes of one machine may share. Every commit is durable when it resolves.
 * Knows nothing of what is stored; the settings below are what durability rests on.
 */
import { mkdir, open as openFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { open, type RootDatabase, type Transaction } from 'lmdb'
import { limits } from '../limits.ts'
import { applyInOrder } from './apply-commits.ts'
import { assertCommit, assertKey, rangeBounds } from './bounds.ts'
import { engineError } from './engine-error.ts'
import type { Commit, Entry, Key, Kv, RangeQuery, Snapshot } from './kv.ts'
import { lending, ownCopy } from './lent-memory.ts'
import { iteratorOf } from './range-iterator.ts'
import { readRange } from './read-range.ts'

export interface LmdbOptions {
  /** A directory of the environment's own; created when missing. */
  path: string
  /**
   * Called once, when a commit or its fsync failed. What was acknowledged is safe, but nothing more can be said of this process's view:
   * every call rejects from then on, and the process must stop, so that the next one recovers.
   */
  onFatal(error: Error): void
}

type Database = RootDatabase<Buffer, Buffer>

interface WaitingCommit {
  commit: Commit
  resolve(applied: boolean): void
  reject(error: Error): void
}

/** Address space, not memory or disk. Fixed, so that no process ever remaps the file under a reader. */
const mapBytes = 1024 ** 4
const readersMax = 512
/**
 * A version is the id of the LMDB transaction that wrote the value, and the commit's place in it. Transaction ids only grow, in all
 * processes and across restarts, so no version is ever used twice. Part of the stored format: a smaller number would repeat versions.
 */
const commitsPerTransaction = 1024

export async function openLmdb({ path, onFatal }: LmdbOptions): Promise<Kv> {
  const directory = resolve(path)
  const firstCreated = await mkdir(directory, { recursive: true, mode: 0o700 })
  const db = openDatabase(directory)
  // LMDB syncs its files, not the names by which they are found.
  await syncDirectories(directory, dirname(firstCreated ?? directory))
  return new LmdbKv(db, onFatal)
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
  return open<Buffer, Buffer>(settings)
}

async function syncDirectories(from: string, upTo: string): Promise<void> {
  for (let directory = from; ; directory = dirname(directory)) {
    const handle = await openFile(directory, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (directory === upTo) return
  }
}

class LmdbKv implements Kv {
  readonly #db: Database
  readonly #onFatal: (error: Error) => void
  /** Reads to be answered in this turn of the event loop; none throws. */
  #asked: (() => void)[] = []
  /** In this turn, by its memory, not its bytes: requests that come together ask for the same bucket first, then for what differs. */
  #askedFirst: { key: Key; entry: Entry | undefined } | undefined
  #waiting: WaitingCommit[] = []
  #writing: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #refusal: Error | undefined

  constructor(db: Database, onFatal: (error: Error) => void) {
    this.#db = db
    this.#onFatal = onFatal
  }

  get(keys: readonly Key[]): Promise<(Entry | undefined)[]> {
    return this.#readTogether(() =>
      keys.map((key, place) => {
        const known = this.#askedFirst
        if (known?.key === key) return known.entry
        const entry = this.#lookUp(key)
        if (place === 0) this.#askedFirst = { key, entry }
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

  async ranges<T>(queries: readonly RangeQuery[], read: (entry: Entry, query: number) => T): Promise<T[][]> {
    return this.#readAtOnce(() =>
      queries.map((query, place) => entriesOf(this.#db, query, (found) => read(lentEntry(found), place))),
    )
  }

  async commit(commit: Commit): Promise<boolean> {
    this.#assertServing()
    assertCommit(commit)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ commit, resolve, reject })
      this.#writing ??= this.#writeAll()
    })
  }

  async snapshot(): Promise<Snapshot> {
    this.#assertServing()
    this.#endSnapshot()
    const transaction = this.#db.useReadTransaction()
    // Reads that come now get one of their own, which ends as they do.
    this.#endSnapshot()
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

  close(): Promise<void> {
    this.#refusal ??= new Error('the metadata store is closed')
    this.#closing ??= (async () => {
      await this.#writing
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
      let applied: boolean[] = []
      try {
        await this.#db.transaction(() => {
          batch = this.#takeBatch()
          const commits = batch.map(({ commit }) => commit)
          applied = applyInOrder(this.#db, commits, this.#db.getWriteTxnId() * commitsPerTransaction)
        })
      } catch (thrown) {
        await this.#fail(thrown, batch)
        break
      }
      for (const [i, { resolve }] of batch.entries()) resolve(applied[i] === true)
    }
    this.#writing = undefined
  }

  #takeBatch(): WaitingCommit[] {
    let bytes = 0
    let count = 0
    for (const { commit } of this.#waiting) {
      for (const { value } of commit.puts ?? []) bytes += value.length
      if (count > 0 && bytes > limits.kvBatchBytesMax) break
      if (++count === commitsPerTransaction) break
    }
    return this.#waiting.splice(0, count)
  }

  async #fail(thrown: unknown, batch: readonly WaitingCommit[]): Promise<void> {
    const failure = new Error('the metadata store failed to commit', { cause: await engineError(thrown) })
    this.#refusal = failure
    for (const { reject } of [...batch, ...this.#waiting.splice(0)]) reject(failure)
    this.#onFatal(failure)
  }
}

interface Lent {
  key: Key
  value: Buffer
  version?: number
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

const lentEntry = (found: Lent): Entry => ({ key: found.key, value: found.value, version: versionOf(found) })

const ownEntry = (found: Lent): Entry => ({
  key: ownCopy(found.key),
  value: ownCopy(found.value),
  version: versionOf(found),
})

function versionOf(found: { version?: number }): number {
  if (found.version === undefined) throw new Error('an entry without version: the environment is not ours')
  return found.version
}
