/** The answer to a request that failed, and what its log line says. */
import type { Credentials } from '../auth/credentials.ts'
import { S3Error } from '../errors.ts'
import { ClientGone, sendFault } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { faultOf } from './fault.ts'
import type { RequestHead } from './request-head.ts'

/** Answers the error, or cuts off the answer that has begun. */
export function fail(exchange: Exchange, head: RequestHead | undefined, error: unknown): void {
  const { response } = exchange
  const fault = faultOf(error)
  note(exchange, error, fault)
  // The client can't be told more once the head is sent, so the connection is cut.
  if (response.headersSent || response.destroyed) return void response.destroy()
  sendFault(exchange, head, fault)
}

/** The key id that a refused signature claims. Some clients are configured with the secret in its place, which must not reach a log. */
export function claimedKey(error: unknown, credentials: Credentials): string | undefined {
  const claimed = error instanceof S3Error ? error.details.AWSAccessKeyId : undefined
  return claimed !== undefined && credentials.isSecret(claimed) ? '(a secret access key)' : claimed
}

/** A search takes as long as some ten requests, and anybody can ask for one. */
const searchEveryMs = 100
let searchDueMs = Number.NEGATIVE_INFINITY

function foundReason({ findReason }: S3Error): string | undefined {
  const nowMs = performance.now()
  if (findReason === undefined || nowMs < searchDueMs) return undefined
  searchDueMs = nowMs + searchEveryMs
  return findReason()
}

/** For the log line. */
export function note(exchange: Exchange, error: unknown, fault: S3Error): void {
  exchange.code = error instanceof ClientGone ? 'ClientGone' : fault.code
  exchange.reason = fault.reason ?? foundReason(fault)
  const { NotImplemented, ArgumentName, HeadersNotSigned, ParametersNotSigned } = fault.details
  exchange.refused =
    NotImplemented ?? ArgumentName ?? fault.vendorDetails.ArgumentName ?? HeadersNotSigned ?? ParametersNotSigned
  if (fault.code === 'InternalError' && !(error instanceof ClientGone)) exchange.unexpected = error
}
