/**
 * How far commits have come, kept beside the metadata file and written after each commit: LMDB may be led by a damaged page to an older tree that looks
 * whole, and only something outside the file can tell. After a power failure it may be behind the file: that is no damage.
 */
import { writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { packDigest, type TreeDigest, unpackDigest } from './tree-digest.ts'

const slots = 64
const slotBytes = 64
/** Those that commit at the same time, in several processes, never write the same slot. */
const placeOf = (txnId: number): number => (txnId % slots) * slotBytes

export class CommitMarks {
  readonly #file: FileHandle

  private constructor(file: FileHandle) {
    this.#file = file
  }

  /** Makes the file when it is missing. */
  static async open(path: string): Promise<CommitMarks> {
    const file = await open(path, 'a+', 0o600).then(async (made) => {
      await made.close()
      return open(path, 'r+')
    })
    const { size } = await file.stat()
    // All of its room is there from the start: a full disk does not stop it.
    if (size < slots * slotBytes) {
      await file.write(Buffer.alloc(slots * slotBytes - size), 0, undefined, size)
      await file.sync()
    }
    return new CommitMarks(file)
  }

  /** Of the newest commit that is known. What cannot be read counts as not written. */
  async newest(): Promise<TreeDigest | undefined> {
    const bytes = Buffer.alloc(slots * slotBytes)
    const { bytesRead } = await this.#file.read(bytes, 0, bytes.length, 0)
    let newest: TreeDigest | undefined
    for (let at = 0; at + slotBytes <= bytesRead; at += slotBytes) {
      const digest = unpackDigest(bytes.subarray(at, at + packedBytes))
      if (digest !== undefined && digest.txnId > (newest?.txnId ?? 0)) newest = digest
    }
    return newest
  }

  /** Not synced: that would cost as much as the commit. */
  write({ txnId }: TreeDigest, packed: Buffer): void {
    writeSync(this.#file.fd, packed, 0, packedBytes, placeOf(txnId))
  }

  sync(): Promise<void> {
    return this.#file.datasync()
  }

  async close(): Promise<void> {
    await this.#file.datasync()
    await this.#file.close()
  }
}

const packedBytes = packDigest({ txnId: 0, since: 0, entries: 0, first: 0, second: 0 }).length
