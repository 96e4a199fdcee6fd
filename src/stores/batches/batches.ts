/** The unchecked batches of a store: those that this process writes, and those that other processes have left. They limit the search for orphans to recent writes. */
import type { Clock } from '../../clock.ts'
import type { IsGone, UncheckedBatch } from '../shard-store.ts'
import type { MarkerStorage } from './marker-storage.ts'
import { closedMarker, type Marker, openMarker, parseMarker, uncheckedBatches } from './markers.ts'

/** Batches that have no writer, but whose markers could not be closed yet, with the time of the last shard of each. It outlives the opened store, but not the process. */
export type LeftOpen = Map<string, number>

export interface BatchesOptions {
  storage: MarkerStorage
  clock: Clock
  /** The writer of this process's batches, 32 hex digits. Absent: batches name no writer, because no other host uses the store. */
  member?: string | undefined
  leftOpen?: LeftOpen | undefined
  /** Rejects when something else now lies where this store was. */
  requireIdentity(): Promise<unknown>
}

export class Batches {
  readonly #options: BatchesOptions
  readonly #leftOpen: LeftOpen
  /** When this process last added a shard to each of its open batches. */
  readonly #newestMs = new Map<string, number>()

  constructor(options: BatchesOptions) {
    this.#options = options
    this.#leftOpen = options.leftOpen ?? new Map()
  }

  /** The marker exists durably when it resolves, before the batch takes its first shard. */
  async open(batchId: string): Promise<void> {
    const { storage, clock, requireIdentity } = this.#options
    // Another disk may have been mounted here. Every write belongs to a batch, so this check keeps data out of the wrong store.
    await requireIdentity()
    // Noted before the marker can be seen, so that no search of this process takes the batch for abandoned.
    this.#newestMs.set(batchId, clock.now())
    try {
      await storage.create(this.markerOf(batchId))
    } catch (error) {
      this.#newestMs.delete(batchId)
      throw error
    }
  }

  /** Whether markers name this process, so that other hosts can close its batches once it is gone. */
  get areOwned(): boolean {
    return this.#options.member !== undefined
  }

  /** The name of the marker of a batch that this process has open. It is gone once another process has closed the batch. */
  markerOf(batchId: string): string {
    return openMarker(batchId, this.#options.member)
  }

  wroteTo(batchId: string): void {
    this.#newestMs.set(batchId, this.#options.clock.now())
  }

  /** Never rejects. If it fails, `closeLeft` tries again. */
  async close(batchId: string): Promise<void> {
    const newestMs = this.#newestMs.get(batchId) ?? this.#options.clock.now()
    this.#leftOpen.set(batchId, newestMs)
    this.#newestMs.delete(batchId)
    await this.#closeOwn(batchId, newestMs).catch(() => {})
  }

  /** Closes the batches of this process whose closing has failed before. */
  async closeLeft(): Promise<void> {
    for (const [batchId, newestMs] of [...this.#leftOpen]) await this.#closeOwn(batchId, newestMs)
  }

  /** Resolves with the number of closed batches. `storage`: through which the markers are replaced. */
  async closeAbandoned(isGone: IsGone, storage: MarkerStorage = this.#options.storage): Promise<number> {
    const verdicts = new Map<string | undefined, boolean>()
    const isLeft = async (member: string | undefined): Promise<boolean> => {
      const verdict = verdicts.get(member) ?? (await isGone(member))
      verdicts.set(member, verdict)
      return verdict
    }
    let closed = 0
    for (const { name, batchId, closedMs, member } of await this.#markers()) {
      if (closedMs !== undefined || this.#isOwn(batchId, member) || !(await isLeft(member))) continue
      await storage.replace(name, closedMarker(batchId, this.#options.clock.now()))
      closed++
    }
    return closed
  }

  async unchecked(): Promise<UncheckedBatch[]> {
    const nowMs = this.#options.clock.now()
    return uncheckedBatches(await this.#markers(), (batchId) => this.#newestMs.get(batchId) ?? nowMs)
  }

  /**
   * Removes the markers of a closed batch, because it is never searched again. Calls `settle` first, to remove what unfinished writers left. Does nothing without markers.
   * Rejects if it is still open.
   */
  async markChecked(
    batchId: string,
    settle: () => Promise<void>,
    storage: MarkerStorage = this.#options.storage,
  ): Promise<void> {
    const markers = (await this.#markers()).filter((marker) => marker.batchId === batchId)
    if (markers.length === 0) return
    if (markers.every(({ closedMs }) => closedMs === undefined))
      throw new Error(`batch ${batchId} is still being written`)
    await settle()
    await storage.remove(markers.map(({ name }) => name))
  }

  /** Forgets a batch of this process that holds nothing. */
  async drop(batchId: string): Promise<void> {
    this.#newestMs.delete(batchId)
    this.#leftOpen.delete(batchId)
    const markers = (await this.#markers()).filter((marker) => marker.batchId === batchId)
    if (markers.length > 0) await this.#options.storage.remove(markers.map(({ name }) => name))
  }

  #isOwn(batchId: string, member: string | undefined): boolean {
    if (member !== undefined && member === this.#options.member) return true
    return this.#newestMs.has(batchId) || this.#leftOpen.has(batchId)
  }

  async #closeOwn(batchId: string, newestMs: number): Promise<void> {
    await this.#options.storage.replace(this.markerOf(batchId), closedMarker(batchId, newestMs))
    this.#leftOpen.delete(batchId)
  }

  async #markers(): Promise<Marker[]> {
    return (await this.#options.storage.list()).flatMap((name) => parseMarker(name) ?? [])
  }
}
