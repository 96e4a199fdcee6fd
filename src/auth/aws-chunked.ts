/**
 * Decodes the `aws-chunked` content encoding as it streams, and verifies the signatures in it. Copies no data and owns no I/O.
 * It returns data before the chunk's signature is known, so commit nothing before `finish` returns.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html and sigv4-streaming-trailers.html
 */
import { createHash, type Hash, hash } from 'node:crypto'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { canonicalHeaderValue } from './canonical-request.ts'
import type { ChunkSignatures } from './sigv4.ts'

export interface AwsChunkedOptions {
  /** Total bytes of data in all chunks: `decoded-content-length`. */
  decodedLength: number
  /** Verifies the signatures of the chunks and of the trailers, if any. `undefined`: they are not signed. */
  signatures: ChunkSignatures | undefined
  /** Names that the `trailer` header announced, in lower case with prefix. `undefined`: the declared payload has no trailers. */
  trailerNames: readonly string[] | undefined
  /** The prefix of the request's dialect: `x-amz-` or `x-store-`. */
  prefix: string
}

/** A body that ends too early, or whose framing can't be read: S3 answers both alike, and a trailer that is no name and value. */
const incomplete = (reason: string): S3Error =>
  new S3Error('IncompleteBody', { message: 'The request body terminated unexpectedly', reason })

const malformedTrailer = (reason: string): S3Error => new S3Error('MalformedTrailerError', { reason })

/** What the next byte belongs to. After the final chunk, everything is `tail`: trailers and the empty line that ends them. */
type State = 'chunk-header' | 'data' | 'data-end' | 'tail' | 'failed' | 'finished'

const lineFeed = 0x0a
const unsignedHeader = /^([0-9a-f]{1,16})\r\n$/i
const signedHeader = /^([0-9a-f]{1,16});chunk-signature=([^;\r\n]*)\r\n$/i

export class AwsChunkedDecoder {
  readonly decodedLength: number
  readonly #signatures: ChunkSignatures | undefined
  readonly #trailerNames: readonly string[] | undefined
  readonly #signatureTrailer: string
  #state: State = 'chunk-header'
  /** The part received so far of a chunk's header, of the line end after its data, or of the tail. */
  #text = ''
  #chunkBytes = 0
  #chunkBytesLeft = 0
  #chunkSignature = ''
  #chunkHash: Hash | undefined
  #bytesLeft: number
  readonly #trailers = new Map<string, string>()

  constructor({ decodedLength, signatures, trailerNames, prefix }: AwsChunkedOptions) {
    this.decodedLength = decodedLength
    this.#bytesLeft = decodedLength
    this.#signatures = signatures
    this.#trailerNames = trailerNames
    this.#signatureTrailer = `${prefix}trailer-signature`
  }

  /** By lower-case name with prefix. Complete when `finish` has returned. */
  get trailers(): ReadonlyMap<string, string> {
    return this.#trailers
  }

