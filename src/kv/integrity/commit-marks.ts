/**
 * Records the newest commit beside the metadata file, after each commit. A damaged page can lead LMDB to an older tree that looks whole, and only
 * something outside the file can tell. After a power failure the record can be behind the file, which is not damage.
 */
import { writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { packDigest, type TreeDigest, unpackDigest } from './tree-digest.ts'

const slots = 64
const slotBytes = 64
/** Consecutive commits use different slots, so processes that commit at the same time never write the same one. */
const offsetOf = (txnId: number): number => (txnId % slots) * slotBytes

export class CommitMarks {
  readonly #file: FileHandle

  private constructor(file: FileHandle) {
    this.#file = file
  }

  /** Creates the file if it is missing. */
  static async open(path: string): Promise<CommitMarks> {
    const file = await open(path, 'a+', 0o600).then(async (made) => {
      await made.close()
      return open(path, 'r+')
    })
    const { size } = await file.stat()
    // Allocate the whole file now, so that a full disk cannot stop later writes.
    if (size < slots * slotBytes) {
      await file.write(Buffer.alloc(slots * slotBytes - size), 0, undefined, size)
      await file.sync()
    }
    return new CommitMarks(file)
  }

  /** The digest of the newest recorded commit. A slot that cannot be read counts as empty. */
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

  /** Does not sync, which would cost as much as the commit. */
  write({ txnId }: TreeDigest, packed: Buffer): void {
    writeSync(this.#file.fd, packed, 0, packedBytes, offsetOf(txnId))
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
