/**
 * Keeps transactions of LMDB from beginning at an older commit than the newest. A transaction begins at the commit that LMDB's lock file names. A process that
 * opens the environment writes there, without a lock, the newest commit that it has just read from the data file; if another process has committed since, that
 * commit is hidden, and the next one would replace it (ADR 0068). Knows nothing of what is committed.
 */
import { readSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { limits } from '../limits.ts'
import { needingMainThread } from '../process-end.ts'
import { commitOfMeta, metaBytesRead, pageBytesOf } from './integrity/lmdb-pages.ts'

/** The part of lmdb-js that this needs. */
export interface WriteTransactions {
  transaction(run: () => void): Promise<unknown>
  getWriteTxnId(): number
}

export interface Environment extends WriteTransactions {
  close(): Promise<void>
}

/** The newest commit, as the meta pages of the data file name it. */
export class NewestCommit {
  readonly #file: FileHandle
  readonly #head: Buffer

  private constructor(file: FileHandle, pageBytes: number) {
    this.#file = file
    this.#head = Buffer.alloc(pageBytes + metaBytesRead)
  }

  /** `undefined` when the data file is missing or empty. */
  static async open(path: string): Promise<NewestCommit | undefined> {
    const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    const pageBytes = file && (await pageBytesOf(file))
    if (file !== undefined && pageBytes !== undefined) return new NewestCommit(file, pageBytes)
    await file?.close()
    return undefined
  }

  /** Exact while the caller holds the lock of writers; otherwise a commit that is being made may count already. */
  txnId(): number {
    readSync(this.#file.fd, this.#head, 0, this.#head.length, 0)
    const odd = this.#head.length - metaBytesRead
    return Math.max(commitOfMeta(this.#head), commitOfMeta(this.#head.subarray(odd)))
  }

  /** Call it within a transaction. Whether the transaction would undo commits. */
  isAheadOf(db: WriteTransactions): boolean {
    return db.getWriteTxnId() - 1 !== this.txnId()
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

/** `open` opens the environment whose data file is at `path`, and is called again until others can rely on what it has written to the lock file. */
export async function openAtNewest<Db extends Environment>(
  path: string,
  open: () => Db,
): Promise<{ db: Db; newest: NewestCommit }> {
  const giveUpMs = performance.now() + limits.kvBehindMs
  for (;;) {
    const before = await txnIdIn(path)
    const db = open()
    const newest = await NewestCommit.open(path)
    if (newest === undefined) throw new Error(`${path} has gone`)
    // The lock of writers is needed only if somebody has committed meanwhile: who has stopped with it must not hold up commands that read.
    if (newest.txnId() === before || !(await isBehind(db, newest))) return { db, newest }
    await newest.close()
    await db.close()
    if (performance.now() > giveUpMs) throw new Error(`${path} names an older commit than the newest`)
  }
}

async function txnIdIn(path: string): Promise<number | undefined> {
  const newest = await NewestCommit.open(path)
  const txnId = newest?.txnId()
  await newest?.close()
  return txnId
}

async function isBehind(db: WriteTransactions, newest: NewestCommit): Promise<boolean> {
  let behind = false
  await needingMainThread(() =>
    db.transaction(() => {
      behind = newest.isAheadOf(db)
    }),
  )
  return behind
}
