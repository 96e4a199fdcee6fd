/** The matrix of checksums: which there are, how each may travel, and what may be wrong with it. Operations make rows of it. */
import type { ErrorCode } from '../../src/errors.ts'
import { type Algorithm, algorithms, md5Base64, md5Hex, referenceChecksum, referenceDigest } from './wire-checksums.ts'
import type { Ask, ChunkedPayload, Wire } from './wire-client.ts'
import type { Facts } from './wire-rows.ts'
import { readXml } from './wire-xml.ts'

export const headerOf = (algorithm: Algorithm): string => `checksum-${algorithm.toLowerCase()}`
export const elementOf = (algorithm: Algorithm): string => `Checksum${algorithm}`

export type ChecksumType = 'COMPOSITE' | 'FULL_OBJECT'

/** What an upload may ask for; the first of an algorithm is what it gets without saying a type. */
export const uploadChecksums: readonly [Algorithm, ChecksumType][] = [
  ['CRC32', 'COMPOSITE'],
  ['CRC32', 'FULL_OBJECT'],
  ['CRC32C', 'COMPOSITE'],
  ['CRC32C', 'FULL_OBJECT'],
  ['CRC64NVME', 'FULL_OBJECT'],
  ['MD5', 'COMPOSITE'],
  ['SHA1', 'COMPOSITE'],
  ['SHA256', 'COMPOSITE'],
  ['SHA512', 'COMPOSITE'],
  ['XXHASH128', 'COMPOSITE'],
  ['XXHASH3', 'COMPOSITE'],
  ['XXHASH64', 'COMPOSITE'],
]

/** Bytes that differ from their neighbours, so that a lost or swapped one shows. */
export const bytesOf = (size: number): Buffer =>
  Buffer.from(Uint8Array.from({ length: size }, (_, i) => (i * 37 + (i >> 8)) & 0xff))

/** Nothing, the least, and more than a chunk or a socket's read. */
export const sizes: readonly number[] = [0, 1, 70_000]

const chunkBytes = 65_536

function chunksOf(data: Buffer): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < data.length; at += chunkBytes) chunks.push(data.subarray(at, at + chunkBytes))
  return chunks
}

type Sums = Record<string, string>

export interface Way {
  as: string
  /** Sends data with checksums by their vendor names. */
  send(data: Buffer, sums: Sums): Partial<Ask>
}

const chunked = (mode: ChunkedPayload['mode'], data: Buffer, trailers?: Sums): Partial<Ask> => ({
  payload: { mode, chunks: chunksOf(data), ...(trailers === undefined ? {} : { trailers }) },
})

export const headerWays: readonly Way[] = [
  { as: 'as a header', send: (body, vendor) => ({ vendor, body }) },
  { as: 'as a header beside an unsigned body', send: (body, vendor) => ({ vendor, body, payload: 'unsigned' }) },
  { as: 'as a header before signed chunks', send: (data, vendor) => ({ vendor, ...chunked('signed', data) }) },
  { as: 'in the query of a presigned URL', send: (body, vendor) => ({ vendor, body, presigned: true }) },
  {
    as: 'as a signed header of a presigned URL',
    send: (body, vendor) => ({ vendor, body, presigned: 'with vendor headers' }),
  },
]

export const trailerWays: readonly Way[] = [
  { as: 'as a trailer of signed chunks', send: (data, trailers) => chunked('signed-trailer', data, trailers) },
  { as: 'as a trailer of unsigned chunks', send: (data, trailers) => chunked('unsigned-trailer', data, trailers) },
]

export const ways: readonly Way[] = [...headerWays, ...trailerWays]

/** Content-MD5 is a plain header: it has no trailer, and no place in a query. */
export const md5Ways: readonly Way[] = [
  { as: 'as a header', send: (body, sums) => ({ headers: md5Header(sums), body }) },
  { as: 'beside an unsigned body', send: (body, sums) => ({ headers: md5Header(sums), body, payload: 'unsigned' }) },
  { as: 'before signed chunks', send: (data, sums) => ({ headers: md5Header(sums), ...chunked('signed', data) }) },
  { as: 'beside a presigned URL', send: (body, sums) => ({ headers: md5Header(sums), body, presigned: true }) },
]

const md5Header = ({ md5 = '' }: Sums): Record<string, string> => ({ 'Content-MD5': md5 })

/** Values that are not digests of `bytes` bytes in base64, made of one that is. */
export function malformedOf(right: string): [what: string, value: string][] {
  const digest = Buffer.from(right, 'base64')
  const padding = right.slice(right.indexOf('='))
  const last = right.length - padding.length - 1
  return [
    ['an empty value', ''],
    ['what is no base64', '*not base64*'],
    ['base64 among other characters', `${right.slice(0, 2)}^${right.slice(2)}`],
    ['a shorter digest', digest.subarray(1).toString('base64')],
    ['a longer digest', Buffer.concat([digest, digest.subarray(0, 1)]).toString('base64')],
    ['hex', digest.toString('hex')],
    ['no padding', right.replaceAll('=', '')],
    // The bits that padding leaves unused must be zero: a decoder that tolerates others would take two texts for one digest.
    ['bits behind the digest', `${right.slice(0, last)}${nextBase64Digit(right.charAt(last))}${padding}`],
  ]
}

const base64Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const nextBase64Digit = (digit: string): string => base64Digits.charAt(base64Digits.indexOf(digit) + 1)

export interface Fault {
  what: string
  code: ErrorCode
  sums: Sums
  details?: Record<string, string>
}

