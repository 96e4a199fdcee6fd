/**
 * Room for commits on a file system that is full to the last byte: zeros, written behind the last page of LMDB's data file before they are needed. LMDB writes its
 * pages over them, and asks the file system for no block (ADR 0032 says where that holds, and where it does not).
 */
import { fstatSync, writeSync } from 'node:fs'
import { type FileHandle, open, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../limits.ts'
import { type Commit, KvUnavailable } from './kv.ts'

export interface RoomOptions {
  /** The environment's directory. */
  directory: string
  db: {
    getStats(): object
    /** What asks for statistics leaves a snapshot open. */
    resetReadTxn(): void
    /** Runs `work`, which must not await, while no process writes to the environment. */
    transaction(work: () => void): Promise<unknown>
  }
}

/** A batch of commits writes its pages anew, and those of the two before can't be used again yet. Pure. */
export function roomWanted(usedBytes: number): number {
  return Math.min(Math.max(4 * usedBytes, limits.kvRoomBytesMin), limits.kvRoomBytesMax)
}

/** How many zeros to write; whether what is stored may not grow. Pure. */
export function judgeRoom(at: { usedBytes: number; fileBytes: number; freeBytes: number }): {
  missing: number
  isLow: boolean
} {
  const wanted = roomWanted(at.usedBytes)
  const room = at.fileBytes - at.usedBytes
  if (room >= wanted / 2) return { missing: 0, isLow: false }
  const missing = wanted - room
  // What is left on a disk that is nearly full is for who frees room.
  return { missing: at.freeBytes >= 2 * missing ? missing : 0, isLow: at.freeBytes < limits.storeReserveBytes }
}

export class LmdbRoom {
  readonly #options: RoomOptions
  readonly #file: FileHandle
  #isLow = false
  #lookedMs = 0
  /** Written since the last look, at most. */
  #writtenBytes = 0
  #lookAfterBytes = 0
  #looking: Promise<void> | undefined
  #closed = false

  private constructor(file: FileHandle, options: RoomOptions) {
    this.#file = file
    this.#options = options
  }

  /** Resolves when there is room, or can be none. */
  static async open(options: RoomOptions): Promise<LmdbRoom> {
    const room = new LmdbRoom(await open(join(options.directory, 'data.mdb'), 'r+'), options)
    await room.#look()
    return room
  }

  /** Before a commit that adds what clients store. Throws `KvUnavailable` while there is only room for those that free some. */
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
      // Room that can't be made is not there, and no more than that: what is wrong with the disk, the next commit meets itself.
      .catch(() => {})
      .finally(() => {
        this.#looking = undefined
      })
    return this.#looking
  }

  async #fill(): Promise<void> {
    this.#lookedMs = performance.now()
    this.#writtenBytes = 0
    const judged = await this.#judge()
    let written = 0
    while (written < judged.missing && !this.#closed) {
      const bytes = await this.#extend()
      if (bytes === 0) break
      written += bytes
      // Piece by piece: a commit that is synced meanwhile has no more than this one to wait for.
      await this.#file.datasync().catch(() => {})
    }
    this.#isLow = written === 0 ? judged.isLow : (await this.#judge()).isLow
  }

  async #judge(): Promise<{ missing: number; isLow: boolean }> {
    const { db } = this.#options
    const usedBytes = usedBytesOf(db.getStats())
    // A read that came now would miss what another process has committed since.
    db.resetReadTxn()
    this.#lookAfterBytes = roomWanted(usedBytes) / 4
    const { size: fileBytes } = await this.#file.stat()
    const { bavail, bsize } = await statfs(this.#options.directory)
    return judgeRoom({ usedBytes, fileBytes, freeBytes: bavail * bsize })
  }

  /** One piece of zeros at the end of the file, which may be where another process is about to commit: nobody may write meanwhile. */
  async #extend(): Promise<number> {
    let bytes = 0
    await this.#options.db.transaction(() => {
      const { fd } = this.#file
      try {
        bytes = writeSync(fd, zeros, 0, zeros.length, fstatSync(fd).size)
      } catch {
        // The disk is full, or takes no more of this file.
      }
    })
    return bytes
  }
}

/** Up to the end of the last page that LMDB uses. */
function usedBytesOf(stats: object): number {
  if ('lastPageNumber' in stats && 'pageSize' in stats)
    return (Number(stats.lastPageNumber) + 1) * Number(stats.pageSize)
  throw new Error('LMDB does not say how many pages it uses')
}

/** Small enough to be written between two commits without anybody noticing. */
const zeros = Buffer.alloc(limits.kvRoomPieceBytes)
