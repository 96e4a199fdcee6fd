/**
 * Decides whether a metadata file still holds what was committed (ADR 0023): checks all of it, keeps the marks beside it, and sets the notes that stop
 * writes. Knows how processes share a file, and nothing of what is stored in it.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../../clock.ts'
import { limits } from '../../limits.ts'
import { coversVersion } from '../entry-version.ts'
import { type CheckHow, type CheckReport, type Integrity, type Key, KvUnavailable, type Version } from '../kv.ts'
import { CommitMarks } from './commit-marks.ts'
import { IntegrityNotes } from './integrity-notes.ts'
import { compareDigest, readTree, type TreeFound } from './lmdb-check.ts'
import { damagedFile, dataFileName, inspectFile, requireNotBehind, withFile } from './lmdb-file.ts'
import { newestMeta } from './lmdb-pages.ts'
import { MetadataDamaged } from './metadata-damaged.ts'
import { type DigestSums, differenceOf, sumOf, type TreeDigest } from './tree-digest.ts'

export interface IntegrityOptions {
  directory: string
  isWhole(key: Key, value: Buffer): boolean
  /** Called with one line for the operator. */
  onDamage(message: string): void
  /** Whether this process is about to own the file. If so, its first commits do not wait for a check that the previous owner left unfinished. */
  takesOver: boolean
}

/** What a check needs from the engine. */
export interface EngineAccess {
  /** Keeps the current commit readable until the returned function is called. */
  hold(): () => void
  /** Commits the digest alone. */
  writeDigest(): Promise<void>
}

const pollMs = 20
/** The sums of the entries that existed when a digest began to count at commit `since`. Adding them makes that digest cover everything. */
interface Base {
  since: number
  sums: DigestSums
}

export class LmdbIntegrity implements Integrity {
  readonly #file: string
  readonly #marks: CommitMarks
  readonly #notes: IntegrityNotes
  readonly #options: IntegrityOptions
  #engine: EngineAccess | undefined
  /** Whether commits of this process wait for a check. False while it takes over the file, and after it has ended its run. */
  #waitsForChecks: boolean
  #closing = false
  /** The number of callers that wait for a check without a pace. */
  #unpacedCallers = 0
  #running: Promise<CheckReport> | undefined
  #next: Promise<CheckReport> | undefined
  #base: Base | undefined
  #newest: TreeDigest | undefined

  private constructor(options: IntegrityOptions, marks: CommitMarks, newest: TreeDigest | undefined) {
    this.#options = options
    this.#file = join(options.directory, dataFileName)
    this.#marks = marks
    this.#newest = newest
    this.#notes = new IntegrityNotes(options.directory)
    this.#waitsForChecks = !options.takesOver
  }

