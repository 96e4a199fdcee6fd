/** The numbers of the http layer that a test, or one day an operator, may change. */
import { limits } from '../../limits.ts'

export interface HttpBounds {
  keepAliveMs: number
  tlsHandshakeTimeoutMs: number
  headersTimeoutMs: number
  headerSectionBytesMax: number
  /** The connection ends when the client stalls a body or an answer for this long. */
  idleBodyTimeoutMs: number
  /**
   * A lower rate, averaged over `idleBodyTimeoutMs` of waiting, counts as a stall. 0: one byte in that time is enough.
   */
  clientBytesPerSecondMin: number
  /** An unread body up to this size is read and dropped, so that the connection can serve the next request. */
  unreadBodyDrainBytesMax: number
  /** How long a larger body is read and dropped before the connection is cut, so that the client sees its answer. */
  lingerMs: number
  /** For all clients together. `fair-share.ts` decides how many one client may have. */
  connectionsMax: number
  requestsInFlightMax: number
  clientBytesMax: number
  /** Requests on one connection that wait for the answers before them. */
  pipelinedRequestsMax: number
  /** For requests that are refused unverified: see `Refusals`. */
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
