/**
 * Whether a metadata file still holds what was committed (ADR 0023): the check of all of it, the marks beside it, the notes that stop writes. Knows how
 * processes share a file, and nothing of what is stored in it.
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
  /** Told in one line. */
  onDamage(message: string): void
  /** Whether this process is about to own the file: its own first commits do not wait for what an owner before it left undone. */
  takesOver: boolean
}

/** What a check needs of the engine. */
export interface EngineAccess {
  /** Holds what is committed now until the function that it returns is called. */
  hold(): () => void
  /** Commits the digest alone. */
  writeDigest(): Promise<void>
}

const pollMs = 20
/** The whole was read `since` a digest began to count: with this, it counts everything. */
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
  #obeys: boolean
  #closing = false
  /** How many wait for a check without a pace. */
  #hurried = 0
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
    this.#obeys = !options.takesOver
  }

  /** Throws `MetadataDamaged` for a file that must not be mapped. */
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

  // What the engine asks of it.

  /** Asked before each transaction. Rejects when nothing may be written. */
  admit(): Promise<void> | undefined {
    return this.#notes.isGuarded() ? this.#admitLater() : undefined
  }

  async #admitLater(): Promise<void> {
    for (let waitedMs = 0; ; waitedMs += pollMs) {
      const guard = await this.#notes.guard()
      if (guard === undefined) return
      if (guard.state === 'damaged') throw new KvUnavailable(this.#message(guard.reason))
      if (!this.#obeys) return
      if (guard.refuses || this.#closing || waitedMs >= limits.checkedWriteWaitMs) {
        throw new KvUnavailable('The metadata is being checked: nothing is written before that has ended.')
      }
      await delay(pollMs)
    }
  }

  /** The digest that the transaction `txnId` writes, before its own changes; throws `MetadataDamaged` when the one before cannot have been `found`. */
  digestBefore(found: TreeDigest | undefined, txnId: number, isEmpty: () => boolean): TreeDigest {
    const known = this.#newest
    if (found !== undefined && found.txnId === txnId - 1) return { ...this.#based(found), txnId }
    if (known !== undefined && (found === undefined || found.txnId < known.txnId || known.txnId >= txnId)) {
      throw new MetadataDamaged(`commit ${txnId} finds the digest of ${found?.txnId ?? 0}, and ${known.txnId} was made`)
    }
    if (found !== undefined && found.txnId >= txnId) {
      throw new MetadataDamaged(`commit ${txnId} finds a digest of ${found.txnId}`)
    }
    // Nobody has counted yet, or an older version of this program wrote without counting.
    return { txnId, since: isEmpty() ? 0 : txnId, entries: 0, first: 0, second: 0 }
  }

  #based(found: TreeDigest): TreeDigest {
    if (found.since === 0 || this.#base?.since !== found.since) return found
    return { ...found, ...sumOf(this.#base.sums, found), since: 0 }
  }

  /** A transaction is durable. `bytes`: its digest, packed. */
  committed(digest: TreeDigest, bytes: Buffer): void {
    if (digest.txnId > (this.#newest?.txnId ?? 0)) this.#newest = digest
    this.#marks.write(digest, bytes)
  }

  async close(): Promise<void> {
    this.#closing = true
    await this.#running?.catch(() => {})
    await this.#marks.close()
  }

  // What others ask of it.

  async check(how: CheckHow = {}): Promise<CheckReport> {
    if (how.pace !== undefined) return this.#shared(how)
    this.#hurried++
    try {
      return await this.#shared(how)
    } finally {
      this.#hurried--
    }
  }

  #shared(how: CheckHow): Promise<CheckReport> {
    const under = this.#running
    if (under === undefined) return this.#begin(how)
    // Who asks wants to know of all that there is now.
    this.#next ??= under
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
      // One that did not come to its end says that this may take long, or that it is what ends processes.
      await this.#notes.setGuard({ state: 'checking', refuses: guard !== undefined })
      // What it finds is told by the notes.
      this.check().catch((error: Error) =>
        this.#options.onDamage(`the metadata could not be checked: ${error.message}`),
      )
    }
    this.#obeys = true
  }

  async endRun(): Promise<void> {
    this.#closing = true
    await this.#running?.catch(() => {})
    this.#obeys = false
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
          if (this.#closing) throw new Error('the metadata store closes')
          // A pace slows a check down, and may end it: not one that others wait for without a pace.
          if (this.#hurried === 0) await pace?.(bytes)
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

  /** Where not everything is counted yet: the next check learns what there was before, and the commit after it makes that known. */
  async #countFromHere(): Promise<void> {
    const isCounted = this.#newest !== undefined && this.#newest.since === 0
    if (!isCounted && this.#obeys && !this.#notes.isGuarded()) await this.#engine?.writeDigest()
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

  /** Nothing is written from now on, by any process. */
  async found(damage: string): Promise<void> {
    // Told before anybody is refused because of it.
    if ((await this.damage()) !== damage) this.#options.onDamage(this.#message(damage))
    await this.#notes.setGuard({ state: 'damaged', reason: damage })
  }

  #message(damage: string): string {
    return damagedFile(this.#file, damage).message
  }
}

/**
 * A version is the id of the LMDB transaction that wrote the value, and the commit's place in it. Transaction ids only grow, in all
 * processes and across restarts, so no version is ever used twice. Part of the stored format: a smaller number would repeat versions.
 */
export const versionsPerTransaction = 1024
