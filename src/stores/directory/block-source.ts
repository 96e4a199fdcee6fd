/**
 * A range of a large shard, read chunk by chunk while it is sent: the next chunk is read while the sink works on the last one. For a slow sink, or under memory pressure,
 * chunks are small and none is read ahead, because there can be thousands of readers.
 */
import { type ByteSink, type ByteSource, drained } from '../../byte-source.ts'
import type { ChunkPool } from '../../chunk-pool.ts'
import { limits } from '../../limits.ts'
import type { BlockRange } from './open-range.ts'

const readsInFlightMax = 2

/** One read of whole blocks, of which the caller wants `from` to `to`. */
interface BlockRead {
  chunk: Buffer
  position: number
  bytes: number
  from: number
  to: number
  done: Promise<void>
}

export class BlockSource implements ByteSource {
  readonly size: number
  readonly #open: BlockRange
  readonly #chunks: ChunkPool
  #state: 'fresh' | 'reading' | 'done' = 'fresh'
  #cancelled = false
  #isSlow = false

  /** Takes over `open`, and releases it when the source has ended. */
  constructor(open: BlockRange, chunks: ChunkPool) {
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
        while (ahead.length < this.#readsInFlight()) {
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

  #readsInFlight(): number {
    return this.#isSlow || !this.#chunks.hasPlenty ? 1 : readsInFlightMax
  }

  async #giveTo(sink: ByteSink, { chunk, from, to }: BlockRead): Promise<void> {
    const startedMs = performance.now()
    try {
      await sink(chunk.subarray(from, to))
    } finally {
      this.#chunks.give(chunk)
    }
    this.#isSlow = performance.now() - startedMs > limits.slowChunkMs
  }

  /** With room for at least one block. */
  #takeChunk(blockBytes: number): Buffer {
    const chunk = this.#chunks.takeFitting(this.#isSlow)
    if (chunk.length >= blockBytes) return chunk
    this.#chunks.give(chunk)
    return this.#chunks.take(blockBytes)
  }

  /** Starts one read each time the next one is requested. */
  *#reads(): Generator<BlockRead> {
    const { range, blocks, blockBytes } = this.#open
    for (let position = blocks.start; position < blocks.end; ) {
      const chunk = this.#takeChunk(blockBytes)
      const wholeBlocks = chunk.length - (chunk.length % blockBytes)
      const bytes = Math.min(wholeBlocks, blocks.end - position)
      const done = this.#open.fill(chunk.subarray(0, bytes), position)
      // Handled where it is awaited; until then a failure must not count as unhandled.
      done.catch(() => {})
      const from = Math.max(0, range.start - position)
      yield { chunk, position, bytes, from, to: Math.min(bytes, range.end - position), done }
      position += bytes
    }
  }
}
