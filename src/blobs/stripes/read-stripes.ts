/**
 * Reads a range of a blob from the shards of an erasure code. When all data shards can be read, it reads their units in turn and computes nothing. Otherwise it
 * computes each stripe's lost units from any sufficient set of shards. All bytes it gives out were verified by the stores, or computed from verified bytes.
 */
import { type ByteSink, type ByteSource, drained } from '../../byte-source.ts'
import type { CopyReading } from '../copies/read-copies.ts'
import type { ErasureCode } from '../erasure/code.ts'
import { commonSpan, piecesOf, type Span, shardSpan, stripesOf } from '../erasure/stripes.ts'
import type { Coding } from '../manifest.ts'
import { type ReadableShard, ShardsLeft } from './open-shards.ts'
import { PulledSource } from './pulled-source.ts'

export interface StripesReading extends CopyReading {
  coding: Coding
  code: () => ErasureCode
  /** Shards to ask last. */
  askLast?: readonly number[]
}

/** Rejects when too few shards can be opened: with `ShardMissing` or `ShardDamaged`, or with ServiceUnavailable when others may come back. */
export async function readStripes(
  shards: readonly ReadableShard[],
  range: Span,
  reading: StripesReading,
): Promise<ByteSource> {
  const left = new ShardsLeft(shards)
  for (const index of reading.askLast ?? []) left.markSlow(index)
  return new StripesSource(left, range, reading, await openAttempt(left, range, reading))
}

/** Shards that are open for the rest of the range. */
interface Attempt {
  range: Span
  sources: ReadonlyMap<number, PulledSource>
  /** Data shards to compute from `sources`; none when the data shards can be read directly. */
  lost: readonly number[]
}

async function openAttempt(left: ShardsLeft, range: Span, reading: StripesReading): Promise<Attempt> {
  const { coding } = reading
  for (;;) {
    const { indexes } = left
    if (indexes.length < coding.data) throw left.error
    const needed = spansOf(coding, range)
    const chosen = indexes.slice(0, coding.data)
    const lost = [...needed.keys()].filter((index) => !chosen.includes(index))
    const common = commonSpan(coding, range)
    const wanted = lost.length === 0 ? needed : new Map(chosen.map((index) => [index, common]))
    const mayRace = indexes.filter((index) => !left.isSlow(index)).length > coding.data
    const opened = await left.open(wanted, mayRace, reading)
    if (opened === undefined) continue
    const sources = new Map([...opened].map(([index, source]) => [index, new PulledSource(source, reading.stallMs)]))
    return { range, sources, lost }
  }
}

/** The span of the range in each data shard that holds part of it. */
function spansOf(coding: Coding, range: Span): Map<number, Span> {
  const spans = Array.from({ length: coding.data }, (_, index) => [index, shardSpan(coding, index, range)] as const)
  return new Map(spans.filter(([, { start, end }]) => start < end))
}

/** Marks a failure of a shard, as opposed to one of the sink. */
class ShardFailed extends Error {
  readonly index: number
  constructor(index: number, cause: unknown) {
    super('a shard failed', { cause })
    this.index = index
  }
}

class StripesSource implements ByteSource {
  readonly size: number
  readonly #left: ShardsLeft
  readonly #reading: StripesReading
  readonly #range: Span
  #attempt: Attempt
  #given = 0
  #isCancelled = false
  /** The sink still uses the lent bytes, so their source must not reuse them yet. */
  #isGiving = false

  constructor(left: ShardsLeft, range: Span, reading: StripesReading, attempt: Attempt) {
    this.size = range.end - range.start
    this.#left = left
    this.#reading = reading
    this.#range = range
    this.#attempt = attempt
  }

  async drain(sink: ByteSink): Promise<void> {
    const give: ByteSink = async (bytes) => {
      this.#isGiving = true
      await sink(bytes)
      this.#isGiving = false
      if (this.#isCancelled) throw new Error('the read was cancelled')
      this.#given += bytes.length
    }
    for (;;) {
      try {
        const { lost } = this.#attempt
        await (lost.length === 0 ? this.#giveInTurns(give) : this.#giveComputed(give))
        this.#close()
        return
      } catch (error) {
        this.#close()
        if (!(error instanceof ShardFailed) || this.#isCancelled) throw error
        this.#left.fail(error.index, error.cause)
      }
      // All bytes up to here were given as whole, verified pieces. Other shards continue.
      const rest = { start: this.#range.start + this.#given, end: this.#range.end }
      this.#attempt = await openAttempt(this.#left, rest, this.#reading)
      if (this.#isCancelled) this.#close()
    }
  }

  read(): Promise<Buffer> {
    return drained(this)
  }

  cancel(): void {
    this.#isCancelled = true
    if (!this.#isGiving) this.#close()
  }

  #close(): void {
    for (const source of this.#attempt.sources.values()) source.cancel()
  }

  async #giveInTurns(give: ByteSink): Promise<void> {
    const { range, sources } = this.#attempt
    for (const { shard, start, end } of piecesOf(this.#reading.coding, range)) {
      for (let at = start; at < end; ) {
        const bytes = await ofShard(shard, sources.get(shard)?.next(end - at))
        await give(bytes)
        at += bytes.length
      }
    }
  }

  async #giveComputed(give: ByteSink): Promise<void> {
    const { range, sources, lost } = this.#attempt
    const { coding } = this.#reading
    const code = this.#reading.code()
    const computation = code.reconstruction(coding, [...sources.keys()], lost)
    const { start, end } = commonSpan(coding, range)
    for (const { payload, shardStart, unitBytes } of stripesOf(coding, range)) {
      const columns = { start: Math.max(start, shardStart), end: Math.min(end, shardStart + unitBytes) }
      const blocks = await blocksOf(sources, columns.end - columns.start)
      const computed = await code.apply(coding, computation, blocks)
      for (const [i, block] of computed.entries()) blocks.set(lost[i] ?? 0, block)
      const wanted = { start: Math.max(range.start, payload.start), end: Math.min(range.end, payload.end) }
      for (const piece of piecesOf(coding, wanted)) {
        const block = blocks.get(piece.shard)
        if (block === undefined) throw new Error(`shard ${piece.shard} was neither read nor computed`)
        await give(block.subarray(piece.start - columns.start, piece.end - columns.start))
      }
    }
  }
}

/** Takes the next bytes of each shard. */
export async function blocksOf(
  sources: ReadonlyMap<number, PulledSource>,
  blockBytes: number,
): Promise<Map<number, Buffer>> {
  const blocks = new Map([...sources.keys()].map((shard) => [shard, Buffer.allocUnsafe(blockBytes)]))
  await Promise.all([...blocks].map(([shard, block]) => ofShard(shard, sources.get(shard)?.fill(block))))
  return blocks
}

async function ofShard<T>(shard: number, work: Promise<T> | undefined): Promise<T> {
  if (work === undefined) throw new Error(`shard ${shard} is not open`)
  try {
    return await work
  } catch (error) {
    throw new ShardFailed(shard, error)
  }
}
