/** The log line of a request. It holds nothing that could be used to repeat the request. */
import type { Exchange } from './exchange.ts'

export interface RequestLog {
  requestId: string
  /** Empty when the request was refused before it was known what it means. */
  operation: string
  method: string
  /** As sent, percent-encoded, without the query: that is where presigned URLs carry their signature. */
  path: string
  /** 0 when the client left before it had a status. */
  status: number
  /** S3's error code, or `ClientGone`; empty on success. */
  code: string
  /** Of the body, as received on the wire. */
  bytesIn: number
  /** Of the body, as handed to the connection. */
  bytesOut: number
  durationMs: number
  remote: string
  /** Empty until the signature has been verified. */
  accessKeyId: string
  /** The key that was claimed, where the signature was not that key's. */
  claimedAccessKeyId?: string
  /** Names of the headers or parameters that the request was refused for; never their values. */
  refused?: string
  /** What decided that the request may not do what it asks: the statement of a policy, or the lack of one. */
  reason?: string
  /** Vendor headers that had no effect, as sent. */
  ignoredHeaders?: readonly string[]
  /** An error that no table foresees, for its stack. */
  error?: unknown
}

export function logLine(exchange: Exchange, durationMs: number): RequestLog {
  const { request } = exchange
  const line: RequestLog = {
    requestId: exchange.requestId,
    operation: exchange.operationName,
    method: request.method ?? '',
    path: exchange.path,
    status: exchange.status,
    code: exchange.code,
    bytesIn: exchange.body.received,
    bytesOut: exchange.bytesOut,
    durationMs,
    remote: request.socket.remoteAddress ?? '',
    accessKeyId: exchange.accessKeyId,
  }
  if (exchange.claimedAccessKeyId !== undefined) line.claimedAccessKeyId = exchange.claimedAccessKeyId
  if (exchange.refused !== undefined) line.refused = exchange.refused
  if (exchange.reason !== undefined) line.reason = exchange.reason
  if (exchange.ignoredHeaders !== undefined) line.ignoredHeaders = exchange.ignoredHeaders
  if (exchange.unexpected !== undefined) line.error = exchange.unexpected
  return line
}
