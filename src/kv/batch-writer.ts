/** Writes one LMDB transaction: a batch of commits, and the digest of all entries (ADR 0023). Knows nothing of the callers that wait for it. */

import { setTimeout as delay } from 'node:timers/promises'
import { limits } from '../limits.ts'
import { needingMainThread } from '../process-end.ts'
import { applyInOrder, isEmpty, type Transaction } from './apply-commits.ts'
import { type LmdbIntegrity, versionsPerTransaction } from './integrity/lmdb-integrity.ts'
import { MetadataDamaged } from './integrity/metadata-damaged.ts'
import { DigestTally, digestKey, packDigest, sumOf, type TreeDigest, unpackDigest } from './integrity/tree-digest.ts'
import type { Commit, Key } from './kv.ts'
import type { NewestCommit, WriteTransactions } from './newest-commit.ts'

const behindPollMs = 1

/** The part of lmdb-js that a batch needs. */
interface Database extends Transaction, WriteTransactions {
  get(key: Key): Buffer | undefined
}

export class BatchWriter {
  readonly #db: Database
  readonly #integrity: LmdbIntegrity
  readonly #newest: NewestCommit
  /** The digest that this process wrote last, and its bytes. The next transaction usually finds the same bytes and need not parse them. */
  #last: { digest: TreeDigest; bytes: Buffer } | undefined
  /** Makes the next transaction write the digest, even if it writes nothing else. */
  digestIsWanted = false

  constructor(db: Database, integrity: LmdbIntegrity, newest: NewestCommit) {
    this.#db = db
    this.#integrity = integrity
    this.#newest = newest
  }

  close(): Promise<void> {
    return this.#newest.close()
  }

  /**
   * Calls `take` when the transaction has begun, and writes the commits that it returns. Resolves when they are durable, with which of them applied.
   * Rejects with `MetadataDamaged`, and writes nothing, when the file cannot be at its newest transaction.
   */
  async write(take: () => readonly Commit[]): Promise<boolean[]> {
    for (let waitedMs = 0; ; waitedMs += behindPollMs) {
      const applied = await this.#writeOnce(take)
      if (applied !== undefined) return applied
      // The process that opens the file corrects it at once, unless it was killed on the way. Then the next start does.
      if (waitedMs >= limits.kvBehindMs) throw new Error('LMDB begins transactions at an older commit than the newest')
      await delay(behindPollMs)
    }
  }

  /** `undefined`: nothing was taken, because the transaction began at an older commit than the newest. */
  async #writeOnce(take: () => readonly Commit[]): Promise<boolean[] | undefined> {
    let applied: boolean[] | undefined
    let written: { digest: TreeDigest; bytes: Buffer } | undefined
    let damage: MetadataDamaged | undefined
    await needingMainThread(() =>
      this.#db.transaction(() => {
        if (this.#newest.isAheadOf(this.#db)) return
        const commits = take()
        try {
          // This must come before the first write: a later error would leave the batch half-written.
          const before = this.#integrity.digestBefore(this.#digest(), this.#db.getWriteTxnId(), () => this.#isEmpty())
          const tally = new DigestTally()
          applied = applyInOrder(this.#db, commits, before.txnId * versionsPerTransaction, tally)
          // LMDB does not count a transaction that writes nothing.
          if (tally.writes > 0 || this.digestIsWanted) written = this.#putDigest(before, tally)
        } catch (error) {
          if (!(error instanceof MetadataDamaged)) throw error
          damage = error
        }
      }),
    )
    if (damage !== undefined) throw damage
    if (written === undefined) return applied
    this.#integrity.committed(written.digest, written.bytes)
    this.#last = written
    return applied
  }

  #putDigest(before: TreeDigest, tally: DigestTally): { digest: TreeDigest; bytes: Buffer } {
    const digest = { ...before, ...sumOf(before, tally.sums) }
    const bytes = packDigest(digest)
    this.#db.put(digestKey, bytes, digest.txnId * versionsPerTransaction)
    this.digestIsWanted = false
    return { digest, bytes }
  }

  #digest(): TreeDigest | undefined {
    const found = this.#db.get(digestKey)
    if (found === undefined) return undefined
    if (this.#last?.bytes.equals(found)) return this.#last.digest
    const digest = unpackDigest(found)
    if (digest === undefined) throw new MetadataDamaged('the digest of all entries is damaged')
    return digest
  }

  #isEmpty(): boolean {
    return isEmpty(this.#db.getKeys({ start: Buffer.from([0]), end: digestKey, limit: 1 }))
  }
}
