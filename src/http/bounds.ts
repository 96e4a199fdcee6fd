/** The numbers of the http layer that a test, or one day an operator, may set apart from the table of limits. */
import { limits } from '../limits.ts'

export interface HttpBounds {
  keepAliveMs: number
  tlsHandshakeTimeoutMs: number
  headersTimeoutMs: number
  headerSectionBytesMax: number
  /** A body or an answer that the client stalls for so long ends the connection. */
  idleBodyTimeoutMs: number
  /**
   * Fewer bytes than these in a second, taken over `idleBodyTimeoutMs` of waiting, count as a stall. 0: one byte is enough.
   */
  clientBytesPerSecondMin: number
  /** An unread body up to this size is read and dropped, so that the connection can serve the next request. */
  unreadBodyDrainBytesMax: number
  /** How long a larger one is dropped before the connection is cut, so that the client gets to see its answer. */
  lingerMs: number
  /** Of all clients together; `fair-share.ts` says how much of these one may have. */
  connectionsMax: number
  requestsInFlightMax: number
  clientBytesMax: number
  /** Requests on one connection that wait for the answers before theirs. */
  pipelinedRequestsMax: number
  /** Requests that are refused unverified: see `Refusals`. */
  refusalCostMs: number
  refusalForgivenMs: number
  refusalDelayMsMax: number
  slowAnswerAfterMs: number
  slowAnswerEveryMs: number
  drainOnShutdownMs: number
}

export const defaultBounds: HttpBounds = {
  keepAliveMs: limits.keepAliveMs,
  tlsHandshakeTimeoutMs: limits.tlsHandshakeTimeoutMs,
  headersTimeoutMs: limits.headersTimeoutMs,
  headerSectionBytesMax: limits.headerSectionBytesMax,
  idleBodyTimeoutMs: limits.idleBodyTimeoutMs,
  clientBytesPerSecondMin: limits.clientBytesPerSecondMin,
  unreadBodyDrainBytesMax: limits.unreadBodyDrainBytesMax,
  lingerMs: limits.lingerMs,
  connectionsMax: limits.connectionsMax,
  requestsInFlightMax: limits.requestsInFlightMax,
  clientBytesMax: limits.clientBytesMax,
  pipelinedRequestsMax: limits.pipelinedRequestsMax,
  refusalCostMs: limits.refusalCostMs,
  refusalForgivenMs: limits.refusalForgivenMs,
  refusalDelayMsMax: limits.refusalDelayMsMax,
  slowAnswerAfterMs: limits.slowAnswerAfterMs,
  slowAnswerEveryMs: limits.slowAnswerEveryMs,
  drainOnShutdownMs: limits.drainOnShutdownMs,
}
