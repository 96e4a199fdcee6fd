/** Talks to a server in every way that a client may: both dialects, path and virtual-host style, signed by header, by query, or in chunks. */

import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import type { Method } from '../../src/contract/operation.ts'
import { type FormFileToSend, formBytes, formType, signForm } from './forms.ts'
import {
  type DialectPrefix,
  encodeKey,
  type HeaderPair,
  presign,
  type RequestToSign,
  type SignedRequest,
  type SigningKey,
  sign,
  signStreaming,
} from './signer.ts'
import { presignVersion2 } from './signer-version2.ts'
import { mainKey } from './wire-server.ts'

export interface Style {
  prefix: DialectPrefix
  hosting: 'path' | 'virtual-host'
}

export const styles: readonly Style[] = [
  { prefix: 'x-amz-', hosting: 'path' },
  { prefix: 'x-amz-', hosting: 'virtual-host' },
  { prefix: 'x-store-', hosting: 'path' },
  { prefix: 'x-store-', hosting: 'virtual-host' },
]

export const styleName = ({ prefix, hosting }: Style): string => `${prefix}* in ${hosting} style`

/** The bucket that requests address unless they say otherwise. */
export const wireBucket = 'wire'

export interface ChunkedPayload {
  mode: 'signed' | 'signed-trailer' | 'unsigned-trailer'
  chunks: readonly (string | Buffer)[]
  /** By vendor name, without prefix. */
  trailers?: Record<string, string>
  decodedLength?: string
}

/** A request as a test says it: without dialect, address style or signature. */
export interface Ask {
  method: Method
  /** Empty: the service itself. */
  bucket?: string
  key?: string
  /** Addressed instead of a bucket, as clients of S3 Control do it. Its id comes as a vendor value, too. */
  account?: string
  /** Of that account: the ARN whose tags are asked for. */
  arn?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  /** Headers that carry the dialect's prefix, without it. */
  vendor?: Record<string, string>
  body?: string | Buffer
  payload?: 'unsigned' | ChunkedPayload
  /** A form post of `body`: its fields, to which headers and vendor values are added, all of them in its policy. Signed in the form, by version 2 when `presigned` says so. */
  form?: Record<string, string>
  /** Instead of conditions that name each field as it is. */
  formConditions?: readonly unknown[]
  formFile?: Omit<FormFileToSend, 'content'>
  /** Signed by the query. Vendor values go into it as well, as presigners hoist them, unless they are to stay headers. */
  presigned?: boolean | 'with vendor headers' | 'by version 2'
  signedBy?: SigningKey
  /** Nobody signs it. */
  unsigned?: true
  /** Signs the request as if it were this time. */
  signedAtMs?: number
  /** The lifetime of a presigned URL. */
  expiresSeconds?: number
}

export interface Reply {
  status: number
  /** By lower-case name; the values of a repeated header are joined. */
  headers: ReadonlyMap<string, string>
  body: Buffer
}

/** A client of one style. */
export interface Wire {
  style: Style
  port: number
  ask(ask: Ask): Promise<Reply>
  /** For what only prepares a test: throws unless the answer is a success. */
  must(ask: Ask): Promise<Reply>
  close(): void
}

export function openWire(port: number, style: Style): Wire {
  const agent = new Agent({ keepAlive: true })
  const ask = (asked: Ask): Promise<Reply> => exchange(agent, port, signAsk(asked, port, style))
  return {
    style,
    port,
    ask,
    must: async (asked) => {
      const reply = await ask(asked)
      if (reply.status >= 200 && reply.status < 300) return reply
      throw new Error(`${asked.method} ${asked.key ?? ''} answered ${reply.status}: ${reply.body.toString()}`)
    },
    close: () => agent.destroy(),
  }
}

/** As S3 Control has them. */
export const accountPath = '/v20180820/configuration/publicAccessBlock'
export const tagsPath = (arn: string): string => `/v20180820/tags/${encodeURIComponent(arn)}`

