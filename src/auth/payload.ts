/** How a request's body is sent and protected: the declaration that the signature covers, and sources that compare the body with it. */
import { createHash, hash } from 'node:crypto'
import type { ByteSource, ClaimedSource } from '../byte-source.ts'
import { invalidArgument, notImplemented, S3Error } from '../errors.ts'
import type { AwsChunkedDecoder } from './aws-chunked.ts'

/** A value of `content-sha256`. */
export type DeclaredPayload =
  /** Sent as it is, and not covered by the signature. */
  | { kind: 'unsigned' }
  /** Sent as it is. `hex` is its SHA-256 in lower case: check it with `sha256Source`. */
  | { kind: 'sha256'; hex: string }
  /** Sent in chunks that frame the data, with or without trailers. Decode it with `awsChunkedSource`. */
  | { kind: 'aws-chunked'; signed: boolean; trailer: boolean }

const declarations: ReadonlyMap<string, DeclaredPayload> = new Map([
  ['UNSIGNED-PAYLOAD', { kind: 'unsigned' }],
  ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', { kind: 'aws-chunked', signed: true, trailer: false }],
  ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', { kind: 'aws-chunked', signed: true, trailer: true }],
  ['STREAMING-UNSIGNED-PAYLOAD-TRAILER', { kind: 'aws-chunked', signed: false, trailer: true }],
])

/** `name`: the client's name for the value, used in errors. Throws InvalidArgument, and NotImplemented for ECDSA signatures. */
export function parseDeclaredPayload(value: string, name: string): DeclaredPayload {
  if (value.length === 64 && /^[0-9a-f]+$/i.test(value)) return { kind: 'sha256', hex: value.toLowerCase() }
  const declared = declarations.get(value)
  if (declared !== undefined) return declared
  if (value.startsWith('STREAMING-AWS4-ECDSA-')) throw notImplemented(value)
  throw invalidArgument(name, value, `${name} must be ${[...declarations.keys()].join(', ')} or a valid sha256 value.`)
}

/** Wraps `source`: rejects with XAmzContentSHA256Mismatch at the end if the bytes have another SHA-256. */
export function sha256Source(source: ByteSource, expectedHex: string): ClaimedSource {
  const check = (computedHex: string): void => {
    if (computedHex === expectedHex) return
    throw new S3Error('XAmzContentSHA256Mismatch', {
      details: { ClientComputedContentSHA256: expectedHex, S3ComputedContentSHA256: computedHex },
    })
  }
  return {
    size: source.size,
    drain: async (sink) => {
      const digest = createHash('sha256')
      await source.drain((chunk) => {
        digest.update(chunk)
        return sink(chunk)
      })
      check(digest.digest('hex'))
    },
    read: async () => {
      const bytes = await source.read()
      check(hash('sha256', bytes))
      return bytes
    },
    cancel: () => source.cancel(),
    unchecked: { source, check: (sha256) => check(sha256.toString('hex')) },
  }
}

/** The data that `encoded` frames. Rejects with what the decoder throws. `encoded` need not know its own size. */
export function awsChunkedSource(encoded: ByteSource, decoder: AwsChunkedDecoder): ByteSource {
  return {
    size: decoder.decodedLength,
    drain: async (sink) => {
      await encoded.drain((chunk) => {
        const [piece, ...later] = decoder.push(chunk)
        if (piece === undefined) return
        if (later.length === 0) return sink(piece)
        return inTurn(piece, later)
      })
      decoder.finish()

      async function inTurn(first: Buffer, others: readonly Buffer[]): Promise<void> {
        await sink(first)
        for (const other of others) await sink(other)
      }
    },
    read: async () => {
      const pieces = decoder.push(await encoded.read())
      decoder.finish()
      return Buffer.concat(pieces)
    },
    cancel: () => encoded.cancel(),
  }
}
