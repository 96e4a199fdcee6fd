/** The batch that all writers of this process share, for shards that have a file or an object each. It takes a bounded number of shards, and is closed when its last writer has ended. */
import { type Clock, timeOrderedId } from '../../clock.ts'
import type { Batches } from './batches.ts'

interface OpenBatch {
  id: string
  named: number
  writers: number
  full: boolean
  lastWriteMs: number
}

/** Room for one shard in a batch. */
export interface Reservation {
  /** The random id of the batch, which `SharedBatchOptions.batchIdOf` takes. */
  batch: string
  /** Call once, when the shard is durable or gone. */
  release(): Promise<void>
}

export interface SharedBatchOptions {
  batches: Batches
  clock: Clock
  shardsMax: number
  /** Turns the random id of a new batch into its id in the store. */
  batchIdOf(id: string): string
  /** Durably makes what the batch needs to take shards, after its marker. Absent: it needs nothing. */
  prepare?(id: string): Promise<void>
}

export class SharedBatch {
  readonly #options: SharedBatchOptions
  #open: OpenBatch | undefined
  #opening: Promise<void> | undefined

  constructor(options: SharedBatchOptions) {
    this.#options = options
  }

  async reserve(): Promise<Reservation> {
    while (this.#open === undefined) {
      this.#opening ??= this.#begin().finally(() => {
        this.#opening = undefined
      })
      // Other writers that waited too may fill it first, so this one looks again.
      await this.#opening
    }
    // Nothing may be awaited between finding room and taking it.
    const batch = this.#open
    batch.named++
    batch.writers++
    if (batch.named >= this.#options.shardsMax) this.#end(batch)
    return {
      batch: batch.id,
      release: async () => {
        batch.writers--
        batch.lastWriteMs = this.#options.clock.now()
        this.#options.batches.wroteTo(this.#options.batchIdOf(batch.id))
        await this.#closeWhenDone(batch)
      },
    }
  }

  /** Ends the batch when nothing was written to it since `beforeMs`, so that its orphans can be told from writes under way. */
  async endIdle(beforeMs: number): Promise<void> {
    const batch = this.#open
    if (batch === undefined || batch.writers > 0 || batch.lastWriteMs >= beforeMs) return
    this.#end(batch)
    await this.#closeWhenDone(batch)
  }

  /** Call it when no writer is left. */
  async close(): Promise<void> {
    await this.endIdle(Number.POSITIVE_INFINITY)
  }

  /** Writes the marker first, so that no crash leaves a shard that the search for orphans would miss. */
  async #begin(): Promise<void> {
    const { batches, clock, batchIdOf, prepare } = this.#options
    const id = timeOrderedId(clock)
    await batches.open(batchIdOf(id))
    try {
      await prepare?.(id)
    } catch (error) {
      await batches.close(batchIdOf(id))
      throw error
    }
    this.#open = { id, named: 0, writers: 0, full: false, lastWriteMs: clock.now() }
  }

  #end(batch: OpenBatch): void {
    batch.full = true
    if (this.#open === batch) this.#open = undefined
  }

  async #closeWhenDone(batch: OpenBatch): Promise<void> {
    if (batch.full && batch.writers === 0) await this.#options.batches.close(this.#options.batchIdOf(batch.id))
  }
}
