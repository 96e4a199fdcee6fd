/**
 * A signer of requests for tests, written from AWS's documents and apart from src/auth, so that the two check each other:
 * AWS Signature Version 4 by header, by query, and over chunked bodies, in both dialects.
 */
import { createHash, createHmac } from 'node:crypto'

export type DialectPrefix = 'x-amz-' | 'x-store-'
export type HeaderPair = [name: string, value: string]

export interface SigningKey {
  accessKeyId: string
  secretAccessKey: string
}

export interface RequestToSign {
  method: string
  /** With port, as the Host header is to say it. */
  host: string
  /** The path as it stands in the request line. The caller has encoded it. */
  path: string
  /** Plain names and values; encoded here. */
  query?: readonly HeaderPair[]
  /** Beside Host and what signing adds. Vendor headers carry their prefix already. */
  headers?: readonly HeaderPair[]
  body?: Buffer | string
}

export interface SignOptions {
  key: SigningKey
  prefix?: DialectPrefix
  nowMs?: number
  region?: string
  /** Initially `s3`. */
  service?: string
  /** Instead of the body's SHA-256: `UNSIGNED-PAYLOAD`, or a lie. */
  payloadHash?: string
  /** Headers to leave out of the signature, in lower case. */
  unsigned?: readonly string[]
}

/** Ready to be sent as it is. */
export interface SignedRequest {
  method: string
  /** Path and query. */
  target: string
  headers: HeaderPair[]
  body: Buffer
}

/** `Authorization` by header, over the whole body. */
export function sign(request: RequestToSign, options: SignOptions): SignedRequest {
  const body = Buffer.from(request.body ?? '')
  const payloadHash = options.payloadHash ?? sha256(body)
  const { signed } = signHead(request, options, payloadHash, [])
  const needsLength = body.length > 0 || request.method === 'PUT' || request.method === 'POST'
  return { ...signed, headers: [...signed.headers, ...lengthOf(needsLength ? body : undefined)], body }
}

/** A URL that carries its signature. Vendor headers given are signed and must be sent along. */
export function presign(
  request: RequestToSign,
  options: SignOptions & { expiresSeconds?: number | string },
): SignedRequest {
  const prefix = upperPrefix(options.prefix ?? 'x-amz-')
  const scope = scopeOf(options)
  const headers: HeaderPair[] = [['Host', request.host], ...(request.headers ?? [])]
  const names = signedNames(headers, options)
  const query: HeaderPair[] = [
    ...(request.query ?? []),
    [`${prefix}Algorithm`, 'AWS4-HMAC-SHA256'],
    [`${prefix}Credential`, `${options.key.accessKeyId}/${scope.text}`],
    [`${prefix}Date`, scope.timestamp],
    [`${prefix}Expires`, String(options.expiresSeconds ?? 300)],
    [`${prefix}SignedHeaders`, names.join(';')],
  ]
  const canonical = canonicalRequest(request, query, headers, names, options.payloadHash ?? 'UNSIGNED-PAYLOAD')
  const signature = hmac(scope.key, stringToSign(scope, canonical)).toString('hex')
  const body = Buffer.from(request.body ?? '')
  return {
    method: request.method,
    target: `${request.path}?${encodeQuery([...query, [`${prefix}Signature`, signature]])}`,
    headers: [...headers, ...lengthOf(request.body === undefined ? undefined : body)],
    body,
  }
}

export interface StreamingOptions extends SignOptions {
  mode: 'signed' | 'signed-trailer' | 'unsigned-trailer'
  /** Sent as they are; each becomes a chunk. The closing chunk is added. */
  chunks: readonly (Buffer | string)[]
  /** With their prefix, in lower case. */
  trailers?: readonly HeaderPair[]
  /** Instead of the chunks' own length. */
  decodedLength?: number | string
}

const streamingHashes = {
  signed: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
  'signed-trailer': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
  'unsigned-trailer': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
} as const

/** A body in `aws-chunked` framing. */
export function signStreaming(request: RequestToSign, options: StreamingOptions): SignedRequest {
  const prefix = options.prefix ?? 'x-amz-'
  const chunks = options.chunks.map((chunk) => Buffer.from(chunk))
  const trailers = options.trailers ?? []
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  const extra: HeaderPair[] = [
    ['Content-Encoding', 'aws-chunked'],
    [`${prefix}decoded-content-length`, String(options.decodedLength ?? length)],
  ]
  if (trailers.length > 0) extra.push([`${prefix}trailer`, trailers.map(([name]) => name).join(',')])
  const { signed, scope, signature } = signHead(request, options, streamingHashes[options.mode], extra)
  const body = frame(options, prefix, chunks, trailers, scope, signature)
  return { ...signed, headers: [...signed.headers, ...lengthOf(body)], body }
}

