/** Spans of an embedded server, as the tracer of the application collects them. */
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListBucketsCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Server, startServer } from '../../src/index.ts'
import { openTraces } from '../../src/opening/open-telemetry.ts'
import { environmentKey } from '../cli/holdfast-process.ts'
import { openWorkplace } from '../cli/workplace.ts'
import { clientSpan, clientTrace, nameTrace } from '../support/traced-requests.ts'

const place = openWorkplace('spans')
const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
const Bucket = 'photos'
const Key = 'an album/a picture'

let server: Server
let client: S3Client
const logged: string[] = []

beforeAll(() => provider.register())
afterAll(() => provider.shutdown())
beforeEach(async () => {
  const log = pino({ level: 'info' }, { write: (line) => void logged.push(line) })
  server = await startServer({ buckets: [Bucket], credentials: { ...environmentKey }, log })
  client = place.clientOf(server.endpoint, server.clientConfig())
  exporter.reset()
  logged.length = 0
})
afterEach(() => server.close())

/** A span arrives when its answer is with the client, or a moment later. */
async function collected(operation: string, servers = 1): Promise<ReadableSpan[]> {
  const ofServers = (): ReadableSpan[] => exporter.getFinishedSpans().filter(({ kind }) => kind === SpanKind.SERVER)
  await expect.poll(() => ofServers().length).toBe(servers)
  expect(ofServers().map(({ name }) => name)).toContain(operation)
  return exporter.getFinishedSpans()
}

const named = (spans: readonly ReadableSpan[], name: string): ReadableSpan => {
  const found = spans.find((span) => span.name === name)
  if (found === undefined) throw new Error(`no span ${name} among ${spans.map((span) => span.name).join(', ')}`)
  return found
}

/** The names of the span's children, in the order in which they began. */
const childrenOf = (spans: readonly ReadableSpan[], parent: ReadableSpan): string[] =>
  spans
    .filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent.spanContext().spanId)
    .sort((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1])
    .map(({ name }) => name)

it('a PUT is a span of the trace that its client names, with the steps of the work below it', async () => {
  nameTrace(client)
  await client.send(new PutObjectCommand({ Bucket, Key, Body: 'pixels' }))
  const spans = await collected('PutObject')
  const request = named(spans, 'PutObject')
  expect(request.spanContext().traceId).toBe(clientTrace)
  expect(request.parentSpanContext).toMatchObject({ spanId: clientSpan, isRemote: true })
  expect(request.spanContext().traceState?.serialize()).toBe('vendor=opaque')
  expect(request.attributes).toMatchObject({
    'http.request.method': 'PUT',
    'url.path': '/photos/an%20album/a%20picture',
    'url.scheme': 'http',
    'http.response.status_code': 200,
    'http.request.body.size': 6,
    'client.address': '127.0.0.1',
    'rpc.system': 'aws-api',
    'rpc.service': 'S3',
    'rpc.method': 'PutObject',
    'aws.s3.bucket': Bucket,
    'aws.s3.key': Key,
    'aws.request_id': expect.stringMatching(/^[0-9A-F]{16}$/),
  })
  expect(request.status.code).toBe(SpanStatusCode.UNSET)
  expect(childrenOf(spans, request)).toEqual([
    'authenticate',
    'metadata read',
    'store write',
    'metadata commit',
    'send',
  ])
  expect(childrenOf(spans, named(spans, 'store write'))).toEqual(['receive body'])
  expect(named(spans, 'store write').attributes).toMatchObject({ 'holdfast.location': 'default' })
  expect(JSON.parse(logged[0] ?? '')).toMatchObject({ operation: 'PutObject', traceId: clientTrace })
})

it('a large GET reads the store before it sends', async () => {
  const Body = Buffer.alloc(3 * 1024 * 1024, 7)
  await client.send(new PutObjectCommand({ Bucket, Key, Body }))
  await collected('PutObject')
  exporter.reset()
  const answer = await client.send(new GetObjectCommand({ Bucket, Key }))
  expect((await answer.Body?.transformToByteArray())?.length).toBe(Body.length)
  const spans = await collected('GetObject')
  const request = named(spans, 'GetObject')
  expect(childrenOf(spans, request)).toEqual(['authenticate', 'metadata read', 'store read', 'send'])
  expect(request.attributes).toMatchObject({ 'http.response.body.size': Body.length })
})

it('a request without a trace begins one, which its log line names', async () => {
  await client.send(new ListBucketsCommand({}))
  const request = named(await collected('ListBuckets'), 'ListBuckets')
  expect(request.parentSpanContext).toBeUndefined()
  expect(request.attributes).not.toHaveProperty(['aws.s3.bucket'])
  expect(JSON.parse(logged[0] ?? '')).toMatchObject({ traceId: request.spanContext().traceId })
})

it('a refusal names its code, and is no failure of the server', async () => {
  await expect(client.send(new GetObjectCommand({ Bucket, Key: 'missing' }))).rejects.toThrow()
  const request = named(await collected('GetObject'), 'GetObject')
  expect(request.attributes).toMatchObject({ 'http.response.status_code': 404, 'error.type': 'NoSuchKey' })
  expect(request.status.code).toBe(SpanStatusCode.UNSET)
})

