/** Failures on purpose: what clients see of them, and what the server has done by then. */
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FailureOptions, type Server, startServer } from '../../src/index.ts'

const Bucket = 'photos'
let server: Server
let s3: S3Client
let patient: S3Client

beforeEach(async () => {
  server = await startServer({ buckets: [Bucket, 'other'] })
  s3 = new S3Client({ ...server.clientConfig(), maxAttempts: 1 })
  patient = new S3Client({ ...server.clientConfig(), maxAttempts: 3 })
})
afterEach(async () => {
  s3.destroy()
  patient.destroy()
  await server.close()
})

const put = (Key: string, Body: string | Buffer = Key, client = s3) =>
  client.send(new PutObjectCommand({ Bucket, Key, Body }))
async function get(Key: string): Promise<string> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }))
  return (await Body?.transformToString()) ?? ''
}
const keys = async () => (await s3.send(new ListObjectsV2Command({ Bucket }))).Contents?.map(({ Key }) => Key) ?? []
const nameOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: Error) => error.name,
  )

describe('an error', () => {
  it('refuses the next request, which does nothing', async () => {
    const failure = server.fail({ operation: 'PutObject', error: 'SlowDown' })
    await expect(put('a')).rejects.toMatchObject({ name: 'SlowDown', $metadata: { httpStatusCode: 503 } })
    expect([failure.met, await keys()]).toEqual([1, []])
    await put('a')
    expect([failure.met, await keys()]).toEqual([1, ['a']])
  })

  it('is outlived by a client that tries again', async () => {
    const failure = server.fail({ operation: 'PutObject', error: 'InternalError', times: 2 })
    await put('a', 'hello', patient)
    expect([failure.met, await get('a')]).toEqual([2, 'hello'])
  })

  it('answers a large body that was not read', async () => {
    server.fail({ operation: 'PutObject', error: 'SlowDown' })
    expect(await nameOf(put('a', Buffer.alloc(20_000_000)))).toBe('SlowDown')
    await put('a')
  })

  it('meets only the requests that were named', async () => {
    using failure = server.fail({
      operation: ['PutObject', 'HeadObject'],
      bucket: Bucket,
      key: /^logs\/.*\.gz$/g,
      skip: 1,
      times: Number.POSITIVE_INFINITY,
      error: 'ServiceUnavailable',
    })
    await put('logs/passes.gz')
    expect(await nameOf(put('logs/a.gz'))).toBe('ServiceUnavailable')
    expect(await nameOf(put('logs/b.gz'))).toBe('ServiceUnavailable')
    expect(await nameOf(put('logs/b.txt'))).toBe('ok')
    const elsewhere = new PutObjectCommand({ Bucket: 'other', Key: 'logs/b.gz', Body: 'x' })
    expect(await nameOf(s3.send(elsewhere))).toBe('ok')
    expect(await nameOf(s3.send(new DeleteObjectCommand({ Bucket, Key: 'logs/passes.gz' })))).toBe('ok')
    await expect(s3.send(new HeadObjectCommand({ Bucket, Key: 'logs/c.gz' }))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 503 },
    })
    expect(failure.met).toBe(3)
    failure.end()
    await put('logs/a.gz')
  })

  it('ends with its scope, and with a reset', async () => {
    {
      using _ = server.fail({ error: 'SlowDown', times: Number.POSITIVE_INFINITY })
      expect(await nameOf(put('a'))).toBe('SlowDown')
    }
    await put('a')
    server.fail({ error: 'SlowDown', times: Number.POSITIVE_INFINITY })
    await server.reset()
    await put('a')
  })

  it('does not answer those who may not ask', async () => {
    const failure = server.fail({ error: 'SlowDown' })
    const credentials = { ...server.credentials, secretAccessKey: 'wrong' }
    const stranger = new S3Client({ ...server.clientConfig(), credentials, maxAttempts: 1 })
    expect(await nameOf(put('a', 'a', stranger))).toBe('SignatureDoesNotMatch')
    expect(failure.met).toBe(0)
    stranger.destroy()
  })

  it('of two that fit, the first planned comes first', async () => {
    server.fail({ operation: 'PutObject', error: 'SlowDown' })
    server.fail({ operation: 'PutObject', error: 'AccessDenied' })
    expect([await nameOf(put('a')), await nameOf(put('a')), await nameOf(put('a'))]).toEqual([
      'SlowDown',
      'AccessDenied',
      'ok',
    ])
  })
})

