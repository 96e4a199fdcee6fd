/** A range of a large shard that is read chunk by chunk while it is sent: the next ones are read while the sink works on one. */
import { type ByteSink, type ByteSource, drained } from '../../byte-source.ts'
import type { ChunkPool } from '../../chunk-pool.ts'
import type { OpenRange } from './open-range.ts'

const readsInFlightMax = 2

/** One read of whole blocks, of which `from` to `to` are asked for. */
interface BlockRead {
  chunk: Buffer
  position: number
  bytes: number
  from: number
  to: number
  done: Promise<void>
}

export class LargeFileSource implements ByteSource {
  readonly size: number
  readonly #open: OpenRange
  readonly #chunks: ChunkPool
  #state: 'fresh' | 'reading' | 'done' = 'fresh'
  #cancelled = false

  /** Takes over `open`, which is released when the source is done with. */
  constructor(open: OpenRange, chunks: ChunkPool) {
    this.size = open.range.end - open.range.start
    this.#open = open
    this.#chunks = chunks
  }

  async drain(sink: ByteSink): Promise<void> {
    if (this.#state !== 'fresh') throw new Error('a source is consumed once')
    this.#state = 'reading'
    const reads = this.#reads()
    const ahead: BlockRead[] = []
    try {
      for (;;) {
        while (ahead.length < readsInFlightMax) {
          const next = reads.next()
          if (next.done === true) break
          ahead.push(next.value)
        }
        const read = ahead[0]
        if (read === undefined) return
        await read.done
        if (this.#cancelled) throw new Error('the read was cancelled')
        this.#open.verify(read.chunk.subarray(0, read.bytes), read.position)
        ahead.shift()
        await this.#giveTo(sink, read)
      }
    } finally {
      await Promise.allSettled(ahead.map(({ done }) => done))
      for (const { chunk } of ahead) this.#chunks.give(chunk)
      this.#state = 'done'
      this.#open.release()
    }
  }

  read(): Promise<Buffer> {
    return drained(this)
  }

  cancel(): void {
    this.#cancelled = true
    if (this.#state !== 'fresh') return
    this.#state = 'done'
    this.#open.release()
  }

  async #giveTo(sink: ByteSink, { chunk, from, to }: BlockRead): Promise<void> {
    try {
      await sink(chunk.subarray(from, to))
    } finally {
      this.#chunks.give(chunk)
    }
  }

  /** Starts one read each time it is asked. */
  *#reads(): Generator<BlockRead> {
    const { range, blocks, blockBytes } = this.#open
    const chunkBytes = Math.max(1, Math.floor(this.#chunks.chunkBytes / blockBytes)) * blockBytes
    for (let position = blocks.start; position < blocks.end; position += chunkBytes) {
      const chunk = this.#chunks.take(chunkBytes)
      const bytes = Math.min(chunkBytes, blocks.end - position)
      const done = this.#open.fill(chunk.subarray(0, bytes), position)
      // Handled where it is awaited; a failure must not count as unhandled until then.
      done.catch(() => {})
      const from = Math.max(0, range.start - position)
      yield { chunk, position, bytes, from, to: Math.min(bytes, range.end - position), done }
    }
  }
}
