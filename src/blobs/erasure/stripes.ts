/**
 * Where the bytes of a payload lie in the data shards of an erasure code. Pure geometry: no bytes, no coding.
 * A stripe is one unit of each shard. Its payload fills the units of the data shards in turn; stripe follows stripe. The units of the last stripe are only as
 * long as the rest of the payload needs, so that a tail costs no whole unit. All shards, parity too, have the same length: the last data shards may end with a few zeros.
 */

export interface StripeGeometry {
  /** Bytes of the payload. */
  size: number
  /** Number of data shards. */
  data: number
  /** Bytes of a unit in every stripe but the last. */
  unitBytes: number
}

/** From the first byte to one past the last. */
export interface Span {
  start: number
  end: number
}

export interface Stripe {
  index: number
  /** The part of the payload in this stripe. */
  payload: Span
  /** Bytes that each shard keeps of this stripe. */
  unitBytes: number
  /** Where these bytes begin in each shard. */
  shardStart: number
}

/** A part of the payload that lies in one unit of one data shard. */
export interface Piece extends Span {
  shard: number
  /** Where the piece begins in the payload; `start` and `end` are offsets in the shard. */
  payloadStart: number
}

const stripeBytes = ({ data, unitBytes }: StripeGeometry): number => data * unitBytes

export function stripeCount(geometry: StripeGeometry): number {
  return Math.ceil(geometry.size / stripeBytes(geometry))
}

/** Bytes of each shard. */
export function shardBytes(geometry: StripeGeometry): number {
  return stripeAt(geometry, stripeCount(geometry)).shardStart
}

/** The stripe after the last one is empty. */
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

/** The pieces of a range of the payload, in order. Together they are the range. */
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

/** The bytes of one data shard that hold its part of a range: they are contiguous. Empty where the shard holds none. */
export function shardSpan(geometry: StripeGeometry, shard: number, range: Span): Span {
  assertRange(geometry, range)
  return { start: bytesBefore(geometry, shard, range.start), end: bytesBefore(geometry, shard, range.end) }
}

/** The smallest span that holds every data shard's part of a range. Reading it from enough shards yields the range, whichever are lost. */
export function commonSpan(geometry: StripeGeometry, range: Span): Span {
  const spans = Array.from({ length: geometry.data }, (_, shard) => shardSpan(geometry, shard, range))
  const filled = spans.filter(({ start, end }) => start < end)
  if (filled.length === 0) return { start: 0, end: 0 }
  return {
    start: Math.min(...filled.map(({ start }) => start)),
    end: Math.max(...filled.map(({ end }) => end)),
  }
}

/** How many bytes of a data shard come before a given byte of the payload. */
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
