/** The numbers of the http layer that a test, or one day an operator, may set apart from the table of limits. */
import { limits } from '../limits.ts'

export interface HttpBounds {
  keepAliveMs: number
  tlsHandshakeTimeoutMs: number
  headersTimeoutMs: number
  headerSectionBytesMax: number
  /** A body or an answer that the client stalls for so long ends the connection. */
  idleBodyTimeoutMs: number
  /** Fewer bytes than these within `idleBodyTimeoutMs` of waiting count as a stall. */
  idleBodyBytesMin: number
  /** An unread body up to this size is read and dropped, so that the connection can serve the next request. */
  unreadBodyDrainBytesMax: number
  /** How long a larger one is dropped before the connection is cut, so that the client gets to see its answer. */
  lingerMs: number
  requestsInFlightMax: number
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
  idleBodyBytesMin: limits.idleBodyBytesMin,
  unreadBodyDrainBytesMax: limits.unreadBodyDrainBytesMax,
  lingerMs: limits.lingerMs,
  requestsInFlightMax: limits.requestsInFlightMax,
  slowAnswerAfterMs: limits.slowAnswerAfterMs,
  slowAnswerEveryMs: limits.slowAnswerEveryMs,
  drainOnShutdownMs: limits.drainOnShutdownMs,
}