it('no span holds anything with which its reader could repeat a request', async () => {
  const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'missing' }))
  const signature = new URL(url).searchParams.get('X-Amz-Signature') ?? ''
  expect((await fetch(url)).status).toBe(404)
  expect((await fetch(url.replace(signature, 'f'.repeat(64)))).status).toBe(403)
  const spans = await collected('GetObject', 2)
  const said = JSON.stringify(spans.map(({ name, attributes, events, status }) => [name, attributes, events, status]))
  expect(said).toContain('/photos/missing')
  expect(said).not.toMatch(new RegExp(`${signature}|f{64}|X-Amz|${environmentKey.secretAccessKey}`))
})

it('a request that proves no identity has a span named by its method, whose first step has failed', async () => {
  expect((await fetch(`${server.endpoint}/photos/secret`)).status).toBe(403)
  const spans = await collected('GetObject')
  const credentials = { accessKeyId: 'nobody-has-it', secretAccessKey: 'a secret of nobody' }
  const stranger = place.clientOf(server.endpoint, { credentials })
  await expect(stranger.send(new GetObjectCommand({ Bucket, Key: 'secret' }))).rejects.toThrow()
  expect(named(spans, 'GetObject').attributes).toMatchObject({ 'error.type': 'AccessDenied' })
  const request = named(await collected('GET', 2), 'GET')
  expect(request.attributes).toMatchObject({ 'error.type': 'InvalidAccessKeyId', 'http.response.status_code': 403 })
  expect(request.attributes).not.toHaveProperty(['aws.s3.bucket'])
  const last = exporter.getFinishedSpans().findLast(({ name }) => name === 'authenticate')
  expect(last?.status.code).toBe(SpanStatusCode.ERROR)
})

it('concurrent requests each have their own steps', async () => {
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => client.send(new PutObjectCommand({ Bucket, Key: `${i}`, Body: 'x' }))),
  )
  const spans = await collected('PutObject', 20)
  for (const request of spans.filter(({ name }) => name === 'PutObject')) {
    expect(childrenOf(spans, request)).toEqual([
      'authenticate',
      'metadata read',
      'store write',
      'metadata commit',
      'send',
    ])
  }
})

it('health checks make no spans', async () => {
  expect((await fetch(`${server.endpoint}/minio/health/live`)).status).toBe(200)
  await client.send(new ListBucketsCommand({}))
  expect((await collected('ListBuckets')).filter(({ kind }) => kind === SpanKind.SERVER)).toHaveLength(1)
})

it('a span that other instrumentation has begun for the request is the parent, one of another request is not', async () => {
  const traces = await openTraces(() => {})
  const outer = trace.getTracer('instrumentation of HTTP').startSpan('PUT')
  const inOuter = context.with.bind(context, trace.setSpan(context.active(), outer))
  const begin = (traceId?: string) => {
    const parent = traceId === undefined ? undefined : { traceId, parentId: clientSpan, sampled: true }
    return inOuter(() => traces?.begin('PUT', { parent, state: undefined }, {}))
  }
  const ids = [begin(), begin(outer.spanContext().traceId), begin(clientTrace)]
  outer.end()
  ids.push(begin())
  for (const span of ids) span?.end()
  const parents = exporter.getFinishedSpans().slice(-ids.length)
  const { spanId } = outer.spanContext()
  expect(parents.map((span) => span.parentSpanContext?.spanId)).toEqual([spanId, spanId, clientSpan, undefined])
})

it('what goes to a far store is in the same trace: one span here for each request, and what the far server did below it', async () => {
  process.env.AWS_ACCESS_KEY_ID = environmentKey.accessKeyId
  process.env.AWS_SECRET_ACCESS_KEY = environmentKey.secretAccessKey
  await client.send(new CreateBucketCommand({ Bucket: 'shards' }))
  await using near = await startServer({
    data: place.path('near'),
    credentials: { ...environmentKey },
    stores: { far: { type: 's3', endpoint: server.endpoint, bucket: 'shards' } },
    locations: { away: { scheme: 'replica', copies: 1, stores: ['far'] } },
    defaultLocation: 'away',
    buckets: [Bucket],
  })
  const nearClient = place.clientOf(near.endpoint, near.clientConfig())
  nameTrace(nearClient)
  exporter.reset()
  await nearClient.send(new PutObjectCommand({ Bucket, Key, Body: 'pixels' }))
  const ofTrace = (): ReadableSpan[] =>
    exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === clientTrace)
  const far = (): ReadableSpan[] => ofTrace().filter((span) => span.attributes['aws.s3.bucket'] === 'shards')
  await expect.poll(() => far().map(({ name }) => name)).toContain('PutObject')
  const isOfNear = ({ attributes }: ReadableSpan): boolean => attributes['holdfast.location'] === 'away'
  await expect
    .poll(() =>
      ofTrace()
        .filter(isOfNear)
        .flatMap((write) => childrenOf(ofTrace(), write)),
    )
    .toContain('PUT')
  const sent = ofTrace().filter(({ kind }) => kind === SpanKind.CLIENT)
  const ids = sent.map((span) => span.spanContext().spanId)
  for (const { parentSpanContext } of far()) expect(ids).toContain(parentSpanContext?.spanId)
  expect(sent[0]?.attributes).toMatchObject({ 'server.address': '127.0.0.1', 'server.port': server.port })
})
