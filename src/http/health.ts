/** Health checks on the S3 port, where MinIO has them: the only requests that are answered without a signature. */
import { sendBytes } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { headerValue, type RequestHead } from './request-head.ts'

const livePath = '/minio/health/live'
const readyPath = '/minio/health/ready'

/** Whether the request was a health check, and so has been answered. A signed request for such a path means a bucket. */
export function answerHealth(exchange: Exchange, head: RequestHead, ready: () => boolean): boolean {
  const { method, rawPath, rawQuery } = head
  if (rawPath !== livePath && rawPath !== readyPath) return false
  if ((method !== 'GET' && method !== 'HEAD') || rawQuery !== '') return false
  if (headerValue(head, 'authorization') !== undefined) return false
  sendBytes(exchange, head, rawPath === livePath || ready() ? 200 : 503, [], undefined)
  return true
}
