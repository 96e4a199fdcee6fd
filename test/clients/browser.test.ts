/** A page of another origin in Chromium, which uploads by presigned URLs, in parts too, reads back, and is refused where no CORS rule admits it. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server as PageServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutBucketCorsCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Server, startServer } from '../../src/index.ts'
import { describeInstalled } from '../support/installed.ts'

const refused = 'refused by the browser'
const partBytes = 5 * 1024 * 1024
const joinedParts = [
  { bytes: partBytes, value: 1 },
  { bytes: 1000, value: 2 },
]

interface Uploaded {
  status: number | string
  etag?: string
  progress: [loaded: number, total: number][]
  text?: string
}

interface Read {
  status: number | string
  type?: string
  names?: string[]
  sha256?: string
}

/** What the page found, as it tells it. */
interface Result {
  failed?: string
  put: Uploaded
  parts: Uploaded[]
  completed: boolean
  closedPut: Uploaded
  got: Read
  joined: Read
  missing: Read
  otherMethod: Read
  otherHeader: Read
  closedGet: Read
  everywhere: Read
}

const sha256 = (...pieces: (string | Buffer)[]): string => {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}

/** Serves the page and what it asks for; resolves `found` with what it tells. */
async function servePage(answers: Record<string, (asked: unknown) => Promise<unknown>>): Promise<PageServer> {
  const page = readFileSync(new URL('browser-page.html', import.meta.url))
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? '']
    if (request.method === 'GET' || answer === undefined) {
      response.writeHead(request.url === '/' ? 200 : 404, { 'Content-Type': 'text/html' }).end(page)
      return
    }
    void text(request)
      .then((body) => answer(body === '' ? undefined : JSON.parse(body)))
      .then((told) => response.end(JSON.stringify(told ?? null)))
      .catch((error) => response.writeHead(500).end(JSON.stringify(String(error))))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** Opens a page until `done`. The browser and all that it started end with it. */
async function browse(url: string, done: Promise<Result>): Promise<Result> {
  const profile = await mkdtemp(join(tmpdir(), 'holdfast-browser-'))
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run']
  const browser = spawn('chromium', [...flags, `--user-data-dir=${profile}`, url], { detached: true, stdio: 'ignore' })
  const ended = once(browser, 'exit').then(([code]): never => {
    throw new Error(`the browser ended with ${code}`)
  })
  const late = once(AbortSignal.timeout(90_000), 'abort').then((): never => {
    throw new Error('the page does not come to its end')
  })
  late.catch(() => {})
  try {
    return await Promise.race([done, ended, late])
  } finally {
    ended.catch(() => {})
    if (browser.pid !== undefined && browser.exitCode === null) process.kill(-browser.pid, 'SIGKILL')
    await ended.catch(() => {})
    await rm(profile, { recursive: true, force: true, maxRetries: 20 })
  }
}

function clientOf(server: Server): S3Client {
  // The notice that this Node goes out of support belongs in no report of these tests.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'
  // Only what the browser itself sends is signed: it sends no checksum.
  return new S3Client({ ...server.clientConfig(), requestChecksumCalculation: 'WHEN_REQUIRED' })
}

