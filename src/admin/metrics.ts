/** Answers scrapes with the server's metrics. This machine needs no permission; others need a token. */
import { timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { S3Error } from '../errors.ts'
import { sendBytes } from '../http/answer.ts'
import { bothEndsLoopback } from '../http/connections/loopback.ts'
import type { Exchange } from '../http/exchange.ts'
import { headerValue, type RequestHead } from '../http/request-head.ts'
import { guardHeaders } from './requests/answer.ts'
import { defineAdminOperation } from './requests/operation.ts'
import type { MetricsSource } from './services.ts'
import { metricFamily } from './state-views.ts'
import { noInput } from './views.ts'

/** The second path is MinIO's. */
const paths = ['/metrics', '/minio/v2/metrics/cluster']

/** False: the request is not a scrape. Throws AccessDenied. `token`: absent when only this machine may scrape. */
export async function answerScrape(
  exchange: Exchange,
  head: RequestHead,
  { source, token }: { source: MetricsSource; token: string | undefined },
): Promise<boolean> {
  if (!paths.includes(head.rawPath) || (head.method !== 'GET' && head.method !== 'HEAD')) return false
  exchange.operationName = 'GetMetrics'
  if (!mayScrape(exchange, head, token)) {
    throw new S3Error('AccessDenied', {
      message: 'Metrics are for clients on this machine, or for those that send adminMetricsToken as a bearer token.',
    })
  }
  const { contentType, text } = await source.expose(headerValue(head, 'accept'))
  sendBytes(exchange, head, 200, [...guardHeaders(), 'Content-Type', contentType], Buffer.from(text))
  return true
}

const forwarding = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/** A request that a proxy on this machine forwards comes from elsewhere. */
function mayScrape({ request }: Exchange, head: RequestHead, token: string | undefined): boolean {
  const sent = /^Bearer ([^\s]+)$/i.exec(headerValue(head, 'authorization') ?? '')?.[1]
  if (token !== undefined && sent !== undefined) return sameToken(sent, token)
  const isForwarded = forwarding.some((name) => head.names.includes(name))
  return bothEndsLoopback(request.socket) && !isForwarded && !head.names.includes('authorization')
}

function sameToken(sent: string, token: string): boolean {
  const [one, other] = [Buffer.from(sent), Buffer.from(token)]
  return one.length === other.length && timingSafeEqual(one, other)
}

const getMetrics = defineAdminOperation({
  name: 'GetMetrics',
  summary: 'Shows the same metrics as `/metrics`, as JSON.',
  method: 'GET',
  path: '/v1/metrics',
  permission: 'admin:Prometheus',
  status: 200,
  input: noInput,
  output: z.object({ families: z.array(metricFamily) }),
  handle: async ({ metrics }) => ({ families: await metrics.families() }),
})

export const metricsOperations = [getMetrics]
