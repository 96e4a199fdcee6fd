/** The log line of a request. It holds nothing that would let a reader repeat the request. */
import type { Exchange } from '../exchange.ts'

export interface RequestLog {
  requestId: string
  /** Empty when the request was refused before its operation was known. */
  operation: string
  method: string
  /** As sent, percent-encoded, without the query, which carries the signature of a presigned URL. */
  path: string
  /** 0 when the client left before it had a status. */
  status: number
  /** S3's error code, or `ClientGone`; empty on success. */
  code: string
  /** Bytes of the body, as received on the wire. */
  bytesIn: number
  /** Bytes of the body, as handed to the connection. */
  bytesOut: number
  durationMs: number
  /** The client's address, which a trusted proxy reports if there is one. */
  remote: string
  /** Time until the head of the answer was handed to the connection. 0: that never happened. */
  firstByteMs: number
  /** Empty unless the signature was verified. */
  accessKeyId: string
  /** The account of `accessKeyId`. */
  account: string
  /** The trace that the client named, or that the request's span began: 32 hex digits. */
  traceId?: string
  /** The key that the request claims, when the signature was not made with it. */
  claimedAccessKeyId?: string
  /** Names of the headers or parameters that the request was refused for; never their values. */
  refused?: string
  /** Why access was denied: the statement of a policy, or the lack of one. */
  reason?: string
  /** Vendor headers that had no effect, as sent. */
  ignoredHeaders?: readonly string[]
  /** An error that the error table lacks, with its stack. */
  error?: unknown
}

/** Times are those of `performance.now`. */
export function logLine(exchange: Exchange, startedMs: number, endedMs: number): RequestLog {
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
    durationMs: endedMs - startedMs,
    remote: exchange.clientAddress ?? '',
    firstByteMs: exchange.headSentMs === 0 ? 0 : exchange.headSentMs - startedMs,
    accessKeyId: exchange.accessKeyId,
    account: exchange.accountId,
  }
  const { traceId } = exchange
  if (traceId !== undefined) line.traceId = traceId
  if (exchange.claimedAccessKeyId !== undefined) line.claimedAccessKeyId = exchange.claimedAccessKeyId
  if (exchange.refused !== undefined) line.refused = exchange.refused
  if (exchange.reason !== undefined) line.reason = exchange.reason
  if (exchange.ignoredHeaders !== undefined) line.ignoredHeaders = exchange.ignoredHeaders
  if (exchange.unexpected !== undefined) line.error = exchange.unexpected
  return line
}
