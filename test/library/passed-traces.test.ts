/** Without a tracer, a server passes the trace that a client names on to the servers of its stores, and begins none itself. */
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'
import { startServer } from '../../src/index.ts'
import { environmentKey } from '../cli/holdfast-process.ts'
import { openWorkplace } from '../cli/workplace.ts'
import { CutProxy } from '../support/cut-proxy.ts'
import { clientSpan, clientTrace, nameTrace } from '../support/traced-requests.ts'

const place = openWorkplace('passed-traces')
const Bucket = 'photos'

it('requests to a far store carry the trace and its state, each from a sender of its own, unsigned, and only for requests that name one', async () => {
  process.env.AWS_ACCESS_KEY_ID = environmentKey.accessKeyId
  process.env.AWS_SECRET_ACCESS_KEY = environmentKey.secretAccessKey
  await using far = await startServer({ buckets: ['shards'], credentials: { ...environmentKey } })
  const way = await CutProxy.open(far.port)
  const seen: string[] = []
  way.onRequest = (bytes) => {
    seen.push(bytes.toString('latin1'))
    return 'pass'
  }
  const heads = (): string[] => seen.filter((text) => / HTTP\/1\.1\r\n/.test(text))
  const traced = (): string[] => heads().filter((text) => /^traceparent:/im.test(text))
  try {
    await using near = await startServer({
      data: place.path('near'),
      credentials: { ...environmentKey },
      stores: { far: { type: 's3', endpoint: `http://127.0.0.1:${way.port}`, bucket: 'shards' } },
      locations: { away: { scheme: 'replica', copies: 1, stores: ['far'] } },
      defaultLocation: 'away',
      buckets: [Bucket],
    })
    const plain = place.clientOf(near.endpoint, near.clientConfig())
    await plain.send(new PutObjectCommand({ Bucket, Key: 'plain', Body: 'pixels' }))
    expect(traced()).toEqual([])

    const client = place.clientOf(near.endpoint, near.clientConfig())
    nameTrace(client)
    // Large enough for an upload in parts, which the SDK sends.
    const Body = Buffer.alloc(12 * 1024 * 1024, 7)
    await client.send(new PutObjectCommand({ Bucket, Key: 'small', Body: 'pixels' }))
    await client.send(new PutObjectCommand({ Bucket, Key: 'large', Body }))
    await (await client.send(new GetObjectCommand({ Bucket, Key: 'large' }))).Body?.transformToByteArray()
    const methods = new Set(traced().map((text) => text.split(' ', 1)[0]))
    expect([...methods].sort()).toEqual(['GET', 'POST', 'PUT'])
    const parents = traced().map((text) => /^traceparent: 00-([0-9a-f]{32})-([0-9a-f]{16})-01\r$/im.exec(text))
    expect(new Set(parents.map((found) => found?.[1]))).toEqual(new Set([clientTrace]))
    const senders = parents.map((found) => found?.[2])
    expect(new Set(senders).size).toBe(senders.length)
    expect(senders).not.toContain(clientSpan)
    for (const text of traced()) {
      expect(text).toMatch(/^tracestate: vendor=opaque\r$/im)
      expect(/SignedHeaders=[^,]*/.exec(text)?.[0]).not.toContain('trace')
    }

    const count = traced().length
    await plain.send(new PutObjectCommand({ Bucket, Key: 'plain again', Body: 'pixels' }))
    nameTrace(plain, { traceparent: `00-${'0'.repeat(32)}-${clientSpan}-01` })
    await plain.send(new PutObjectCommand({ Bucket, Key: 'malformed', Body: 'pixels' }))
    expect(traced()).toHaveLength(count)
  } finally {
    await way.close()
  }
})