/** The request as it goes over the wire. */
export function signAsk(ask: Ask, port: number, { prefix, hosting }: Style): SignedRequest {
  const { account, payload, signedBy = mainKey } = ask
  const { bucket = account ?? wireBucket, key = '' } = ask
  if (ask.form !== undefined) return signFormAsk(ask, port, { prefix, hosting })
  const inHost = hosting === 'virtual-host' && bucket !== ''
  const named = inHost || bucket === '' ? '' : `/${bucket}`
  const keyPath = key === '' && named !== '' ? '' : `/${encodeKey(key)}`
  const ofAccount = ask.arn === undefined ? accountPath : tagsPath(ask.arn)
  const path = account === undefined ? named + keyPath : ofAccount
  const vendor = Object.entries(ask.vendor ?? {}).map(([name, value]): HeaderPair => [prefix + name, value])
  const query = Object.entries(ask.query ?? {})
  const headers = Object.entries(ask.headers ?? {})
  // Without a length Node would announce chunks, in which an empty body is not known to be empty.
  const body = ask.body ?? (ask.method === 'PUT' || ask.method === 'POST' ? '' : undefined)
  const request: RequestToSign = {
    method: ask.method,
    host: inHost ? `${bucket}.localhost:${port}` : `127.0.0.1:${port}`,
    path,
    query,
    headers: [...headers, ...vendor],
    ...(body === undefined ? {} : { body }),
  }
  const options = { key: signedBy, prefix, nowMs: ask.signedAtMs ?? Date.now() }
  if (ask.presigned) {
    const hoisted = { ...request, query: [...query, ...vendor], headers }
    const { expiresSeconds = 300 } = ask
    if (ask.presigned === 'by version 2') {
      const expires = Math.floor(options.nowMs / 1000) + expiresSeconds
      return presignVersion2(hoisted, { key: signedBy, expires, ...(inHost ? { hostBucket: bucket } : {}) })
    }
    return presign(ask.presigned === true ? hoisted : request, { ...options, expiresSeconds })
  }
  if (ask.unsigned) return withoutAuthorization(sign(request, { ...options, payloadHash: 'UNSIGNED-PAYLOAD' }))
  if (payload === undefined) return sign(request, options)
  if (payload === 'unsigned') return sign(request, { ...options, payloadHash: 'UNSIGNED-PAYLOAD' })
  const trailers = Object.entries(payload.trailers ?? {}).map(([name, value]): HeaderPair => [prefix + name, value])
  const { mode, chunks, decodedLength } = payload
  return signStreaming(request, {
    ...options,
    mode,
    chunks,
    trailers,
    ...(decodedLength === undefined ? {} : { decodedLength }),
  })
}

/** Whoever signs nothing may still say what is signed otherwise. */
export function withoutAuthorization(request: SignedRequest): SignedRequest {
  return { ...request, headers: request.headers.filter(([name]) => name !== 'Authorization') }
}

function signFormAsk(ask: Ask, port: number, { prefix, hosting }: Style): SignedRequest {
  const { bucket = wireBucket, signedBy = mainKey, signedAtMs = Date.now() } = ask
  const vendor = Object.entries(ask.vendor ?? {}).map(([name, value]): HeaderPair => [prefix + name, value])
  const fields = [...Object.entries(ask.form ?? {}), ...Object.entries(ask.headers ?? {}), ...vendor]
  const version = ask.presigned === 'by version 2' ? 2 : 4
  const conditions = ask.formConditions === undefined ? {} : { conditions: ask.formConditions }
  const signing = { key: signedBy, prefix, version, nowMs: signedAtMs } as const
  const signed = ask.unsigned ? fields : signForm({ bucket, fields, ...conditions }, signing)
  const body = formBytes(signed, { filename: 'file.txt', ...ask.formFile, content: ask.body ?? '' })
  const inHost = hosting === 'virtual-host'
  return {
    method: 'POST',
    target: inHost ? '/' : `/${bucket}`,
    headers: [
      ['Host', inHost ? `${bucket}.localhost:${port}` : `127.0.0.1:${port}`],
      ['Content-Type', formType],
      ['Content-Length', String(body.length)],
    ],
    body,
  }
}

export function exchange(agent: Agent, port: number, signed: SignedRequest): Promise<Reply> {
  const { method, target: path, headers, body } = signed
  return new Promise((resolve, reject) => {
    const request = httpRequest({ agent, port, host: '127.0.0.1', method, path, headers: headers.flat() })
    request.on('error', reject)
    request.on('response', (response) => readReply(response).then(resolve, reject))
    request.end(body)
  })
}

function readReply(response: IncomingMessage): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    response.on('error', reject)
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('end', () => {
      resolve({ status: response.statusCode ?? 0, headers: headerMap(response), body: Buffer.concat(chunks) })
    })
  })
}

function headerMap({ rawHeaders }: IncomingMessage): Map<string, string> {
  const headers = new Map<string, string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = String(rawHeaders[i]).toLowerCase()
    const before = headers.get(name)
    const value = String(rawHeaders[i + 1])
    headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return headers
}

/** Asks for a URL as it is, at this port of this machine whatever its host is called. */
export async function followUrl(url: string, method: string, port: number, body = ''): Promise<Reply> {
  const { host, pathname, search } = new URL(url)
  const headers: HeaderPair[] = [['Host', host]]
  if (body !== '') headers.push(['Content-Length', String(Buffer.byteLength(body))])
  const agent = new Agent()
  const signed = { method, target: pathname + search, headers, body: Buffer.from(body) }
  return exchange(agent, port, signed)
}