/** Two others, so that each algorithm meets one before and one behind it in every list. */
export function othersOf(algorithm: Algorithm): Algorithm[] {
  const at = algorithms.indexOf(algorithm)
  return [-1, 1].map((step) => algorithms.at((at + step) % algorithms.length) ?? algorithm)
}

/** What may be wrong with a checksum of data, whichever way it travels. */
export function faultsOf(algorithm: Algorithm, data: Buffer): Fault[] {
  const name = headerOf(algorithm)
  const right = referenceChecksum(algorithm, data)
  const otherData = referenceChecksum(algorithm, Buffer.concat([data, Buffer.from('x')]))
  const reversed = referenceDigest(algorithm, data).reverse().toString('base64')
  return [
    { what: `a wrong ${algorithm}`, code: 'BadDigest', sums: { [name]: otherData } },
    { what: `${algorithm} in the wrong order of bytes`, code: 'BadDigest', sums: { [name]: reversed } },
    ...malformedOf(right).map(
      ([what, value]): Fault => ({ what: `${what} for ${algorithm}`, code: 'InvalidRequest', sums: { [name]: value } }),
    ),
    ...othersOf(algorithm).map(
      (other): Fault => ({
        what: `${algorithm} and ${other} at once, both right`,
        code: 'InvalidRequest',
        sums: { [name]: right, [headerOf(other)]: referenceChecksum(other, data) },
      }),
    ),
  ]
}

/** `expected`: the wrong digest as the answer names it, in hexadecimal digits for data and as it was sent for a document. */
export function md5Faults(data: Buffer, expected: (text: string) => string): Fault[] {
  return [
    {
      what: 'a wrong Content-MD5',
      code: 'BadDigest',
      sums: { md5: md5Base64('another') },
      details: { ExpectedDigest: expected('another'), CalculatedDigest: md5Base64(data) },
    },
    ...malformedOf(md5Base64(data)).map(
      ([what, md5]): Fault => ({
        what: `${what} for Content-MD5`,
        code: 'InvalidDigest',
        sums: { md5 },
        details: { 'Content-MD5': md5 },
      }),
    ),
  ]
}

/** What may be wrong when more than one thing is said of the same data. */
export function mixturesOf(
  algorithm: Algorithm,
  data: Buffer,
): { what: string; code: ErrorCode; ask: Partial<Ask>; details?: Record<string, string> }[] {
  const name = headerOf(algorithm)
  const right = referenceChecksum(algorithm, data)
  const wrong = referenceChecksum(algorithm, 'another')
  const other = algorithm === 'SHA1' ? 'CRC32' : 'SHA1'
  const beside = (md5: string, sum: string) => ({ headers: md5Header({ md5 }), vendor: { [name]: sum }, body: data })
  const both = (trailers: Sums) => ({ vendor: { [name]: right }, ...chunked('unsigned-trailer', data, trailers) })
  return [
    { what: `a wrong ${algorithm} beside the right MD5`, code: 'BadDigest', ask: beside(md5Base64(data), wrong) },
    {
      what: `the right ${algorithm} beside a wrong MD5`,
      code: 'BadDigest',
      ask: beside(md5Base64('another'), right),
      details: { ExpectedDigest: md5Hex('another'), CalculatedDigest: md5Base64(data) },
    },
    { what: `${algorithm} as header and trailer`, code: 'InvalidRequest', ask: both({ [name]: right }) },
    {
      what: `${algorithm} as header and ${other} as trailer`,
      code: 'InvalidRequest',
      ask: both({ [headerOf(other)]: referenceChecksum(other, data) }),
    },
    {
      what: `${other} announced beside ${algorithm}`,
      code: 'InvalidRequest',
      ask: { vendor: { [name]: right, 'sdk-checksum-algorithm': other }, body: data },
    },
    {
      what: `${algorithm} announced and not sent`,
      code: 'InvalidRequest',
      ask: { vendor: { 'sdk-checksum-algorithm': algorithm }, body: data },
    },
  ]
}

/** Algorithms that S3 does not have, as header and as trailer: a checksum that nobody verifies is refused. */
export function unknownSums(data: Buffer): { what: string; code: ErrorCode; names: string; ask: Partial<Ask> }[] {
  return ['checksum-xxhash32', 'checksum-blake3'].flatMap((name) => {
    const sums = { [name]: 'AAAAAAAAAAA=' }
    return [
      { what: `${name} as a header`, code: 'NotImplemented', names: name, ask: { vendor: sums, body: data } },
      {
        what: `${name} as a trailer`,
        code: 'NotImplemented',
        names: name,
        ask: chunked('unsigned-trailer', data, sums),
      },
    ]
  })
}

/** The checksum headers that the server has for an object, without prefix. */
export async function sumsOf(wire: Wire, key: string, mode: 'ENABLED' | 'unsaid' = 'ENABLED'): Promise<Sums> {
  const vendor: Sums = mode === 'unsaid' ? {} : { 'checksum-mode': mode }
  const { headers } = await wire.must({ method: 'HEAD', key, vendor })
  const { prefix } = wire.style
  const sums = [...headers].filter(([name]) => name.startsWith(`${prefix}checksum-`))
  return Object.fromEntries(sums.map(([name, value]) => [name.slice(prefix.length), value]))
}

/** The only part of an upload of `big`, as ListParts shows it. */
export async function partOfUpload(wire: Wire, { uploadId = '' }: Facts): Promise<unknown> {
  const { body } = await wire.must({ method: 'GET', key: 'big', query: { uploadId } })
  return Object(readXml(body).value).Part
}
