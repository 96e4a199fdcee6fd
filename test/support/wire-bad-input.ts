/** How malformed requests are made: a well-formed one is signed and then broken, or broken and then signed, or bytes are written as they are. */
import type { ErrorCode } from '../../src/errors.ts'
import { type DialectPrefix, type HeaderPair, presign, type SignedRequest, sign, signStreaming } from './signer.ts'
import { requestBytes } from './wire-raw.ts'
import { mainKey } from './wire-server.ts'

/** Where a request is sent, and in which dialect. */
export interface On {
  port: number
  prefix: DialectPrefix
}

export interface BadInput {
  what: string
  code: ErrorCode
  send(on: On): Buffer | string
  /** Its method is HEAD, so that only the status shows. */
  bodiless?: true
  /** The sending side is closed behind it. */
  ends?: true
}

export type Edit = (signed: SignedRequest, on: On) => SignedRequest

const same: Edit = (signed) => signed

export interface Request {
  method?: string
  /** The path as it stands in the request line. */
  path?: string
  query?: readonly HeaderPair[]
  headers?: readonly HeaderPair[]
  vendor?: readonly HeaderPair[]
  body?: Buffer | string
  payloadHash?: string
  nowMs?: number
  host?: string
}

/** A request for object `a`, unless it says otherwise. */
function parts(request: Request, { port, prefix }: On) {
  const { method = 'GET', path = '/wire/a', query = [], headers = [], vendor = [], body } = request
  const prefixed = vendor.map(([name, value]): HeaderPair => [prefix + name, value])
  const host = request.host ?? `127.0.0.1:${port}`
  return { method, host, path, query, headers: [...headers, ...prefixed], ...(body === undefined ? {} : { body }) }
}

/** Signed as it is, so that the signature is good, then edited. */
export function signedThen(request: Request, edit: Edit = same): BadInput['send'] {
  return (on) => {
    const { payloadHash, nowMs } = request
    const options = {
      key: mainKey,
      prefix: on.prefix,
      ...(payloadHash === undefined ? {} : { payloadHash }),
      ...(nowMs === undefined ? {} : { nowMs }),
    }
    return requestBytes(edit(sign(parts(request, on), options), on))
  }
}

export function presignedThen(
  request: Request & { expires?: number | string },
  edit: (target: string, on: On) => string = (target) => target,
): BadInput['send'] {
  return (on) => {
    const options = {
      key: mainKey,
      prefix: on.prefix,
      ...(request.nowMs === undefined ? {} : { nowMs: request.nowMs }),
    }
    const expiresSeconds = request.expires ?? 300
    const signed = presign(parts(request, on), { ...options, expiresSeconds })
    return requestBytes({ ...signed, target: edit(signed.target, on) })
  }
}

export interface Chunked {
  mode: 'signed' | 'signed-trailer' | 'unsigned-trailer'
  chunks?: readonly (string | Buffer)[]
  trailers?: readonly HeaderPair[]
  vendor?: readonly HeaderPair[]
}

/** A body in chunks, whose framing is then edited; Content-Length follows. */
export function chunkedThen(chunked: Chunked, edit: (body: string, on: On) => string): BadInput['send'] {
  return (on) => {
    const { mode, chunks = ['first chunk'], trailers = [], vendor = [] } = chunked
    const request = parts({ method: 'PUT', vendor }, on)
    const prefixed = trailers.map(([name, value]): HeaderPair => [on.prefix + name, value])
    const signed = signStreaming(request, { key: mainKey, prefix: on.prefix, mode, chunks, trailers: prefixed })
    const body = Buffer.from(edit(signed.body.toString('latin1'), on), 'latin1')
    return requestBytes(setHeader({ ...signed, body }, 'Content-Length', String(body.length)))
  }
}

export function setHeader(signed: SignedRequest, name: string, value: string): SignedRequest {
  const headers = signed.headers.map(
    (pair): HeaderPair => (pair[0].toLowerCase() === name.toLowerCase() ? [pair[0], value] : pair),
  )
  return { ...signed, headers }
}

export const editHeader =
  (name: string, change: (value: string, on: On) => string): Edit =>
  (signed, on) => {
    const before = signed.headers.find(([other]) => other.toLowerCase() === name.toLowerCase())?.[1]
    if (before === undefined) throw new Error(`no header ${name} to edit`)
    return setHeader(signed, name, change(before, on))
  }

export const editAuthorization = (change: (value: string, on: On) => string): Edit =>
  editHeader('Authorization', change)

export const editVendor =
  (name: string, change: (value: string) => string): Edit =>
  (signed, on) =>
    editHeader(on.prefix + name, change)(signed, on)

export const addHeader =
  (name: string, value: string): Edit =>
  (signed) => ({ ...signed, headers: [...signed.headers, [name, value]] })

export const removeHeader =
  (name: string): Edit =>
  (signed) => ({ ...signed, headers: signed.headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase()) })

export const removeVendor =
  (name: string): Edit =>
  (signed, on) =>
    removeHeader(on.prefix + name)(signed, on)

/** Replaces the body and its length, behind the signature's back. */
export const setBody =
  (body: string): Edit =>
  (signed) =>
    setHeader({ ...signed, body: Buffer.from(body) }, 'Content-Length', String(Buffer.byteLength(body)))
