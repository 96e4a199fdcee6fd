/** Repair as a background job: one run at a time, at a bounded rate. The other jobs take their turns during a long run, because they win back room. */
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Backend } from '../../commits/backend.ts'
import { openPace } from '../tasks/pace.ts'
import { type RepairOutcome, type RepairReport, repairBlobs } from './repair.ts'

export interface BackgroundRepairOptions {
  backend: Backend
  /** Absent: no limit. */
  bytesPerSecond: number | undefined
  onError(error: unknown): void
  /** Called after each blob that the repair looked at. */
  did?(outcome: RepairOutcome): void
}

export class BackgroundRepair {
  readonly #backend: Backend
  readonly #onError: (error: unknown) => void
  readonly #did: (outcome: RepairOutcome) => void
  readonly #stopping = new AbortController()
  readonly #pace: (bytes: number) => Promise<void>
  #running: Promise<RepairReport> | undefined
  #isWaitedFor = false

  constructor({ backend, bytesPerSecond, onError, did = () => {} }: BackgroundRepairOptions) {
    this.#backend = backend
    this.#onError = onError
    this.#did = did
    const { signal } = this.#stopping
    // Each read of a shard adds a listener.
    setMaxListeners(0, signal)
    const pace = openPace(bytesPerSecond ?? Number.POSITIVE_INFINITY)
    this.#pace = (bytes) => pace.take(bytes, signal)
  }

  /** Starts a run, or joins the one under way. `undefined`: the run takes longer than `patienceMs` and continues. */
  async run(patienceMs: number | undefined): Promise<RepairReport | undefined> {
    this.#running ??= this.#begin()
    const patience = new AbortController()
    this.#isWaitedFor = true
    try {
      if (patienceMs === undefined) return await this.#running
      const expiry = delay(patienceMs, undefined, { ref: false, signal: patience.signal }).catch(() => undefined)
      return await Promise.race([this.#running, expiry])
    } finally {
      patience.abort()
      this.#isWaitedFor = false
    }
  }

  /** Aborts the run under way. What it has not repaired stays queued. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the process ends'))
    await this.#running?.catch(() => {})
  }

  /** Whether `error` is what an aborted run throws. */
  isCutOff(error: unknown): boolean {
    return error === this.#stopping.signal.reason
  }

  async #begin(): Promise<RepairReport> {
    try {
      const report = await repairBlobs(this.#backend, { pace: this.#pace, did: async (outcome) => this.#did(outcome) })
      if (report.lostBlobs > 0) {
        this.#onError(new Error(`${report.lostBlobs} blobs have too few shards left that can be read`))
      }
      return report
    } catch (error) {
      // A caller that waits gets the rejection.
      if (!this.#isWaitedFor && !this.isCutOff(error)) this.#onError(error)
      throw error
    } finally {
      this.#running = undefined
    }
  }
}
