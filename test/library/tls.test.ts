/** A library server that speaks TLS. */
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadBucketCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer } from '../../src/index.ts'
import { type Authority, makeAuthority, opensslProbe } from '../support/authority.ts'
import { describeInstalled } from '../support/installed.ts'
import { patternBytes } from '../support/seeded.ts'

describeInstalled('startServer with TLS', [opensslProbe], () => {
  let directory: string
  let authority: Authority
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'holdfast-library-tls-'))
    authority = makeAuthority(directory)
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  test('serves the AWS SDK that trusts its authority, large bodies and parts included', async () => {
    await using server = await startServer({ tls: authority.issue('library'), buckets: ['bucket'], region: 'home-1' })
    expect(server.endpoint).toBe(`https://127.0.0.1:${server.port}`)
    // An agent, not its options: for bodies that wait for 100 Continue, the SDK makes an agent of its own, without them.
    const httpsAgent = new Agent({ ca: authority.cert, keepAlive: true })
    const s3 = new S3Client({ ...server.clientConfig(), requestHandler: { httpsAgent } })
    try {
      expect(await s3.send(new HeadBucketCommand({ Bucket: 'bucket' }))).toMatchObject({ BucketRegion: 'home-1' })
      const object = { Bucket: 'bucket', Key: 'large' }
      const bytes = patternBytes(1, 6 * 1024 * 1024)
      await s3.send(new PutObjectCommand({ ...object, Body: bytes }))
      const { Body } = await s3.send(new GetObjectCommand(object))
      expect(bytes.equals((await Body?.transformToByteArray()) ?? Buffer.alloc(0))).toBe(true)

      const { UploadId } = await s3.send(new CreateMultipartUploadCommand(object))
      const { ETag } = await s3.send(new UploadPartCommand({ ...object, UploadId, PartNumber: 1, Body: 'part' }))
      const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] }
      const completed = await s3.send(new CompleteMultipartUploadCommand({ ...object, UploadId, MultipartUpload }))
      expect(completed.Location).toBe(`${server.endpoint}/bucket/large`)
    } finally {
      s3.destroy()
    }
  })

  test('does not serve a client that does not know its authority', async () => {
    await using server = await startServer({ tls: authority.issue('library'), buckets: ['bucket'] })
    const s3 = new S3Client({ ...server.clientConfig(), maxAttempts: 1 })
    await expect(s3.send(new HeadBucketCommand({ Bucket: 'bucket' }))).rejects.toThrow(/certificate/)
    s3.destroy()
  })

  test('what is no pair is refused by name, without a word of the key', async () => {
    const { cert, key } = authority.issue('first')
    const other = authority.issue('second')
    const lines = key.split('\n')
    for (const [tls, message] of [
      [{ cert: 'nothing', key }, /^tls\.cert holds no certificate/],
      [{ cert: key, key }, /^tls\.cert holds no certificate/],
      [{ cert, key: cert }, /^tls\.key holds no private key/],
      [{ cert, key: lines.slice(0, 2).join('\n') }, /^tls\.key holds no private key/],
      [{ cert, key: other.key }, /^the private key in tls\.key does not belong to the certificate in tls\.cert/],
    ] as const) {
      const error = await startServer({ tls }).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ name: 'ConfigurationError', message: expect.stringMatching(message) })
      expect(String(error)).not.toContain(lines[1])
    }
  })
})
