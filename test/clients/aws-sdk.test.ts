import { Agent, request } from 'node:http'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import {
  ChecksumAlgorithm,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
  waitUntilObjectExists,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Server, startServer } from '../../src/index.ts'
import { patternBytes } from '../support/seeded.ts'
import { referenceChecksum } from '../support/wire-checksums.ts'
import { checksumAlgorithms } from '../support/wire-sdk.ts'

const MiB = 1024 * 1024
const Bucket = 'sdk-bucket'
let server: Server

beforeAll(async () => {
  server = await startServer({ buckets: [Bucket] })
})
afterAll(() => server.close())

/** Names below `localhost` are this machine's, which not every resolver knows. */
const lookup: LookupFunction = (_hostname, _options, found) => found(null, [{ address: '127.0.0.1', family: 4 }])

function byUrl(url: string, method: string, body = ''): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, lookup }, (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode, text: body }), reject)
    })
    outgoing.once('error', reject).end(body)
  })
}

describe.each([
  ['path style', true],
  ['virtual-host style', false],
])('the AWS SDK for JavaScript, %s', (_, forcePathStyle) => {
  let client: S3Client

  beforeAll(() => {
    const endpoint = `http://localhost:${server.port}`
    client = new S3Client({
      ...server.clientConfig(),
      endpoint,
      forcePathStyle,
      requestHandler: { httpAgent: new Agent({ lookup }) },
      checksumAlgorithms,
    })
  })
  afterAll(() => client.destroy())

  it('uploads a stream in parts with lib-storage, and reads it back verified', async () => {
    const body = patternBytes(3, 13 * MiB + 1)
    const Body = Readable.from([body.subarray(0, 3 * MiB), body.subarray(3 * MiB)])
    const upload = new Upload({ client, params: { Bucket, Key: 'uploaded', Body }, partSize: 5 * MiB, queueSize: 3 })
    expect(await upload.done()).toMatchObject({ Key: 'uploaded', ETag: expect.stringMatching(/-3"$/) })
    const { Body: back } = await client.send(new GetObjectCommand({ Bucket, Key: 'uploaded' }))
    expect(Buffer.from((await back?.transformToByteArray()) ?? []).equals(body)).toBe(true)
  })

  it('gives up an upload that is aborted', async () => {
    const Body = new Readable({ read() {} })
    const upload = new Upload({ client, params: { Bucket, Key: 'aborted', Body }, partSize: 5 * MiB })
    const done = upload.done()
    await upload.abort()
    await expect(done).rejects.toThrow()
    await expect(client.send(new HeadObjectCommand({ Bucket, Key: 'aborted' }))).rejects.toMatchObject({
      name: 'NotFound',
    })
  })

  // CRC64NVME takes a package that downloads binaries; of an MD5 the SDK makes Content-MD5.
  it.each(Object.values(ChecksumAlgorithm).filter((name) => name !== 'CRC64NVME' && name !== 'MD5'))(
    'streams with a %s trailer that the server verifies, and verifies what it reads',
    async (algorithm) => {
      const body = patternBytes(4, 200_000)
      const Key = `sum-${algorithm}`
      const sized = { ContentLength: body.length, Body: Readable.from([body.subarray(0, 1000), body.subarray(1000)]) }
      await client.send(new PutObjectCommand({ Bucket, Key, ChecksumAlgorithm: algorithm, ...sized }))
      const head = await client.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }))
      expect(head[`Checksum${algorithm}`]).toBe(referenceChecksum(algorithm, body))
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }))
      expect(body.equals((await Body?.transformToByteArray()) ?? Buffer.alloc(0))).toBe(true)
    },
  )

  it('presigns reads and writes with its defaults', async () => {
    const put = await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: 'presigned' }), { expiresIn: 60 })
    expect(await byUrl(put, 'PUT', 'by url')).toMatchObject({ status: 200 })
    const get = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'presigned' }), { expiresIn: 60 })
    expect(await byUrl(get, 'GET')).toEqual({ status: 200, text: 'by url' })
  })

  it('pages, waits and deletes many', async () => {
    const keys = Array.from({ length: 12 }, (_entry, i) => `page/${String(i).padStart(2, '0')}`)
    await Promise.all(keys.map((Key) => client.send(new PutObjectCommand({ Bucket, Key, Body: Key }))))
    await waitUntilObjectExists({ client, maxWaitTime: 10 }, { Bucket, Key: 'page/11' })
    const seen: (string | undefined)[] = []
    for await (const page of paginateListObjectsV2({ client, pageSize: 5 }, { Bucket, Prefix: 'page/' })) {
      seen.push(...(page.Contents ?? []).map(({ Key }) => Key))
    }
    expect(seen).toEqual(keys)
    const Objects = keys.map((Key) => ({ Key }))
    const { Deleted } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
    expect(Deleted).toHaveLength(12)
    expect((await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'page/' }))).KeyCount).toBe(0)
  })
})
