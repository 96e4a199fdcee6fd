/** Health checks of the admin port, which nobody signs: whether the process lives, and whether it can serve. */
import type { Exchange } from '../http/exchange.ts'
import type { RequestHead } from '../http/request-head.ts'
import { sendJson } from './answer.ts'

/** What can be said of the server to anybody. */
export interface AdminReadiness {
  /** `degraded`: it serves, but a location other than the default one can't take writes. */
  status: 'ready' | 'degraded' | 'unavailable'
}

/** Whether the request was a health check, which is then answered. */
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
