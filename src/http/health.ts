/** Health checks on the S3 port, at MinIO's paths: the only requests that need no signature. */
import { sendBytes } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { headerValue, type RequestHead } from './request-head.ts'

/** What a check asks: whether this process takes requests, or whether enough stores work to write, or to read. */
export type Readiness = 'requests' | 'writes' | 'reads'

const checks: Readonly<Record<string, Readiness | 'life'>> = {
  '/minio/health/live': 'life',
  '/minio/health/ready': 'requests',
  '/minio/health/cluster': 'writes',
  '/minio/health/cluster/read': 'reads',
}

/** `mc ready` sends them with the two for the cluster. */
const clusterQuery = /^(?:(?:maintenance|distributed)=(?:true|false)(?:&|$))*$/

/** Answers a health check. False: the request is none. A signed request for such a path addresses a bucket. */
export function answerHealth(exchange: Exchange, head: RequestHead, ready: (what: Readiness) => boolean): boolean {
  const { method, rawPath, rawQuery } = head
  // Checking the prefix first is cheaper for every other request than looking up its path.
  if (!rawPath.startsWith('/minio/health/')) return false
  const check = Object.hasOwn(checks, rawPath) ? checks[rawPath] : undefined
  if (check === undefined || (method !== 'GET' && method !== 'HEAD')) return false
  const isOfCluster = check === 'writes' || check === 'reads'
  if (rawQuery !== '' && !(isOfCluster && clusterQuery.test(rawQuery))) return false
  if (headerValue(head, 'authorization') !== undefined) return false
  sendBytes(exchange, head, statusOf(check, rawQuery, ready), [], undefined)
  return true
}

function statusOf(check: Readiness | 'life', rawQuery: string, ready: (what: Readiness) => boolean): number {
  if (check !== 'life' && !ready(check)) return 503
  // `maintenance` asks whether the other servers can do without this one. There are no others.
  return rawQuery.includes('maintenance=true') ? 412 : 200
}
