import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { environmentKey, killLeftovers, serve } from '../cli/holdfast-process.ts'
import { testClient } from '../cli/workplace.ts'
import { type HeaderPair, sign } from '../support/signer.ts'

const MiB = 1024 * 1024
const GiB = 1024 * MiB
const growthMiBMax = 200
/** Several times what the memory may grow by; `npm run trust` takes more. */
const isFull = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1') > 1
const oneBytes = isFull ? GiB : GiB / 2
const [parts, atOnce] = [10, 4]
const partBytes = isFull ? 512 * MiB : 128 * MiB
/** The same mebibyte again and again: what it holds is no matter, that it comes back is. */
const mebibyte = Buffer.alloc(MiB, 'holdfast')

let root: string
let server: Awaited<ReturnType<typeof serve>>
let client: S3Client

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-memory-'))
  server = await serve(['serve', '--data', join(root, 'data'), '--listen', '127.0.0.1:0'])
  const { endpoint } = server.ready
  client = testClient(endpoint)
  await client.send(new CreateBucketCommand({ Bucket: 'big' }))
})
afterEach(async () => {
  client.destroy()
  await killLeftovers()
  await server.ended
  await rm(root, { recursive: true, force: true, maxRetries: 20 })
})

/** Resident memory of the server in MiB: now, or the most it ever had. */
async function memoryMiB(field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${server.ready.pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
}

async function send(method: string, target: string, query: HeaderPair[], bytes: number): Promise<IncomingMessage> {
  const { host, port, hostname } = new URL(server.ready.endpoint)
  const signed = sign({ method, host, path: target, query }, { key: environmentKey, payloadHash: 'UNSIGNED-PAYLOAD' })
  const headers = signed.headers.filter(([name]) => name !== 'Content-Length')
  if (method === 'PUT') headers.push(['Content-Length', String(bytes)])
  const outgoing = request({ hostname, port, method, path: signed.target, headers: headers.flat() })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject)
  })
  await pipeline(Readable.from(mebibytes(bytes)), outgoing)
  return answered
}

function* mebibytes(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= MiB) yield left >= MiB ? mebibyte : mebibyte.subarray(0, left)
}

function md5Of(bytes: number): string {
  const digest = createHash('md5')
  for (const chunk of mebibytes(bytes)) digest.update(chunk)
  return digest.digest('hex')
}

test.skipIf(process.platform !== 'linux')(
  `one PUT of ${oneBytes / MiB} MiB streams through in bounded memory, and back`,
  async () => {
    const beforeMiB = await memoryMiB('VmRSS')
    const put = await send('PUT', '/big/one', [], oneBytes)
    put.resume()
    expect([put.statusCode, put.headers.etag]).toEqual([200, `"${md5Of(oneBytes)}"`])

    const got = await send('GET', '/big/one', [], 0)
    const digest = createHash('md5')
    for await (const chunk of got) digest.update(chunk as Buffer)
    expect(digest.digest('hex')).toBe(md5Of(oneBytes))
    expect((await memoryMiB('VmHWM')) - beforeMiB).toBeLessThan(growthMiBMax)
  },
  10 * 60_000,
)

test.skipIf(process.platform !== 'linux')(
  `${(parts * partBytes) / MiB} MiB by multipart stay in bounded memory`,
  async () => {
    const address = { Bucket: 'big', Key: 'many' }
    const { UploadId = '' } = await client.send(new CreateMultipartUploadCommand(address))
    const beforeMiB = await memoryMiB('VmRSS')
    const Parts: { PartNumber: number; ETag: string | undefined }[] = []
    for (let first = 1; first <= parts; first += atOnce) {
      const numbers = Array.from({ length: Math.min(atOnce, parts - first + 1) }, (_, i) => first + i)
      const answers = await Promise.all(
        numbers.map((number) =>
          send(
            'PUT',
            '/big/many',
            [
              ['partNumber', String(number)],
              ['uploadId', UploadId],
            ],
            partBytes,
          ),
        ),
      )
      for (const [i, answer] of answers.entries()) {
        answer.resume()
        expect(answer.statusCode).toBe(200)
        Parts.push({ PartNumber: numbers[i] ?? 0, ETag: answer.headers.etag })
      }
    }
    await client.send(new CompleteMultipartUploadCommand({ ...address, UploadId, MultipartUpload: { Parts } }))
    const { ContentLength } = await client.send(new HeadObjectCommand(address))
    expect(ContentLength).toBe(parts * partBytes)
    expect((await memoryMiB('VmHWM')) - beforeMiB).toBeLessThan(growthMiBMax)
  },
  10 * 60_000,
)
