/**
 * Where the bytes of a payload lie in the data shards of an erasure code. Pure geometry: no bytes, no coding.
 * A stripe is a unit of each shard. Its payload goes through the units of the data shards in turn; stripe follows stripe. The last stripe's units are only as
 * long as what is left needs, so that a tail costs no whole unit. All shards, parity too, are equally long: the last one of data may end with a few zeros.
 */

export interface StripeGeometry {
  /** Bytes of the payload. */
  size: number
  /** Data shards. */
  data: number
  /** Bytes of a unit in all stripes but the last. */
  unitBytes: number
}

/** From the first byte to one past the last. */
export interface Span {
  start: number
  end: number
}

export interface Stripe {
  index: number
  /** Its part of the payload. */
  payload: Span
  /** Bytes that each shard keeps of it. */
  unitBytes: number
  /** Where these begin in each shard. */
  shardStart: number
}

/** A part of the payload that lies in one unit of one data shard. */
export interface Piece extends Span {
  shard: number
  /** Where in the payload it begins; `start` and `end` are offsets in the shard. */
  payloadStart: number
}

const stripeBytes = ({ data, unitBytes }: StripeGeometry): number => data * unitBytes

export function stripeCount(geometry: StripeGeometry): number {
  return Math.ceil(geometry.size / stripeBytes(geometry))
}

/** Bytes of every shard. */
export function shardBytes(geometry: StripeGeometry): number {
  return stripeAt(geometry, stripeCount(geometry)).shardStart
}

/** The stripe after the last is empty. */
export function stripeAt(geometry: StripeGeometry, index: number): Stripe {
  const { size, data, unitBytes } = geometry
  const start = Math.min(size, index * stripeBytes(geometry))
  const end = Math.min(size, start + stripeBytes(geometry))
  const tail = Math.ceil((size % stripeBytes(geometry)) / data)
  const fullStripes = Math.floor(size / stripeBytes(geometry))
  return {
    index,
    payload: { start, end },
    unitBytes: Math.ceil((end - start) / data),
    shardStart: index <= fullStripes ? index * unitBytes : fullStripes * unitBytes + tail,
  }
}

/** The stripes that hold a range of the payload, in order. */
export function* stripesOf(geometry: StripeGeometry, range: Span): Iterable<Stripe> {
  assertRange(geometry, range)
  if (range.start === range.end) return
  const last = stripeHolding(geometry, range.end - 1).index
  for (let index = stripeHolding(geometry, range.start).index; index <= last; index++) yield stripeAt(geometry, index)
}

/** The pieces of a range of the payload, in order: together they are the range. */
export function* piecesOf(geometry: StripeGeometry, range: Span): Iterable<Piece> {
  for (const { payload, unitBytes, shardStart } of stripesOf(geometry, range)) {
    const end = Math.min(range.end, payload.end)
    let at = Math.max(range.start, payload.start)
    while (at < end) {
      const shard = Math.floor((at - payload.start) / unitBytes)
      const unitStart = payload.start + shard * unitBytes
      const pieceEnd = Math.min(end, unitStart + unitBytes)
      const offset = shardStart - unitStart
      yield { shard, start: at + offset, end: pieceEnd + offset, payloadStart: at }
      at = pieceEnd
    }
  }
}

/** The bytes of one data shard that hold a range of the payload, and nothing else: they lie together. Empty where it holds none. */
export function shardSpan(geometry: StripeGeometry, shard: number, range: Span): Span {
  assertRange(geometry, range)
  return { start: bytesBefore(geometry, shard, range.start), end: bytesBefore(geometry, shard, range.end) }
}

/** The smallest span that holds what any data shard keeps of a range: read from enough shards, it gives the range whatever is lost. */
export function commonSpan(geometry: StripeGeometry, range: Span): Span {
  const spans = Array.from({ length: geometry.data }, (_, shard) => shardSpan(geometry, shard, range))
  const filled = spans.filter(({ start, end }) => start < end)
  if (filled.length === 0) return { start: 0, end: 0 }
  return {
    start: Math.min(...filled.map(({ start }) => start)),
    end: Math.max(...filled.map(({ end }) => end)),
  }
}

/** How many bytes of a data shard come before a byte of the payload. */
function bytesBefore(geometry: StripeGeometry, shard: number, payloadOffset: number): number {
  const { payload, unitBytes, shardStart } = stripeHolding(geometry, payloadOffset)
  const inUnit = payloadOffset - payload.start - shard * unitBytes
  return shardStart + Math.min(unitBytes, Math.max(0, inUnit))
}

function stripeHolding(geometry: StripeGeometry, payloadOffset: number): Stripe {
  return stripeAt(geometry, Math.floor(payloadOffset / stripeBytes(geometry)))
}

function assertRange({ size }: StripeGeometry, { start, end }: Span): void {
  if (!(start >= 0 && start <= end && end <= size)) throw new RangeError(`no range ${start}-${end} of ${size} bytes`)
}
