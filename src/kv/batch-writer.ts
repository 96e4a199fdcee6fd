/** One transaction of LMDB: what commits write, and the digest of all entries, which goes with it (ADR 0023). Knows nothing of who waits for it. */
import { applyInOrder, isEmpty, type Transaction } from './apply-commits.ts'
import { type LmdbIntegrity, versionsPerTransaction } from './integrity/lmdb-integrity.ts'
import { MetadataDamaged } from './integrity/metadata-damaged.ts'
import { DigestTally, digestKey, packDigest, sumOf, type TreeDigest, unpackDigest } from './integrity/tree-digest.ts'
import type { Commit, Key } from './kv.ts'

/** Of lmdb-js. */
interface Database extends Transaction {
  transaction(run: () => void): Promise<unknown>
  getWriteTxnId(): number
  get(key: Key): Buffer | undefined
}

export class BatchWriter {
  readonly #db: Database
  readonly #integrity: LmdbIntegrity
  /** The digest that this process wrote last, and its bytes: mostly the ones that the next transaction finds. */
  #last: { digest: TreeDigest; bytes: Buffer } | undefined
  /** The next transaction writes the digest, even if it writes nothing else. */
  digestIsWanted = false

  constructor(db: Database, integrity: LmdbIntegrity) {
    this.#db = db
    this.#integrity = integrity
  }

  /**
   * Writes the commits that `take` gives once the transaction has begun. Resolves when they are durable, with which of them applied. Rejects with
   * `MetadataDamaged` when the transaction before cannot have been the last: nothing is written then.
   */
  async write(take: () => readonly Commit[]): Promise<boolean[]> {
    let applied: boolean[] = []
    let written: { digest: TreeDigest; bytes: Buffer } | undefined
    let damage: MetadataDamaged | undefined
    await this.#db.transaction(() => {
      const commits = take()
      try {
        // Before anything is written: what throws later would leave a part of it.
        const before = this.#integrity.digestBefore(this.#digest(), this.#db.getWriteTxnId(), () => this.#isEmpty())
        const tally = new DigestTally()
        applied = applyInOrder(this.#db, commits, before.txnId * versionsPerTransaction, tally)
        // A transaction that writes nothing is none to LMDB.
        if (tally.writes > 0 || this.digestIsWanted) written = this.#putDigest(before, tally)
      } catch (error) {
        if (!(error instanceof MetadataDamaged)) throw error
        damage = error
      }
    })
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
