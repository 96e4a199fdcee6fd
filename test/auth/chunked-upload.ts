/** Uploads in each aws-chunked mode, encoded by the tests' own signer, and the way to decode them. */
import { AwsChunkedDecoder } from '../../src/auth/aws-chunked.ts'
import { openCredentials } from '../../src/auth/credentials.ts'
import { verify } from '../../src/auth/verify.ts'
import {
  encodeSignedChunks,
  encodeUnsignedChunks,
  exampleAccounts,
  exampleTime,
  type Headers,
  signHeaders,
} from './signer.ts'

type Prefix = 'x-amz-' | 'x-store-'
const credentials = openCredentials(exampleAccounts)
export const data = Buffer.from(Array.from({ length: 20_000 }, (_, i) => (i * 7) & 0xff))
export const chunks = [data.subarray(0, 8192), data.subarray(8192, 16_384), data.subarray(16_384)]
export const crcName = 'x-amz-checksum-crc32'
export const crc: Headers = [[crcName, 'DUoRhQ==']]

/** A signed PUT, its seed signature, and a fresh chain of chunk signatures for each decoder. */
export function signedUpload(prefix: Prefix, trailer: boolean) {
  const payload = `STREAMING-AWS4-HMAC-SHA256-PAYLOAD${trailer ? '-TRAILER' : ''}`
  const plain = { method: 'PUT', path: '/b/k', query: {}, headers: [['Host', 'h'] as const] }
  const { request, signature } = signHeaders(plain, payload, { prefix })
  const signatures = () => {
    const verified = verify(request, credentials, exampleTime)
    if (verified.payload.kind !== 'aws-chunked') throw new Error('the payload is not chunked')
    return verified.payload.signatures
  }
  return { seed: signature, signatures }
}

export const amz = signedUpload('x-amz-', true)

export interface DecodeOptions {
  signed: boolean
  decodedLength?: number
  trailerNames?: readonly string[] | undefined
  pieces?: number
}

export function decoderFor({ signed, decodedLength = data.length, trailerNames }: DecodeOptions): AwsChunkedDecoder {
  const signatures = signed ? amz.signatures() : undefined
  return new AwsChunkedDecoder({ decodedLength, signatures, trailerNames, prefix: 'x-amz-' })
}

export function decode(
  body: Buffer | string,
  options: DecodeOptions,
): { data: Buffer; trailers: Record<string, string> } {
  const decoder = decoderFor(options)
  const bytes = Buffer.from(body)
  const step = options.pieces ?? bytes.length
  const out: Buffer[] = []
  for (let at = 0; at < bytes.length; at += step) out.push(...decoder.push(bytes.subarray(at, at + step)))
  decoder.finish()
  return { data: Buffer.concat(out), trailers: Object.fromEntries(decoder.trailers) }
}

export const signedBody = encodeSignedChunks(chunks, amz.seed)
export const signedTrailerBody = encodeSignedChunks(chunks, amz.seed, { prefix: 'x-amz-', entries: crc })
export const unsignedBody = encodeUnsignedChunks(chunks, crc)

export const modes: readonly (readonly [string, Buffer, DecodeOptions, Record<string, string>])[] = [
  ['signed chunks', signedBody, { signed: true }, {}],
  ['signed chunks and trailers', signedTrailerBody, { signed: true, trailerNames: [crcName] }, Object.fromEntries(crc)],
  ['unsigned chunks and trailers', unsignedBody, { signed: false, trailerNames: [crcName] }, Object.fromEntries(crc)],
]
