/** A client's side of Signature Version 4, written apart from src/auth to check it against: plain, slow, one function a step of the specification. */
import { createHash, createHmac } from 'node:crypto'
import type { SignedRequest } from '../../src/auth/verify.ts'

export const exampleKey = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
}
export const exampleAccounts = [{ id: 'main', name: 'Main', keys: [exampleKey] }]
const exampleTimestamp = '20130524T000000Z'
export const exampleTime = Date.UTC(2013, 4, 24)
export const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

export type Headers = readonly (readonly [name: string, value: string])[]

/** What a client wants to send. `path` and `query` are plain text, `headers` without those that signing adds. */
export interface PlainRequest {
  method: string
  path: string
  query: Readonly<Record<string, string>>
  headers: Headers
}

export interface SigningOptions {
  key: { accessKeyId: string; secretAccessKey: string }
  timestamp: string
  region: string
  service: string
  prefix: 'x-amz-' | 'x-store-'
  /** False: the request dates itself by other headers. */
  vendorDate: boolean
}

const defaults: SigningOptions = {
  key: exampleKey,
  timestamp: exampleTimestamp,
  region: 'us-east-1',
  service: 's3',
  prefix: 'x-amz-',
  vendorDate: true,
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

const encodePart = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

const encodePath = (path: string): string => path.split('/').map(encodePart).join('/')

function queryString(query: Readonly<Record<string, string>>): string {
  const names = Object.keys(query).map(encodePart).sort()
  return names.map((name) => `${name}=${encodePart(query[decodeURIComponent(name)] ?? '')}`).join('&')
}

function scopeOf({ timestamp, region, service }: SigningOptions): string {
  return `${timestamp.slice(0, 8)}/${region}/${service}/aws4_request`
}

function signString({ key, timestamp, region, service }: SigningOptions, text: string): string {
  const steps = [timestamp.slice(0, 8), region, service, 'aws4_request']
  return hmac(steps.reduce(hmac, Buffer.from(`AWS4${key.secretAccessKey}`)), text).toString('hex')
}

function signatureOf(request: PlainRequest, payloadHash: string, options: SigningOptions): string {
  const headers = request.headers.map(([name, value]) => [name.toLowerCase(), value] as const)
  const names = headers.map(([name]) => name).sort()
  const lines = names.map((name) => `${name}:${headers.find(([candidate]) => candidate === name)?.[1]}`)
  const canonical = [
    request.method,
    encodePath(request.path),
    queryString(request.query),
    ...lines,
    '',
    names.join(';'),
    payloadHash,
  ].join('\n')
  const text = ['AWS4-HMAC-SHA256', options.timestamp, scopeOf(options), sha256(canonical)].join('\n')
  return signString(options, text)
}

export function wire(request: PlainRequest, prefix: string): SignedRequest {
  return {
    method: request.method,
    rawPath: encodePath(request.path),
    rawQuery: queryString(request.query),
    rawHeaders: request.headers.flat(),
    names: request.headers.map(([name]) => name.toLowerCase()),
    prefix,
  }
}

/** Signs all headers, after adding date and content-sha256. The seed of chunk signatures is the signature given beside the request. */
export function signHeaders(
  request: PlainRequest,
  payloadHash: string,
  changed: Partial<SigningOptions> = {},
): { request: SignedRequest; signature: string } {
  const options = { ...defaults, ...changed }
  const headers: Headers = [
    ...request.headers,
    ...(options.vendorDate ? [[`${options.prefix}date`, options.timestamp] as const] : []),
    [`${options.prefix}content-sha256`, payloadHash],
  ]
  const signature = signatureOf({ ...request, headers }, payloadHash, options)
  const names = headers.map(([name]) => name.toLowerCase()).sort()
  const authorization = [
    `AWS4-HMAC-SHA256 Credential=${options.key.accessKeyId}/${scopeOf(options)}`,
    `SignedHeaders=${names.join(';')}`,
    `Signature=${signature}`,
  ].join(', ')
  return {
    request: wire({ ...request, headers: [...headers, ['Authorization', authorization]] }, options.prefix),
    signature,
  }
}

/** The query of a presigned URL, signature included. `overrides` replace parameters before signing. */
export function presign(
  request: PlainRequest,
  overrides: Readonly<Record<string, string>> = {},
  changed: Partial<SigningOptions> = {},
): { plain: PlainRequest; request: SignedRequest } {
  const options = { ...defaults, ...changed }
  const vendor = options.prefix === 'x-amz-' ? 'X-Amz-' : 'X-Store-'
  const query = {
    ...request.query,
    [`${vendor}Algorithm`]: 'AWS4-HMAC-SHA256',
    [`${vendor}Credential`]: `${options.key.accessKeyId}/${scopeOf(options)}`,
    [`${vendor}Date`]: options.timestamp,
    [`${vendor}Expires`]: '3600',
    [`${vendor}SignedHeaders`]: request.headers
      .map(([name]) => name.toLowerCase())
      .sort()
      .join(';'),
    ...overrides,
  }
  const signature = signatureOf({ ...request, query }, 'UNSIGNED-PAYLOAD', options)
  const plain = { ...request, query: { ...query, [`${vendor}Signature`]: signature } }
  return { plain, request: wire(plain, options.prefix) }
}

export interface EncodedTrailers {
  prefix: string
  entries: Headers
}

/** An aws-chunked body with signed chunks; with signed trailers when given. */
export function encodeSignedChunks(
  chunks: readonly Buffer[],
  seed: string,
  trailers?: EncodedTrailers,
  changed: Partial<SigningOptions> = {},
): Buffer {
  const options = { ...defaults, ...changed }
  const context = [options.timestamp, scopeOf(options)]
  let previous = seed
  const parts = [...chunks, Buffer.alloc(0)].map((chunk, index) => {
    previous = signString(
      options,
      ['AWS4-HMAC-SHA256-PAYLOAD', ...context, previous, emptySha256, sha256(chunk)].join('\n'),
    )
    const isFinal = index === chunks.length
    return Buffer.concat([
      Buffer.from(`${chunk.length.toString(16)};chunk-signature=${previous}\r\n`),
      chunk,
      Buffer.from(isFinal ? '' : '\r\n'),
    ])
  })
  if (trailers === undefined) return Buffer.concat([...parts, Buffer.from('\r\n')])
  const canonical = trailers.entries.map(([name, value]) => `${name}:${value}\n`).join('')
  const signature = signString(
    options,
    ['AWS4-HMAC-SHA256-TRAILER', ...context, previous, sha256(canonical)].join('\n'),
  )
  const lines = [...trailers.entries, [`${trailers.prefix}trailer-signature`, signature]]
  return Buffer.concat([...parts, Buffer.from(`${lines.map(([name, value]) => `${name}:${value}\r\n`).join('')}\r\n`)])
}

export function encodeUnsignedChunks(chunks: readonly Buffer[], trailers: Headers): Buffer {
  const parts = chunks.map((chunk) =>
    Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]),
  )
  const lines = trailers.map(([name, value]) => `${name}:${value}\r\n`).join('')
  return Buffer.concat([...parts, Buffer.from(`0\r\n${lines}\r\n`)])
}
