/** Spans of the command, which a tracer from outside sends to a collector by OTLP. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { clientSpan, clientTrace, nameTrace } from '../support/traced-requests.ts'
import { keyVariables, serve } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const place = openWorkplace('spans')
const tracer = fileURLToPath(new URL('../support/tracer.mjs', import.meta.url))

interface SentSpan {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
}

let collector: Server
let address: string
const received: SentSpan[] = []

beforeEach(async () => {
  received.length = 0
  collector = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    for (const { scopeSpans } of JSON.parse(text).resourceSpans) {
      for (const { spans } of scopeSpans) received.push(...spans)
    }
    response.setHeader('content-type', 'application/json').end('{}')
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const bound = collector.address()
  address = typeof bound === 'object' && bound !== null ? `http://127.0.0.1:${bound.port}` : ''
})
afterEach(() => {
  collector.closeAllConnections()
  collector.close()
})

test.each(['1', '2'])('with %s workers, spans reach the collector, the last ones before the end', async (workers) => {
  const running = await serve(
    ['serve', '--data', place.path('data'), '--listen', '127.0.0.1:0', '--workers', workers],
    {
      ...keyVariables,
      NODE_OPTIONS: `--import ${tracer}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: address,
    },
  )
  const client = place.clientOf(running.ready.endpoint)
  nameTrace(client)
  await client.send(new CreateBucketCommand({ Bucket: 'photos' }))
  await client.send(new PutObjectCommand({ Bucket: 'photos', Key: 'k', Body: 'pixels' }))
  running.child.kill('SIGTERM')
  expect(await running.ended).toMatchObject({ code: 0 })
  const put = received.find(({ name }) => name === 'PutObject')
  expect(put).toMatchObject({ traceId: clientTrace, parentSpanId: clientSpan })
  const steps = received.filter(({ parentSpanId }) => parentSpanId === put?.spanId).map(({ name }) => name)
  expect(steps.sort()).toEqual(['authenticate', 'metadata commit', 'metadata read', 'send', 'store write'])
})

test('a collector that is away keeps nobody from stopping', async () => {
  const running = await serve(['serve', '--data', place.path('data'), '--listen', '127.0.0.1:0'], {
    ...keyVariables,
    NODE_OPTIONS: `--import ${tracer}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
  })
  await place.clientOf(running.ready.endpoint).send(new CreateBucketCommand({ Bucket: 'photos' }))
  running.child.kill('SIGTERM')
  expect(await running.ended).toMatchObject({ code: 0 })
})
