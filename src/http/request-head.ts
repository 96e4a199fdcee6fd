/** The head of a request as received, read in one pass. Refuses framing that two parsers could read differently. */
import type { IncomingMessage } from 'node:http'
import type { SignedRequest } from '../auth/verify.ts'
import { S3Error } from '../errors.ts'
import { known } from '../known.ts'
import { type Dialect, dialectOfRequest, storeDialect } from './dialect.ts'

export interface RequestHead {
  readonly method: string
  /** Percent-encoded, starting with a slash; without authority or query. */
  readonly rawPath: string
  /** Percent-encoded, without the question mark; empty when there is none. */
  readonly rawQuery: string
  /** As sent, port included; empty when HTTP/1.0 sent none. */
  readonly host: string
  /** Names and values in turn, as they came. Values are Latin-1: one character a byte. */
  readonly rawHeaders: readonly string[]
  /** Lower-case names, in order: `names[i]` belongs to `rawHeaders[2 * i + 1]`. */
  readonly names: readonly string[]
  /** Bytes of body on the wire; `undefined` when not announced. */
  readonly contentLength: number | undefined
  /** Transfer-Encoding: chunked. */
  readonly chunked: boolean
  readonly dialect: Dialect
  /** As sent: not checked. */
  readonly requestId: string | undefined
  readonly traceParent: string | undefined
}

const badRequest = (message: string): S3Error => new S3Error('BadRequest', { message })

/**
 * `dialectOf` is asked about a request that does not show its dialect. Throws BadRequest for ambiguous framing, and InvalidURI for a target that is neither a path nor
 * a URL of this host.
 */
export function readHead(
  request: IncomingMessage,
  dialectOf: (rawPath: string, host: string) => Dialect = () => storeDialect,
): RequestHead {
  const { rawHeaders } = request
  const names: string[] = []
  let host: string | undefined
  let contentLength: string | undefined
  let transferEncoding: string | undefined
  let authorization: string | undefined
  let requestId: string | undefined
  let traceParent: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = known(rawHeaders[i]).toLowerCase()
    const value = known(rawHeaders[i + 1])
    names.push(name)
    if (name === 'host') host = once(name, host, value)
    else if (name === 'content-length') contentLength = once(name, contentLength, value)
    else if (name === 'authorization') authorization = value
    else if (name === 'x-request-id') requestId = value
    else if (name === 'traceparent') traceParent = value
    else if (name === 'transfer-encoding') transferEncoding = once(name, transferEncoding, value)
  }
  if (host === undefined && request.httpVersion !== '1.0') throw badRequest('The Host header is missing.')
  if (transferEncoding !== undefined) checkTransferEncoding(transferEncoding, contentLength)

  const target = splitTarget(request.url ?? '', host)
  return {
    method: request.method ?? '',
    rawPath: target.path,
    rawQuery: target.query,
    host: host ?? '',
    rawHeaders,
    names,
    contentLength: contentLength === undefined ? undefined : parseLength(contentLength),
    chunked: transferEncoding !== undefined,
    dialect: dialectOfRequest(names, target.query, authorization) ?? dialectOf(target.path, host ?? ''),
    requestId,
    traceParent,
  }
}

/** Everything that a signature can cover except the body. */
export function signedParts(head: RequestHead, hosts: SignedRequest['hosts'] = undefined): SignedRequest {
  const { method, rawPath, rawQuery, rawHeaders, names, dialect } = head
  return { method, rawPath, rawQuery, rawHeaders, names, prefix: dialect.prefix, hosts }
}

/** The value of a plain header. Throws BadRequest when it came more than once. */
export function headerValue(head: RequestHead, name: string): string | undefined {
  const at = head.names.indexOf(name)
  if (at === -1) return undefined
  if (head.names.indexOf(name, at + 1) !== -1) throw badRequest(`${name} was sent more than once.`)
  return head.rawHeaders[2 * at + 1]
}

/** HTTP announces a body by its length or its chunking. */
export function announcesBody(head: RequestHead): boolean {
  return head.chunked || (head.contentLength ?? 0) > 0
}

function once(name: string, earlier: string | undefined, value: string): string {
  if (earlier !== undefined) throw badRequest(`${name} was sent more than once.`)
  return value
}

/** A front end that reads one and a back end that reads the other would disagree on where the next request starts. */
function checkTransferEncoding(transferEncoding: string, contentLength: string | undefined): void {
  if (contentLength !== undefined) throw badRequest('Transfer-Encoding and Content-Length exclude each other.')
  if (transferEncoding.toLowerCase() !== 'chunked') throw badRequest('Transfer-Encoding can only be chunked.')
}

function parseLength(value: string): number {
  const length = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
  if (Number.isNaN(length)) throw badRequest('Content-Length must be a number of bytes.')
  return length
}

const absoluteForm = /^https?:\/\/([^/?]*)(.*)$/i

/** RFC 9112 section 3.2: a path, or a whole URL from clients that take this server for a proxy. */
function splitTarget(target: string, host: string | undefined): { path: string; query: string } {
  const absolute = target.startsWith('/') ? undefined : absoluteForm.exec(target)
  if (absolute === null) throw new S3Error('InvalidURI')
  // The signature covers the Host header, so the URL's authority must equal it.
  if (absolute !== undefined && absolute[1]?.toLowerCase() !== host?.toLowerCase()) {
    throw badRequest('The URL and the Host header name different hosts.')
  }
  const rest = absolute?.[2] ?? target
  const mark = rest.indexOf('?')
  const path = mark === -1 ? rest : rest.slice(0, mark)
  return { path: path === '' ? '/' : path, query: mark === -1 ? '' : rest.slice(mark + 1) }
}
