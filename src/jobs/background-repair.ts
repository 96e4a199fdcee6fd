/** Repair as a background job: at its rate, one run at a time. A long one goes on while the other jobs have their turns, for room must be won back meanwhile. */
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Backend } from '../commits/backend.ts'
import { openPace } from './pace.ts'
import { type RepairOutcome, type RepairReport, repairBlobs } from './repair.ts'

export interface BackgroundRepairOptions {
  backend: Backend
  /** Absent: no limit. */
  bytesPerSecond: number | undefined
  onError(error: unknown): void
  /** Called after each blob that was looked at. */
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
    // Each shard that is being read waits on it.
    setMaxListeners(0, signal)
    const pace = openPace(bytesPerSecond ?? Number.POSITIVE_INFINITY)
    this.#pace = (bytes) => pace.take(bytes, signal)
  }

  /** One run, or the end of the one under way. `undefined`: it takes longer than `patienceMs`, and goes on. */
  async run(patienceMs: number | undefined): Promise<RepairReport | undefined> {
    this.#running ??= this.#begin()
    const patience = new AbortController()
    this.#isWaitedFor = true
    try {
      if (patienceMs === undefined) return await this.#running
      const late = delay(patienceMs, undefined, { ref: false, signal: patience.signal }).catch(() => undefined)
      return await Promise.race([this.#running, late])
    } finally {
      patience.abort()
      this.#isWaitedFor = false
    }
  }

  /** Cuts off the run under way; what it has not repaired stays queued. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the process ends'))
    await this.#running?.catch(() => {})
  }

  /** Whether `error` is how a run ends that was cut off. */
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
      // Who waits is told by the rejection.
      if (!this.#isWaitedFor && !this.isCutOff(error)) this.#onError(error)
      throw error
    } finally {
      this.#running = undefined
    }
  }
}
