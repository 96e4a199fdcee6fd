/** A request's data as an operation reads it: with a known length, without its aws-chunked framing, and compared with its signature. */
import { AwsChunkedDecoder, parseTrailerNames } from '../../auth/aws-chunked.ts'
import { awsChunkedSource, sha256Source } from '../../auth/payload.ts'
import type { Payload } from '../../auth/verify.ts'
import { type ByteSource, bytesSource, type ClaimedSource } from '../../byte-source.ts'
import { checksumFields } from '../../checksums/checksums.ts'
import type { RequestBody } from '../../contract/fields.ts'
import { invalidArgument, notImplemented, S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { singleValue, type VendorValues } from '../dialect.ts'
import type { Exchange } from '../exchange.ts'
import type { RequestHead } from '../request-head.ts'

type Chunked = Extract<Payload, { kind: 'aws-chunked' }>

/**
 * Throws MissingContentLength when the length of the data is not announced, InvalidArgument when it is not a number, and
 * MalformedTrailerError for trailers that the body can't have.
 */
export function openBody(
  exchange: Exchange,
  head: RequestHead,
  vendorValues: VendorValues,
  payload: Payload,
): RequestBody {
  if (payload.kind !== 'aws-chunked' || !payload.trailer) refuseTrailers(vendorValues)
  if (payload.kind === 'aws-chunked') return openChunked(exchange, head, vendorValues, payload)
  const size = head.contentLength
  // Chunked transfer alone does not announce the length, which S3 requires.
  if (size === undefined) throw new S3Error('MissingContentLength')
  const wire = size === 0 ? bytesSource(Buffer.alloc(0)) : wireSource(exchange, size)
  const source: ClaimedSource = payload.kind === 'sha256' ? sha256Source(wire, payload.hex) : wire
  return {
    size: source.size,
    drain: (sink) => source.drain(sink),
    read: () => source.read(),
    cancel: () => source.cancel(),
    unchecked: source.unchecked,
    trailerNames: noTrailers,
    trailer: () => undefined,
  }
}

const noTrailers: readonly string[] = []

/** A client that announces a checksum behind its data relies on it. Where no declared framing has room for one, the framing could be stored as data, too. */
function refuseTrailers(vendorValues: VendorValues): void {
  const names = parseTrailerNames(vendorValues.get('trailer')?.value)
  if (names.length > 0)
    throw new S3Error('MalformedTrailerError', { reason: 'the body is not declared to have trailers' })
}

function openChunked(
  exchange: Exchange,
  head: RequestHead,
  vendorValues: VendorValues,
  { signatures, trailer }: Chunked,
): RequestBody {
  const { prefix } = head.dialect
  const decodedLength = readDecodedLength(vendorValues)
  const trailerNames = trailer ? parseTrailerNames(vendorValues.get('trailer')?.value) : undefined
  for (const name of trailerNames ?? []) checkTrailerName(name, prefix)
  const decoder = new AwsChunkedDecoder({ decodedLength, signatures, trailerNames, prefix })
  // With chunked transfer the length on the wire is unknown. The decoder checks the length of the data.
  const { contentLength = limits.uploadBytesHeld } = head
  const holding = (bytes: number): ByteSource => awsChunkedSource(wireSource(exchange, contentLength, bytes), decoder)
  return {
    size: decodedLength,
    drain: (sink) => holding(Math.min(contentLength, limits.uploadBytesHeld)).drain(sink),
    read: () => collect(holding(decodedLength).drain, decodedLength),
    cancel: () => {},
    trailerNames: trailerNames?.map((name) => name.slice(prefix.length)) ?? [],
    trailer: (name) => decoder.trailers.get(prefix + name),
  }
}

const checksumTrailers: ReadonlySet<string> = new Set(Object.values(checksumFields).map(({ header }) => header))

/** Refuses a trailer that the server does not read, because a check that the client relies on would never happen. */
function checkTrailerName(name: string, prefix: string): void {
  const unprefixed = name.startsWith(prefix) ? name.slice(prefix.length) : ''
  if (checksumTrailers.has(unprefixed)) return
  if (unprefixed.startsWith('checksum-')) throw notImplemented(name)
  throw new S3Error('InvalidRequest', {
    message: `The value specified in the ${prefix}trailer header is not supported: ${name}`,
  })
}

/** `heldBytes`: how many bytes of the body stay in memory while it is drained. */
function wireSource({ body }: Exchange, size: number, heldBytes = Math.min(size, limits.uploadBytesHeld)): ByteSource {
  return {
    size,
    drain: (sink) => body.drain(sink, heldBytes),
    read: () => {
      const whole = body.takeWhole(size)
      return whole === undefined ? collect((sink) => body.drain(sink, size), size) : Promise.resolve(whole)
    },
    // `afterwards` decides what happens to the unread rest when the answer is sent.
    cancel: () => {},
  }
}

/** Copies nothing when the body comes in one piece, as small ones do. */
async function collect(drain: ByteSource['drain'], size: number): Promise<Buffer> {
  let whole: Buffer | undefined
  let filled = 0
  await drain((chunk) => {
    if (chunk.length === size) whole = chunk
    else {
      whole ??= Buffer.allocUnsafe(size)
      chunk.copy(whole, filled)
    }
    filled += chunk.length
  })
  return whole ?? Buffer.alloc(0)
}

function readDecodedLength(vendorValues: VendorValues): number {
  const sent = vendorValues.get('decoded-content-length')
  if (sent === undefined) throw new S3Error('MissingContentLength')
  const value = singleValue(sent)
  if (!/^\d{1,15}$/.test(value)) {
    throw invalidArgument(sent.sentName, value, `${sent.sentName} must be a number of bytes.`)
  }
  return Number(value)
}
