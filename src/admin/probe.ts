/** Unsigned health checks of the admin port: whether the process is alive, and whether it can serve. */
import type { Exchange } from '../http/exchange.ts'
import type { RequestHead } from '../http/request-head.ts'
import { sendJson } from './requests/answer.ts'

/** What the server tells unsigned clients about itself. */
export interface AdminReadiness {
  /** `degraded`: the server works, but some location other than the default one can't be read or written. */
  status: 'ready' | 'degraded' | 'unavailable'
  /** Locations that can't be read or written. Absent: there are none. */
  locations?: AilingLocation[]
}

export interface AilingLocation {
  name: string
  /** Whether enough stores are in use to read everything, and to acknowledge writes. */
  reads: boolean
  writes: boolean
  /** Stores that are not fully in use. The reasons are left out, because they may name paths and hosts, and anybody can ask. */
  stores: { name: string; state: string }[]
}

/** Answers a health check. False: the request is none. */
export function answerProbe(exchange: Exchange, head: RequestHead, readiness: () => AdminReadiness): boolean {
  const { method, rawPath } = head
  if (method !== 'GET' && method !== 'HEAD') return false
  if (rawPath === '/healthz') sendJson(exchange, head, 200, { status: 'ok' })
  else if (rawPath === '/readyz') {
    const ready = readiness()
    sendJson(exchange, head, ready.status === 'unavailable' ? 503 : 200, ready)
  } else return false
  return true
}