function frame(
  options: StreamingOptions,
  prefix: DialectPrefix,
  chunks: readonly Buffer[],
  trailers: readonly HeaderPair[],
  scope: SigningScope,
  seed: string,
): Buffer {
  const signs = options.mode !== 'unsigned-trailer'
  const hasTrailers = options.mode !== 'signed'
  const context = `${scope.timestamp}\n${scope.text}`
  let previous = seed
  const chunkExtension = (chunk: Buffer): string => {
    if (!signs) return ''
    const text = `AWS4-HMAC-SHA256-PAYLOAD\n${context}\n${previous}\n${sha256('')}\n${sha256(chunk)}`
    previous = hmac(scope.key, text).toString('hex')
    return `;chunk-signature=${previous}`
  }
  const parts: Buffer[] = []
  for (const chunk of [...chunks.filter(({ length }) => length > 0), Buffer.alloc(0)]) {
    parts.push(Buffer.from(`${chunk.length.toString(16)}${chunkExtension(chunk)}\r\n`), chunk)
    if (chunk.length > 0 || !hasTrailers) parts.push(Buffer.from('\r\n'))
  }
  if (!hasTrailers) return Buffer.concat(parts)
  parts.push(Buffer.from(trailers.map(([name, value]) => `${name}:${value}\r\n`).join('')))
  if (signs) {
    const canonical = trailers.map(([name, value]) => `${name}:${value}\n`).join('')
    const text = `AWS4-HMAC-SHA256-TRAILER\n${context}\n${previous}\n${sha256(canonical)}`
    parts.push(Buffer.from(`${prefix}trailer-signature:${hmac(scope.key, text).toString('hex')}\r\n`))
  }
  parts.push(Buffer.from('\r\n'))
  return Buffer.concat(parts)
}

function signHead(
  request: RequestToSign,
  options: SignOptions,
  payloadHash: string,
  extra: readonly HeaderPair[],
): { signed: Omit<SignedRequest, 'body'>; scope: SigningScope; signature: string } {
  const prefix = options.prefix ?? 'x-amz-'
  const scope = scopeOf(options)
  const query = request.query ?? []
  const headers: HeaderPair[] = [
    ['Host', request.host],
    ...(request.headers ?? []),
    ...extra,
    [`${prefix}date`, scope.timestamp],
    [`${prefix}content-sha256`, payloadHash],
  ]
  const names = signedNames(headers, options)
  const canonical = canonicalRequest(request, query, headers, names, payloadHash)
  const signature = hmac(scope.key, stringToSign(scope, canonical)).toString('hex')
  const authorization =
    `AWS4-HMAC-SHA256 Credential=${options.key.accessKeyId}/${scope.text}, ` +
    `SignedHeaders=${names.join(';')}, Signature=${signature}`
  return {
    signed: {
      method: request.method,
      target: query.length === 0 ? request.path : `${request.path}?${encodeQuery(query)}`,
      headers: [...headers, ['Authorization', authorization]],
    },
    scope,
    signature,
  }
}

interface SigningScope {
  timestamp: string
  /** `date/region/s3/aws4_request`. */
  text: string
  key: Buffer
}

function scopeOf({ key, nowMs = Date.now(), region = 'us-east-1', service = 's3' }: SignOptions): SigningScope {
  const timestamp = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const date = timestamp.slice(0, 8)
  const steps = [date, region, service, 'aws4_request']
  const secret: Buffer = Buffer.from(`AWS4${key.secretAccessKey}`)
  const signing = steps.reduce<Buffer>((from, step) => hmac(from, step), secret)
  return { timestamp, text: steps.join('/'), key: signing }
}

function stringToSign(scope: SigningScope, canonical: string): string {
  return `AWS4-HMAC-SHA256\n${scope.timestamp}\n${scope.text}\n${sha256(Buffer.from(canonical, 'latin1'))}`
}

function signedNames(headers: readonly HeaderPair[], { unsigned = [] }: SignOptions): string[] {
  const names = headers.map(([name]) => name.toLowerCase()).filter((name) => !unsigned.includes(name))
  return [...new Set(names)].sort()
}

function canonicalRequest(
  request: RequestToSign,
  query: readonly HeaderPair[],
  headers: readonly HeaderPair[],
  names: readonly string[],
  payloadHash: string,
): string {
  const headerLines = names.map((name) => {
    const values = headers
      .filter(([other]) => other.toLowerCase() === name)
      .map(([, value]) => value.trim().replace(/ +/g, ' '))
    return `${name}:${values.join(',')}\n`
  })
  const ordered = query.map(([name, value]) => [encode(name), encode(value)] as const)
  ordered.sort(([nameA, valueA], [nameB, valueB]) => compare(nameA, nameB) || compare(valueA, valueB))
  return [
    request.method,
    canonicalPath(request.path),
    ordered.map(([name, value]) => `${name}=${value}`).join('&'),
    headerLines.join(''),
    names.join(';'),
    payloadHash,
  ].join('\n')
}

/** S3 encodes the path once: escapes stay, whatever else isn't unreserved gets one. */
function canonicalPath(path: string): string {
  return path
    .replace(/%[0-9a-f]{2}/gi, (sequence) => encodeByte(Number.parseInt(sequence.slice(1), 16), true))
    .replace(/[^A-Za-z0-9\-._~/%]/g, (character) => encodeByte(character.charCodeAt(0), true))
}

function encodeByte(byte: number, slashStays: boolean): string {
  const character = String.fromCharCode(byte)
  if (/[A-Za-z0-9\-._~]/.test(character) || (slashStays && character === '/')) return character
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
}

/** RFC 3986, as AWS asks for it. */
export function encode(text: string): string {
  return [...Buffer.from(text)].map((byte) => encodeByte(byte, false)).join('')
}

/** A key as a path: slashes stay. */
export function encodeKey(key: string): string {
  return [...Buffer.from(key)].map((byte) => encodeByte(byte, true)).join('')
}

function encodeQuery(query: readonly HeaderPair[]): string {
  return query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
}

function lengthOf(body: Buffer | undefined): HeaderPair[] {
  return body === undefined ? [] : [['Content-Length', String(body.length)]]
}

function upperPrefix(prefix: DialectPrefix): string {
  return prefix === 'x-amz-' ? 'X-Amz-' : 'X-Store-'
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

export function sha256(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex')
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