  /** Returns the data in the next bytes of the body, as views of `bytes`. After an error, every further call throws. */
  push(bytes: Buffer): Buffer[] {
    return this.#failing(() => {
      const data: Buffer[] = []
      for (let at = 0; at < bytes.length; ) at = this.#take(bytes, at, data)
      return data
    })
  }

  /** The body has ended. Throws unless every chunk, signature and announced trailer came, and nothing else. */
  finish(): void {
    this.#failing(() => {
      if (this.#state !== 'tail') throw incomplete('the final chunk is missing')
      if (this.#trailerNames === undefined) {
        if (this.#text !== '\r\n') throw incomplete('the empty line after the final chunk is missing')
      } else this.#readTrailers(this.#trailerNames)
      this.#state = 'finished'
    })
  }

  #failing<T>(step: () => T): T {
    if (this.#state === 'failed') throw incomplete('it was refused before')
    try {
      return step()
    } catch (error) {
      this.#state = 'failed'
      throw error
    }
  }

  #take(bytes: Buffer, at: number, data: Buffer[]): number {
    switch (this.#state) {
      case 'chunk-header':
        return this.#takeHeader(bytes, at)
      case 'data':
        return this.#takeData(bytes, at, data)
      case 'data-end':
        return this.#takeDataEnd(bytes, at)
      case 'tail':
        return this.#takeTail(bytes, at)
      default:
        throw incomplete('bytes follow its end')
    }
  }
  #takeHeader(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(lineFeed, at)
    const stop = end < 0 ? bytes.length : end + 1
    this.#append(bytes, at, stop, limits.awsChunkHeaderBytesMax, 'the header of a chunk is too long')
    if (end >= 0) this.#startChunk(this.#takeText())
    return stop
  }

  #startChunk(header: string): void {
    const match = (this.#signatures === undefined ? unsignedHeader : signedHeader).exec(header)
    if (match === null) throw incomplete('the header of a chunk cannot be read')
    const [, size = '', claimedSignature = ''] = match
    const bytes = Number.parseInt(size, 16)
    if (bytes > this.#bytesLeft) throw incomplete('its data is longer than the decoded length that was announced')
    this.#checkSizeOfEarlierChunk(bytes)
    this.#chunkBytes = bytes
    this.#chunkBytesLeft = bytes
    this.#chunkSignature = claimedSignature
    this.#chunkHash = this.#signatures === undefined ? undefined : createHash('sha256')
    this.#state = 'data'
    if (bytes === 0) this.#endData()
  }

  /** Enforces S3's minimum size, only for signed chunks. SDKs that don't sign chunks make them as small as their source's reads. */
  #checkSizeOfEarlierChunk(bytes: number): void {
    const tooSmall = this.#chunkBytes > 0 && this.#chunkBytes < limits.signedChunkBytesMin
    if (tooSmall && bytes > 0 && this.#signatures !== undefined) throw new S3Error('InvalidChunkSizeError')
  }

  #takeData(bytes: Buffer, at: number, data: Buffer[]): number {
    const view = bytes.subarray(at, at + this.#chunkBytesLeft)
    this.#chunkHash?.update(view)
    this.#chunkBytesLeft -= view.length
    this.#bytesLeft -= view.length
    if (this.#chunkBytesLeft === 0) this.#endData()
    data.push(view)
    return at + view.length
  }

  /** Runs when all data of the chunk has come. */
  #endData(): void {
    const sha256 = this.#chunkHash?.digest('hex')
    if (sha256 !== undefined && this.#signatures?.acceptChunk(sha256, this.#chunkSignature) !== true) {
      throw new S3Error('SignatureDoesNotMatch')
    }
    const isFinal = this.#chunkBytes === 0
    if (isFinal && this.#bytesLeft > 0)
      throw incomplete('its data is shorter than the decoded length that was announced')
    this.#state = isFinal ? 'tail' : 'data-end'
  }

  #takeDataEnd(bytes: Buffer, at: number): number {
    const stop = Math.min(bytes.length, at + 2 - this.#text.length)
    this.#text += bytes.toString('latin1', at, stop)
    if (!'\r\n'.startsWith(this.#text)) throw incomplete('no line end follows the data of a chunk')
    if (this.#text.length < 2) return stop
    this.#text = ''
    this.#state = 'chunk-header'
    return stop
  }

  #takeTail(bytes: Buffer, at: number): number {
    if (this.#trailerNames === undefined) this.#append(bytes, at, bytes.length, 2, 'bytes follow its end')
    else this.#append(bytes, at, bytes.length, limits.trailerBytesMax, 'its trailers are too long')
    return bytes.length
  }

  #append(bytes: Buffer, at: number, stop: number, bytesMax: number, complaint: string): void {
    if (this.#text.length + stop - at > bytesMax) throw incomplete(complaint)
    this.#text += bytes.toString('latin1', at, stop)
  }

  #takeText(): string {
    const text = this.#text
    this.#text = ''
    return text
  }

  /**
   * Requires only the end of the last line: clients differ in line ends, some put an empty line before the signature, and some none
   * after the trailers, which S3 takes too. The length of the body tells whether all of it came.
   */
  #readTrailers(announced: readonly string[]): void {
    const tail = this.#takeText()
    if (tail !== '' && !tail.endsWith('\r\n')) throw incomplete('the last line of the trailers has no end')
    let canonical = ''
    let claimedSignature: string | undefined
    for (const line of tail.split(/\r?\n/)) {
      if (line === '') continue
      const { name, value } = parseTrailer(line)
      if (this.#signatures !== undefined && name === this.#signatureTrailer && claimedSignature === undefined) {
        claimedSignature = value
        continue
      }
      if (!announced.includes(name)) throw malformedTrailer(`${name} was not announced`)
      if (this.#trailers.has(name)) throw malformedTrailer(`${name} came twice`)
      this.#trailers.set(name, value)
      canonical += `${name}:${value}\n`
    }
    const missing = announced.find((name) => !this.#trailers.has(name))
    if (missing !== undefined) throw malformedTrailer(`${missing} is missing`)
    this.#verifyTrailers(canonical, claimedSignature)
  }

  #verifyTrailers(canonical: string, claimedSignature: string | undefined): void {
    if (this.#signatures === undefined) return
    if (claimedSignature === undefined) throw incomplete(`${this.#signatureTrailer} is missing`)
    const sha256 = hash('sha256', Buffer.from(canonical, 'latin1'))
    if (!this.#signatures.acceptTrailer(sha256, claimedSignature)) throw new S3Error('SignatureDoesNotMatch')
  }
}

function parseTrailer(line: string): { name: string; value: string } {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9a-z-]+):([^\r]*)$/i.exec(line) ?? []
  if (name === undefined || value === undefined) throw incomplete('a trailer is not a name and a value')
  return { name: name.toLowerCase(), value: canonicalHeaderValue(value) }
}

/** The names in a `trailer` header, in the form that `AwsChunkedOptions` takes. */
export function parseTrailerNames(value: string | undefined): string[] {
  const names = (value ?? '').split(',').map((name) => name.trim().toLowerCase())
  return names.filter((name) => name !== '')
}