describe('a connection that closes', () => {
  it('before the request is carried out: nothing is done', async () => {
    server.fail({ operation: 'PutObject', disconnect: 'before' })
    expect(await nameOf(put('a'))).not.toBe('ok')
    expect(await keys()).toEqual([])
  })

  it('after it: the client does not learn that it was', async () => {
    server.fail({ operation: 'PutObject', disconnect: 'after' })
    expect(await nameOf(put('a', 'hello'))).not.toBe('ok')
    expect(await get('a')).toBe('hello')
  })

  it('after it, where the answer of a slow operation is lost', async () => {
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'large' }))
    const part = { Bucket, Key: 'large', UploadId }
    const { ETag } = await s3.send(new UploadPartCommand({ ...part, PartNumber: 1, Body: 'hello' }))
    const complete = new CompleteMultipartUploadCommand({
      ...part,
      MultipartUpload: { Parts: [{ ETag, PartNumber: 1 }] },
    })
    const failure = server.fail({ operation: 'CompleteMultipartUpload', disconnect: 'after' })
    expect(await nameOf(s3.send(complete))).not.toBe('ok')
    expect([failure.met, await get('large')]).toEqual([1, 'hello'])
    expect(await nameOf(s3.send(complete))).toBe('ok')
  })
})

describe('a body', () => {
  const body = Buffer.alloc(5_000_000, 'holdfast ')

  it.each([
    ['small', 0],
    ['small', 4],
    ['large', 0],
    ['large', 3_000_000],
  ])('breaks off: of a %s object, after %d bytes', async (Key, truncateAt) => {
    await put(Key, Key === 'small' ? 'hello' : body)
    server.fail({ operation: 'GetObject', truncateAt })
    const response = await fetch(await presigned(Key))
    expect(response.status).toBe(200)
    let received = 0
    const reading = (async () => {
      for await (const chunk of response.body ?? []) received += chunk.length
    })()
    expect(await nameOf(reading)).not.toBe('ok')
    expect(received).toBe(truncateAt)
    expect((await get(Key)).length).toBe(Key === 'small' ? 5 : body.length)
  })

  it.each([
    ['small', 4],
    ['large', 4_999_999],
  ])(
    'arrives with a wrong byte, which a client that verifies checksums notices: of a %s object',
    async (Key, corruptAt) => {
      await put(Key, Key === 'small' ? 'hello' : body)
      server.fail({ operation: 'GetObject', corruptAt })
      await expect(get(Key)).rejects.toThrow(/[Cc]hecksum/)
      expect((await get(Key)).length).toBe(Key === 'small' ? 5 : body.length)
    },
  )

  it('of a list breaks off', async () => {
    await put('a')
    server.fail({ operation: 'ListObjectsV2', truncateAt: 20 })
    expect(await nameOf(keys())).not.toBe('ok')
    expect(await keys()).toEqual(['a'])
  })

  async function presigned(Key: string): Promise<string> {
    const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner')
    return getSignedUrl(s3, new GetObjectCommand({ Bucket, Key }))
  }
})

describe('a delay', () => {
  it('comes before the request, which is served then, or fails', async () => {
    await put('a')
    server.fail({ operation: 'GetObject', delayMs: 30 })
    server.fail({ operation: 'GetObject', delayMs: 30, error: 'SlowDown' })
    for (const name of ['ok', 'SlowDown']) {
      const beganMs = performance.now()
      expect(await nameOf(get('a'))).toBe(name)
      // Timers may be a millisecond early.
      expect(performance.now() - beganMs).toBeGreaterThan(28)
    }
  })
})

describe('a failure that can’t be planned', () => {
  it.each<[string, Record<string, unknown>]>([
    ['one of error, disconnect, truncateAt and corruptAt', {}],
    ['one of error, disconnect, truncateAt and corruptAt', { error: 'SlowDown', disconnect: 'after' }],
    ["no error has the code SlowDwn; did you mean 'SlowDown'?", { error: 'SlowDwn' }],
    ["no operation is named PutObjects; did you mean 'PutObject'?", { operation: 'PutObjects', error: 'SlowDown' }],
    ["there is no operations; did you mean 'operation'?", { operations: 'PutObject', error: 'SlowDown' }],
    ['times expects a whole number', { times: -1, error: 'SlowDown' }],
    ['truncateAt expects a whole number', { truncateAt: 0.5 }],
    ["disconnect expects 'before' or 'after'", { disconnect: 'now' }],
  ])('is refused: %s', (message, options) => {
    expect(() => server.fail(options as FailureOptions)).toThrow(message)
  })
})
