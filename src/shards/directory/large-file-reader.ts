/** Reads a range of one large shard: whole checksum blocks, verified before a byte of them is given out. */
import { type ByteSink, type ByteSource, bytesSource } from '../../byte-source.ts'
import type { ChunkPool } from '../../chunk-pool.ts'
import type { FileHandle } from '../fs.ts'
import { checkRange } from '../shard-contract.ts'
import { ShardDamaged, type ShardId, type ShardRange } from '../shard-store.ts'
import { damagedBlock } from './block-checksums.ts'
import { closeQuietly } from './context.ts'
import { storeFailure, unreadable } from './failures.ts'
import { type Footer, footerBytesOf, readFooter, usualFooterBytes } from './large-file-format.ts'
import type { FileAddress } from './shard-ids.ts'

const readsInFlightMax = 2

export interface ReadSizes {
  /** Ranges up to this are read whole at once. */
  smallShardBytesMax: number
  checksumBlockBytes: number
}

/** Reads and verifies the footer. One read, unless the description is unusually long. */
export async function readFooterOf(
  id: ShardId,
  file: FileHandle,
  address: FileAddress,
  blockBytes: number,
): Promise<Footer> {
  let tail = await readTail(id, file, address, usualFooterBytes(address.bytes, blockBytes))
  const footerBytes = footerBytesOf(tail, address)
  if (typeof footerBytes === 'string') throw new ShardDamaged(id, footerBytes)
  if (footerBytes > tail.length) tail = await readTail(id, file, address, footerBytes)
  const footer = readFooter(tail.subarray(tail.length - footerBytes))
  if (typeof footer === 'string') throw new ShardDamaged(id, footer)
  return footer
}

async function readTail(id: ShardId, file: FileHandle, address: FileAddress, bytes: number): Promise<Buffer> {
  const tail = Buffer.allocUnsafe(bytes)
  if ((await file.read(tail, address.bytes - bytes)) < bytes) throw new ShardDamaged(id, 'the file is too short')
  return tail
}

/** Takes over `file`, which is closed when the source is done with. */
export async function readLargeFile(
  file: FileHandle,
  shard: { id: ShardId; address: FileAddress },
  range: ShardRange,
  chunks: ChunkPool,
  sizes: ReadSizes,
): Promise<ByteSource> {
  const { id, address } = shard
  try {
    const footer = await readFooterOf(id, file, address, sizes.checksumBlockBytes)
    checkRange(range, footer.payloadBytes)
    const source = new LargeFileSource(file, id, footer, range, chunks)
    return range.end - range.start > sizes.smallShardBytesMax ? source : bytesSource(await source.read())
  } catch (error) {
    await closeQuietly(file)
    throw unreadable(id, storeFailure(error))
  }
}

/** One read of whole blocks, of which `from` to `to` are asked for. */
interface BlockRead {
  chunk: Buffer
  position: number
  bytes: number
  from: number
  to: number
  done: Promise<void>
}

class LargeFileSource implements ByteSource {
  readonly size: number
  readonly #file: FileHandle
  readonly #id: ShardId
  readonly #footer: Footer
  readonly #range: ShardRange
  readonly #chunks: ChunkPool
  #state: 'fresh' | 'reading' | 'done' = 'fresh'
  #cancelled = false

  constructor(file: FileHandle, id: ShardId, footer: Footer, range: ShardRange, chunks: ChunkPool) {
    this.size = range.end - range.start
    this.#file = file
    this.#id = id
    this.#footer = footer
    this.#range = range
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
        this.#verify(read)
        ahead.shift()
        // While the sink works on this chunk the next ones are being read.
        await this.#giveTo(sink, read)
      }
    } finally {
      await Promise.allSettled(ahead.map(({ done }) => done))
      for (const { chunk } of ahead) this.#chunks.give(chunk)
      this.#state = 'done'
      await closeQuietly(this.#file)
    }
  }

  async read(): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(this.size)
    let at = 0
    await this.drain((chunk) => {
      at += chunk.copy(bytes, at)
    })
    return bytes
  }

  cancel(): void {
    this.#cancelled = true
    if (this.#state !== 'fresh') return
    this.#state = 'done'
    void closeQuietly(this.#file)
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
    const { start, end } = this.#range
    const { blockBytes, payloadBytes } = this.#footer
    const last = Math.min(Math.ceil(end / blockBytes) * blockBytes, payloadBytes)
    const chunkBytes = Math.max(1, Math.floor(this.#chunks.chunkBytes / blockBytes)) * blockBytes
    let position = Math.floor(start / blockBytes) * blockBytes
    while (position < last && start < end) {
      const chunk = this.#chunks.take(chunkBytes)
      const bytes = Math.min(chunkBytes, last - position)
      const done = this.#fill(chunk.subarray(0, bytes), position)
      // Handled where it is awaited; a failure must not count as unhandled until then.
      done.catch(() => {})
      yield { chunk, position, bytes, from: Math.max(0, start - position), to: Math.min(bytes, end - position), done }
      position += bytes
    }
  }

  async #fill(bytes: Buffer, position: number): Promise<void> {
    const filled = await this.#file.read(bytes, position).catch((error) => {
      throw unreadable(this.#id, error)
    })
    if (filled < bytes.length) throw new ShardDamaged(this.#id, 'the file is too short')
  }

  #verify({ chunk, position, bytes }: BlockRead): void {
    const { blockBytes, table } = this.#footer
    const damaged = damagedBlock(chunk.subarray(0, bytes), blockBytes, table, position / blockBytes)
    if (damaged !== undefined) throw new ShardDamaged(this.#id, `block ${damaged} is damaged`)
  }
}
