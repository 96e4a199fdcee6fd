/**
 * Reserves room for commits on a full file system: zeros written after the last page of LMDB's data file before they are needed. LMDB writes its
 * pages over them and needs no new block from the file system (ADR 0032 says where that holds and where it does not).
 */
import { fstatSync, writeSync } from 'node:fs'
import { type FileHandle, open, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../limits.ts'
import { needingMainThread } from '../process-end.ts'
import { type Commit, KvUnavailable } from './kv.ts'

export interface RoomOptions {
  /** The environment's directory. */
  directory: string
  db: {
    getStats(): object
    /** Frees what killed processes hold. */
    readerCheck(): unknown
    /** Needed because asking for statistics leaves a snapshot open. */
    resetReadTxn(): void
    /** Runs `work`, which must not await, while no process writes to the environment. */
    transaction(work: () => void): Promise<unknown>
  }
}

/** Each batch of commits writes new pages, and the pages of the two batches before it can't be reused yet. Pure. */
export function roomWanted(usedBytes: number): number {
  return Math.min(Math.max(4 * usedBytes, limits.kvRoomBytesMin), limits.kvRoomBytesMax)
}

/** `missing`: the bytes of zeros to write. `isLow`: stored data must not grow. Pure. */
export function judgeRoom(at: { usedBytes: number; fileBytes: number; freeBytes: number }): {
  missing: number
  isLow: boolean
} {
  const wanted = roomWanted(at.usedBytes)
  const room = at.fileBytes - at.usedBytes
  if (room >= wanted / 2) return { missing: 0, isLow: false }
  const missing = wanted - room
  // On a nearly full disk, the rest is left to work that frees space.
  return { missing: at.freeBytes >= 2 * missing ? missing : 0, isLow: at.freeBytes < limits.storeReserveBytes }
}

export class LmdbRoom {
  readonly #options: RoomOptions
  readonly #file: FileHandle
  #isLow = false
  #lookedMs = 0
  /** An upper bound on the bytes written since the last look. */
  #writtenBytes = 0
  #lookAfterBytes = 0
  #looking: Promise<void> | undefined
  #closed = false

  private constructor(file: FileHandle, options: RoomOptions) {
    this.#file = file
    this.#options = options
  }

  /** Resolves when the room is made, or when it cannot be made. */
  static async open(options: RoomOptions): Promise<LmdbRoom> {
    const room = new LmdbRoom(await open(join(options.directory, 'data.mdb'), 'r+'), options)
    await room.#look()
    return room
  }

  /** Call before a commit that adds client data. Throws `KvUnavailable` while the remaining room is reserved for commits that free space. */
  requireRoom(): Promise<void> | void {
    if (this.#isLow) return this.#requireAfterLook()
  }

  /** Counts what was committed, and looks now and then. */
  wrote(batch: readonly { commit: Commit }[]): void {
    this.#writtenBytes += limits.kvCommitBytesAbout
    for (const { commit } of batch) for (const { value } of commit.puts ?? []) this.#writtenBytes += value.length
    if (this.#writtenBytes < this.#lookAfterBytes || this.#looking !== undefined) return
    void this.#look()
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#looking
    await this.#file.close()
  }

  async #requireAfterLook(): Promise<void> {
    if (performance.now() - this.#lookedMs >= limits.kvRoomLookMs) await this.#look()
    if (!this.#isLow) return
    const message = 'The storage has no room left for new data. Deleting still works.'
    throw new KvUnavailable(message)
  }

  #look(): Promise<void> {
    this.#looking ??= this.#fill()
      // Failing to make room is harmless in itself: if the disk is faulty, the next commit finds out.
      .catch(() => {})
      .finally(() => {
        this.#looking = undefined
      })
    return this.#looking
  }

  async #fill(): Promise<void> {
    this.#lookedMs = performance.now()
    this.#writtenBytes = 0
    // A process that was killed in the middle of a read still holds what it read. Then no page that is freed could be used again, and the file would grow
    // with each commit.
    this.#options.db.readerCheck()
    const judged = await this.#judge()
    let written = 0
    while (written < judged.missing && !this.#closed) {
      const bytes = await this.#extend()
      if (bytes === 0) break
      written += bytes
      // Synced piece by piece, so that a concurrent commit's sync waits for one piece at most.
      await this.#file.datasync().catch(() => {})
    }
    this.#isLow = written === 0 ? judged.isLow : (await this.#judge()).isLow
  }

  async #judge(): Promise<{ missing: number; isLow: boolean }> {
    const { db } = this.#options
    const usedBytes = usedBytesOf(db.getStats())
    // Otherwise the next read would use this snapshot and miss later commits of other processes.
    db.resetReadTxn()
    this.#lookAfterBytes = roomWanted(usedBytes) / 4
    const { size: fileBytes } = await this.#file.stat()
    const { bavail, bsize } = await statfs(this.#options.directory)
    return judgeRoom({ usedBytes, fileBytes, freeBytes: bavail * bsize })
  }

  /** Appends one piece of zeros. Another process may be about to commit at the same place, so this holds the write lock. */
  async #extend(): Promise<number> {
    let bytes = 0
    await needingMainThread(() =>
      this.#options.db.transaction(() => {
        const { fd } = this.#file
        try {
          bytes = writeSync(fd, zeros, 0, zeros.length, fstatSync(fd).size)
        } catch {
          // The disk is full, or the file may not grow.
        }
      }),
    )
    return bytes
  }
}

/** The bytes from the start of the file to the end of the last page in use. */
function usedBytesOf(stats: object): number {
  if ('lastPageNumber' in stats && 'pageSize' in stats)
    return (Number(stats.lastPageNumber) + 1) * Number(stats.pageSize)
  throw new Error('LMDB does not say how many pages it uses')
}

/** Small enough to write between two commits without a noticeable delay. */
const zeros = Buffer.alloc(limits.kvRoomPieceBytes)