  /** Rejects with `MetadataDamaged` for a file that LMDB must not map. */
  static async open(options: IntegrityOptions): Promise<LmdbIntegrity> {
    const marks = await CommitMarks.open(join(options.directory, 'commits.marks'))
    try {
      await inspectFile(join(options.directory, dataFileName), marks)
      const integrity = new LmdbIntegrity(options, marks, await marks.newest())
      const damage = await integrity.damage()
      if (damage !== undefined) options.onDamage(integrity.#message(damage))
      return integrity
    } catch (error) {
      await marks.close()
      throw error
    }
  }

  use(engine: EngineAccess): void {
    this.#engine = engine
  }

  // Called by the engine.

  /** Called before each transaction. Rejects when writes are stopped. */
  admit(): Promise<void> | undefined {
    return this.#notes.isGuarded() ? this.#admitLater() : undefined
  }

  async #admitLater(): Promise<void> {
    for (let waitedMs = 0; ; waitedMs += pollMs) {
      const guard = await this.#notes.guard()
      if (guard === undefined) return
      if (guard.state === 'damaged') throw new KvUnavailable(this.#message(guard.reason))
      if (!this.#waitsForChecks) return
      if (guard.refuses || this.#closing || waitedMs >= limits.checkedWriteWaitMs) {
        throw new KvUnavailable('The metadata is being checked: nothing is written before that has ended.')
      }
      await delay(pollMs)
    }
  }

  /** The digest of transaction `txnId` before its own changes. Throws `MetadataDamaged` when the previous transaction cannot have left the digest `found`. */
  digestBefore(found: TreeDigest | undefined, txnId: number, isEmpty: () => boolean): TreeDigest {
    const newest = this.#newest
    if (found !== undefined && found.txnId === txnId - 1) return { ...this.#based(found), txnId }
    if (newest !== undefined && (found === undefined || found.txnId < newest.txnId || newest.txnId >= txnId)) {
      throw new MetadataDamaged(
        `commit ${txnId} finds the digest of ${found?.txnId ?? 0}, and ${newest.txnId} was made`,
      )
    }
    if (found !== undefined && found.txnId >= txnId) {
      throw new MetadataDamaged(`commit ${txnId} finds a digest of ${found.txnId}`)
    }
    // No digest was written yet, or an older version of this program has written without one.
    return { txnId, since: isEmpty() ? 0 : txnId, entries: 0, first: 0, second: 0 }
  }

  #based(found: TreeDigest): TreeDigest {
    if (found.since === 0 || this.#base?.since !== found.since) return found
    return { ...found, ...sumOf(this.#base.sums, found), since: 0 }
  }

  /** Called when a transaction is durable. `bytes`: its packed digest. */
  committed(digest: TreeDigest, bytes: Buffer): void {
    if (digest.txnId > (this.#newest?.txnId ?? 0)) this.#newest = digest
    this.#marks.write(digest, bytes)
  }

  async close(): Promise<void> {
    this.#closing = true
    await this.#running?.catch(() => {})
    await this.#marks.close()
  }

  // The engine's `Integrity`.

  async check(how: CheckHow = {}): Promise<CheckReport> {
    if (how.pace !== undefined) return this.#shared(how)
    this.#unpacedCallers++
    try {
      return await this.#shared(how)
    } finally {
      this.#unpacedCallers--
    }
  }

  #shared(how: CheckHow): Promise<CheckReport> {
    const running = this.#running
    if (running === undefined) return this.#begin(how)
    // The running check may have begun before the caller's newest commit, so the caller gets the next one.
    this.#next ??= running
      .catch(() => {})
      .then(() => {
        this.#next = undefined
        return this.#running ?? this.#begin(how)
      })
    return this.#next
  }

  #begin(how: CheckHow): Promise<CheckReport> {
    const running = this.#check(how).finally(() => {
      this.#running = undefined
    })
    this.#running = running
    return running
  }

  async damage(): Promise<string | undefined> {
    if (!this.#notes.isGuarded()) return undefined
    const guard = await this.#notes.guard()
    return guard?.state === 'damaged' ? guard.reason : undefined
  }

  lastCheck(): Promise<CheckReport | undefined> {
    return this.#notes.lastCheck()
  }

  covers(report: CheckReport, version: Version): boolean {
    return coversVersion(report, version)
  }

  async beginRun(): Promise<void> {
    const wasUnclean = await this.#notes.beginRun()
    const guard = await this.#notes.guard()
    if (guard?.state !== 'damaged' && (wasUnclean || guard !== undefined)) {
      // An earlier check that did not finish shows that a check can take long, or that it ends processes. Then writes do not wait for it.
      await this.#notes.setGuard({ state: 'checking', refuses: guard !== undefined })
      // The check reports its findings through the notes.
      this.check().catch((error: Error) =>
        this.#options.onDamage(`the metadata could not be checked: ${error.message}`),
      )
    }
    this.#waitsForChecks = true
  }

  async endRun(): Promise<void> {
    this.#closing = true
    await this.#running?.catch(() => {})
    this.#waitsForChecks = false
    if ((await this.#notes.guard())?.state !== 'checking') await this.#notes.endRun()
  }

  async distrust(): Promise<void> {
    if ((await this.damage()) !== undefined) return
    await this.#notes.setGuard({ state: 'checking', refuses: true })
    await this.check()
  }

  async #check({ pace }: CheckHow): Promise<CheckReport> {
    const { isWhole } = this.#options
    const guarded = await this.#notes.guardText()
    await this.#countFromHere()
    const startedMs = systemClock.now()
    const newest = await this.#marks.newest()
    await this.#marks.sync()
    const release = this.#engine?.hold() ?? (() => {})
    let report: CheckReport | undefined
    try {
      report = await withFile(this.#file, async (pages) => {
        const meta = await newestMeta(pages)
        const coversBelow = (meta.txnId + 1) * versionsPerTransaction
        const paced = async (bytes: number): Promise<void> => {
          if (this.#closing) throw new Error('the metadata engine closes')
          // A pace can slow down or end a check, so it must not apply while another caller waits without one.
          if (this.#unpacedCallers === 0) await pace?.(bytes)
        }
        const found = await readTree(pages, meta, { isWhole, pace: paced })
        requireNotBehind(meta, found.digest, newest)
        compareDigest(meta, found)
        this.#learnBase(found)
        return {
          startedMs,
          coversBelow,
          entries: found.sums.entries,
          damagedRecords: found.damagedCount,
          damagedKeys: found.damagedRecords.map((key) => key.toString('hex')),
        }
      })
      if (report === undefined) throw new MetadataDamaged('it is not there, or empty')
      await this.#notes.setLastCheck(report)
      await this.#notes.clearGuard(guarded)
    } catch (error) {
      if (!(error instanceof MetadataDamaged)) throw error
      return this.#failed(startedMs, error.message)
    } finally {
      release()
    }
    await this.#countFromHere()
    return report
  }

  /** Starts a digest if the newest one does not cover everything. The next check then finds the sums of older entries, and the commit after it adds them. */
  async #countFromHere(): Promise<void> {
    const isCounted = this.#newest !== undefined && this.#newest.since === 0
    if (!isCounted && this.#waitsForChecks && !this.#notes.isGuarded()) await this.#engine?.writeDigest()
  }

  #learnBase({ sums, digest }: TreeFound): void {
    if (digest !== undefined && digest.since !== 0) {
      this.#base = { since: digest.since, sums: differenceOf(sums, digest) }
    }
  }

  async #failed(startedMs: number, damage: string): Promise<CheckReport> {
    await this.found(damage)
    const report = { startedMs, entries: 0, coversBelow: 0, damagedRecords: 0, damagedKeys: [], damage }
    await this.#notes.setLastCheck(report)
    return report
  }

  /** Stops writes in all processes. */
  async found(damage: string): Promise<void> {
    // Report the damage before it makes any write fail.
    if ((await this.damage()) !== damage) this.#options.onDamage(this.#message(damage))
    await this.#notes.setGuard({ state: 'damaged', reason: damage })
  }

  #message(damage: string): string {
    return damagedFile(this.#file, damage).message
  }
}

/**
 * A version combines the id of the LMDB transaction that wrote the value with the commit's position in it. Transaction ids only grow, in all
 * processes and across restarts, so no version is ever used twice. Part of the stored format: a smaller number would repeat versions.
 */
export const versionsPerTransaction = 1024