describeInstalled('a page of another origin in Chromium', [['chromium', '--version']], () => {
  let server: Server
  let everywhere: Server
  let pages: PageServer
  let client: S3Client
  let other: S3Client
  let result: Result

  beforeAll(async () => {
    let tell = (_result: Result): void => {}
    const told = new Promise<Result>((resolve) => {
      tell = resolve
    })
    const answers: Record<string, (asked: unknown) => Promise<unknown>> = {}
    pages = await servePage(answers)
    const origin = `http://localhost:${(pages.address() as AddressInfo).port}`
    server = await startServer({ buckets: ['open', 'closed'] })
    everywhere = await startServer({ buckets: ['plain'], corsAllowOrigin: [origin] })
    client = clientOf(server)
    other = clientOf(everywhere)
    const rule = { AllowedOrigins: [origin], AllowedMethods: ['GET', 'PUT'], AllowedHeaders: ['content-type'] }
    const CORSConfiguration = { CORSRules: [{ ...rule, ExposeHeaders: ['ETag'] }] }
    await client.send(new PutBucketCorsCommand({ Bucket: 'open', CORSConfiguration }))
    const Key = 'joined'
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket: 'open', Key }))
    await other.send(new PutObjectCommand({ Bucket: 'plain', Key: 'a', Body: 'x', Metadata: { color: 'blue' } }))
    const put = (Bucket: string) =>
      getSignedUrl(client, new PutObjectCommand({ Bucket, Key: 'put', ContentType: 'text/x-page' }))
    const get = (Bucket: string, name: string) => getSignedUrl(client, new GetObjectCommand({ Bucket, Key: name }))
    answers['/plan'] = async () => ({
      put: { url: await put('open'), text: 'by a page' },
      get: await get('open', 'put'),
      parts: await Promise.all(
        joinedParts.map(async (part, i) => ({
          ...part,
          url: await getSignedUrl(client, new UploadPartCommand({ Bucket: 'open', Key, UploadId, PartNumber: i + 1 })),
        })),
      ),
      joined: await get('open', Key),
      missing: await get('open', 'missing'),
      remove: await getSignedUrl(client, new DeleteObjectCommand({ Bucket: 'open', Key: 'put' })),
      closed: { put: await put('closed'), get: await get('closed', 'put') },
      everywhere: await getSignedUrl(other, new GetObjectCommand({ Bucket: 'plain', Key: 'a' })),
    })
    answers['/complete'] = async (etags) => {
      const Parts = (etags as string[]).map((ETag, i) => ({ ETag, PartNumber: i + 1 }))
      const upload = { Bucket: 'open', Key, UploadId, MultipartUpload: { Parts } }
      await client.send(new CompleteMultipartUploadCommand(upload))
      return true
    }
    answers['/result'] = async (found) => tell(found as Result)
    result = await browse(`${origin}/`, told)
  }, 120_000)

  afterAll(async () => {
    pages?.closeAllConnections()
    pages?.close()
    client?.destroy()
    other?.destroy()
    await server?.close()
    await everywhere?.close()
  })

  it('comes to its end', () => {
    expect(result.failed).toBeUndefined()
  })

  it('uploads by a presigned PUT, and reads back what it wrote', () => {
    expect(result.put).toMatchObject({ status: 200, etag: expect.stringMatching(/^"[0-9a-f]{32}"$/), text: '' })
    expect(result.got).toMatchObject({ status: 200, type: 'text/x-page', sha256: sha256('by a page') })
  })

  it('uploads in parts with progress, and reads the tags that completing needs', () => {
    expect(result.parts.map(({ status }) => status)).toEqual([200, 200])
    for (const [i, { progress }] of result.parts.entries()) {
      const total = joinedParts[i]?.bytes
      expect(progress.at(-1)).toEqual([total, total])
    }
    expect(result.completed).toBe(true)
    const pieces = joinedParts.map(({ bytes, value }) => Buffer.alloc(bytes, value))
    expect(result.joined).toMatchObject({ status: 200, sha256: sha256(...pieces) })
  })

  it('reads refusals, too', () => {
    expect(result.missing).toMatchObject({ status: 404, type: 'application/xml' })
  })

  it('reads the headers that the rule exposes, and no others', () => {
    expect(result.got.names).toContain('etag')
    expect(result.got.names).not.toContain('x-amz-request-id')
  })

  it('is refused a method and a header that the rule does not allow', async () => {
    expect([result.otherMethod.status, result.otherHeader.status]).toEqual([refused, refused])
    const { Body } = await client.send(new GetObjectCommand({ Bucket: 'open', Key: 'put' }))
    expect(await Body?.transformToString()).toBe('by a page')
  })

  it('is refused where the bucket has no rules, and nothing is stored', async () => {
    expect([result.closedPut.status, result.closedGet.status]).toEqual([refused, refused])
    const stored = client.send(new GetObjectCommand({ Bucket: 'closed', Key: 'put' }))
    await expect(stored).rejects.toMatchObject({ name: 'NoSuchKey' })
  })

  it('uses every bucket of a server that allows its origin everywhere, and reads every header', () => {
    expect(result.everywhere).toMatchObject({ status: 200, sha256: sha256('x') })
    expect(result.everywhere.names).toEqual(expect.arrayContaining(['etag', 'x-amz-meta-color', 'x-amz-request-id']))
  })
})
