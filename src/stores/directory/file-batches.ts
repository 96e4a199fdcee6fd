/** Directories for this process's large files. Each takes a bounded number of files, and is closed when its last writer has ended. */
import { timeOrderedId } from '../../clock.ts'
import { type Batches, batchIdOf } from './batches.ts'
import type { StoreContext } from './context.ts'
import type { FileName } from './large-file-format.ts'

interface OpenBatch {
  id: string
  named: number
  writers: number
  full: boolean
  lastWriteMs: number
}

/** A name for one new file, in a directory that exists and is durable. */
export interface Reservation {
  name: FileName
  /** Call once, when the file is durable or gone. */
  release(): Promise<void>
}

export class FileBatches {
  readonly #context: StoreContext
  readonly #batches: Batches
  #open: OpenBatch | undefined
  #opening: Promise<void> | undefined

  constructor(context: StoreContext, batches: Batches) {
    this.#context = context
    this.#batches = batches
  }

  async reserve(): Promise<Reservation> {
    while (this.#open === undefined) {
      this.#opening ??= this.#make().finally(() => {
        this.#opening = undefined
      })
      // Other writers that waited may have filled it before this one looks again.
      await this.#opening
    }
    // Nothing may be awaited between finding room and taking it.
    const batch = this.#open
    batch.named++
    batch.writers++
    if (batch.named >= this.#context.sizes.batchFilesMax) this.#end(batch)
    return {
      name: { batch: batch.id, file: timeOrderedId(this.#context.clock) },
      release: async () => {
        batch.writers--
        batch.lastWriteMs = this.#context.clock.now()
        this.#batches.wroteTo(batchIdOf('files', batch.id))
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

  /** Only when no writer is left. */
  async close(): Promise<void> {
    await this.endIdle(Number.POSITIVE_INFINITY)
  }

  /** Creates the marker before the directory, so that no crash leaves a file that the search for orphans would miss. */
  async #make(): Promise<void> {
    const { fs, layout, directories, clock } = this.#context
    const id = timeOrderedId(clock)
    await this.#batches.open(batchIdOf('files', id))
    try {
      await fs.mkdir(layout.batch(id))
      await directories.sync(layout.files)
    } catch (error) {
      await this.#batches.close(batchIdOf('files', id)).catch(() => {})
      throw error
    }
    this.#open = { id, named: 0, writers: 0, full: false, lastWriteMs: clock.now() }
  }

  #end(batch: OpenBatch): void {
    batch.full = true
    if (this.#open === batch) this.#open = undefined
  }

  async #closeWhenDone(batch: OpenBatch): Promise<void> {
    if (!batch.full || batch.writers > 0) return
    await this.#batches.close(batchIdOf('files', batch.id)).catch((error) => {
      this.#context.warn(`file batch ${batch.id} stays marked as open: ${String(error)}`)
    })
  }
}
