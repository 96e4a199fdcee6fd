/**
 * Reads a range of a blob from the shards of an erasure code: where the data shards are there, their units in turn and nothing computed; else any that are
 * enough, from which each stripe's lost units are computed. What is given out was verified by the stores, or computed from what was.
 */
import { type ByteSink, type ByteSource, drained } from '../byte-source.ts'
import type { ErasureCode } from './erasure/code.ts'
import { commonSpan, piecesOf, type Span, shardSpan, stripesOf } from './erasure/stripes.ts'
import type { Coding } from './manifest.ts'
import { type ReadableShard, ShardsLeft } from './open-shards.ts'
import { PulledSource } from './pulled-source.ts'
import type { CopyReading } from './read-copies.ts'

export interface StripesReading extends CopyReading {
  coding: Coding
  code: () => ErasureCode
  /** Shards to be asked last. */
  late?: readonly number[]
}

/** Rejects when too few shards can be opened: with `ShardMissing` or `ShardDamaged`, or ServiceUnavailable when others may come back. */
export async function readStripes(
  shards: readonly ReadableShard[],
  range: Span,
  reading: StripesReading,
): Promise<ByteSource> {
  const left = new ShardsLeft(shards)
  for (const index of reading.late ?? []) left.late(index)
  return new StripesSource(left, range, reading, await openAttempt(left, range, reading))
}

/** Shards opened for what is still to be read. */
interface Attempt {
  range: Span
  sources: ReadonlyMap<number, PulledSource>
  /** Data shards that are computed from `sources`; none when the bytes are read as they lie. */
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
    const mayRace = indexes.filter((index) => !left.isLate(index)).length > coding.data
    const opened = await left.open(wanted, mayRace, reading)
    if (opened === undefined) continue
    const sources = new Map([...opened].map(([index, source]) => [index, new PulledSource(source, reading.stallMs)]))
    return { range, sources, lost }
  }
}

/** What the data shards hold of a range: those that hold none are left out. */
function spansOf(coding: Coding, range: Span): Map<number, Span> {
  const spans = Array.from({ length: coding.data }, (_, index) => [index, shardSpan(coding, index, range)] as const)
  return new Map(spans.filter(([, { start, end }]) => start < end))
}

/** A shard's own failure, as opposed to one of who takes the bytes. */
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
  /** Bytes are lent on: their source must not have them back yet. */
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
      // Whole, verified pieces were given until here; others go on.
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

/** The next bytes of each shard. */
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
