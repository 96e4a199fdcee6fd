import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListBucketsCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { machineShare } from '../../../src/cli/serving/machine-share.ts'
import { workerCount } from '../../../src/cli/serving/worker-count.ts'
import { environmentKey, keyVariables, killLeftovers, run, serve } from '../holdfast-process.ts'

let root: string
let data: string
const clients: S3Client[] = []

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-serve-'))
  data = join(root, 'data')
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  await killLeftovers()
  await rm(root, { recursive: true, force: true, maxRetries: 20 })
})

function clientOf(endpoint: string, credentials = environmentKey): S3Client {
  const client = new S3Client({ endpoint, region: 'us-east-1', credentials, forcePathStyle: true })
  clients.push(client)
  return client
}

const local = (...words: string[]): string[] => ['serve', '--data', data, '--listen', '127.0.0.1:0', ...words]

describe('starting', () => {
  test('the first start makes a key and prints it; the next keeps it and its secret to itself', async () => {
    const first = await serve(local(), {})
    const { accessKeyId, secretAccessKey = '', secretKeptIn } = first.ready
    await clientOf(first.ready.endpoint, { accessKeyId, secretAccessKey }).send(
      new CreateBucketCommand({ Bucket: 'kept' }),
    )
    expect((await stat(secretKeptIn)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(secretKeptIn, 'utf8'))).toEqual({ accessKeyId, secretAccessKey })
    first.child.kill('SIGTERM')
    expect(await first.ended).toMatchObject({ code: 0, stderr: '' })

    const second = await serve(local('--log-level', 'info'), {})
    const client = clientOf(second.ready.endpoint, { accessKeyId, secretAccessKey })
    expect((await client.send(new ListBucketsCommand({}))).Buckets).toMatchObject([{ Name: 'kept' }])
    second.child.kill('SIGTERM')
    const { code, stdout, stderr } = await second.ended
    expect(code).toBe(0)
    expect(stderr).toContain('ListBuckets')
    expect(stdout + stderr).not.toContain(secretAccessKey)
  })

  test('a person sees endpoint, key and data directory, and a script its one line', async () => {
    const running = run(local(), keyVariables)
    const ready = await running.line((line) => line.startsWith('ready '))
    expect(ready).toMatch(/^ready http:\/\/127\.0\.0\.1:\d+ accessKeyId=test-access-key workers=1 pid=\d+$/)
    expect(running.output.stdout).toContain(data)
    expect(running.output.stdout).toContain('secret key  kept in the environment variable HOLDFAST_SECRET_ACCESS_KEY\n')
    expect(running.output.stdout).not.toContain(environmentKey.secretAccessKey)
    running.child.kill('SIGINT')
    expect((await running.ended).code).toBe(0)
  })

  test("MinIO's command line and environment start it", async () => {
    const running = await serve(['server', '--address', '127.0.0.1:0', '--console-address', '127.0.0.1:0', data], {
      MINIO_ROOT_USER: 'minio-user',
      MINIO_ROOT_PASSWORD: 'minio-password',
    })
    expect(running.ready).toMatchObject({ accessKeyId: 'minio-user', data })
    expect((await fetch(`${running.ready.endpoint}/minio/health/live`)).status).toBe(200)
    expect((await fetch(`${running.ready.adminEndpoint}/readyz`)).status).toBe(200)
    expect(running.output.stderr).toBe('')
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
  })

  test('a port in use is said clearly', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const address = taken.address()
    const port = typeof address === 'object' ? address?.port : 0
    for (const workers of ['1', '2']) {
      const outcome = await run(['--data', data, '--listen', `127.0.0.1:${port}`, '--workers', workers], keyVariables)
        .ended
      const stderr = `holdfast: cannot listen on 127.0.0.1:${port}: another process listens there already\n`
      expect(outcome).toMatchObject({ code: 1, stdout: '', stderr })
    }
    taken.close()
  })

  test('a directory that holds something else is refused', async () => {
    await writeFile(join(root, 'photo.jpg'), '')
    const outcome = await run(['--data', root, '--listen', ':0'], keyVariables).ended
    expect(outcome).toMatchObject({ code: 1, stdout: '' })
    expect(outcome.stderr).toContain("it holds 'photo.jpg'")
  })

  test('metadata never meets a store that it does not know', async () => {
    const first = await serve(local())
    first.child.kill('SIGTERM')
    await first.ended
    await rm(join(data, 'store'), { recursive: true })
    expect(await run(local(), keyVariables).ended).toMatchObject({ code: 1, stdout: '' })
  })

  test('a store with data never meets empty metadata: all of it would look like garbage', async () => {
    const first = await serve(local())
    const client = clientOf(first.ready.endpoint)
    await client.send(new CreateBucketCommand({ Bucket: 'bucket' }))
    await client.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'key', Body: 'body' }))
    first.child.kill('SIGTERM')
    await first.ended
    await rm(join(data, 'meta'), { recursive: true })
    const outcome = await run(local(), keyVariables).ended
    expect(outcome.code).toBe(1)
    expect(outcome.stderr).toContain('holds data but no metadata')
  })
})

describe('one instance a data directory', () => {
  test('a second is refused by the pid of the first, also offline reclaim', async () => {
    const first = await serve(local())
    for (const words of [local(), ['reclaim', '--data', data]]) {
      const outcome = await run(words, keyVariables).ended
      expect(outcome).toMatchObject({ code: 1, stdout: '' })
      expect(outcome.stderr).toContain(`in use by process ${first.child.pid} `)
    }
  })

  test.each(['1', '2', '3'])(
    'what was acknowledged before kill -9 is there after the next start, workers: %s',
    async (workers) => {
      const killed = await serve(local('--workers', workers))
      const before = clientOf(killed.ready.endpoint)
      await before.send(new CreateBucketCommand({ Bucket: 'bucket' }))
      await before.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'key', Body: 'body' }))
      killed.child.kill('SIGKILL')
      await once(killed.child, 'exit')

      const next = await serve(local('--workers', workers))
      const { Body } = await clientOf(next.ready.endpoint).send(new GetObjectCommand({ Bucket: 'bucket', Key: 'key' }))
      expect(await Body?.transformToString()).toBe('body')
    },
  )
})

describe('stopping', () => {
  test.each(['1', '2', '3'])(
    'SIGTERM lets a running request end, and takes no new one, workers: %s',
    async (workers) => {
      const running = await serve(local('--workers', workers))
      const client = clientOf(running.ready.endpoint)
      await client.send(new CreateBucketCommand({ Bucket: 'bucket' }))
      const url = await getSignedUrl(client, new PutObjectCommand({ Bucket: 'bucket', Key: 'slow' }))
      const put = request(url, { method: 'PUT', headers: { 'Content-Length': 10, Expect: '100-continue' } })
      put.flushHeaders()
      // The server says so when it begins to read the body.
      await once(put, 'continue')
      put.write('first')
      running.child.kill('SIGTERM')
      await refused(running.ready.endpoint)
      put.end('again')
      const [response] = await once(put, 'response')
      expect(response.statusCode).toBe(200)
      response.resume()
      expect(await running.ended).toMatchObject({ code: 0, stderr: '' })
    },
  )

  test('a second signal ends it at once', async () => {
    const running = await serve(local())
    const client = clientOf(running.ready.endpoint)
    await client.send(new CreateBucketCommand({ Bucket: 'bucket' }))
    const url = await getSignedUrl(client, new PutObjectCommand({ Bucket: 'bucket', Key: 'stuck' }))
    const put = request(url, { method: 'PUT', headers: { 'Content-Length': 10, Expect: '100-continue' } })
    put.on('error', () => {}).flushHeaders()
    await once(put, 'continue')
    put.write('first')
    running.child.kill('SIGTERM')
    await refused(running.ready.endpoint)
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(1)
  })
})

/** Resolves when the port takes no connection any more. */
async function refused(endpoint: string): Promise<void> {
  const { hostname, port } = new URL(endpoint)
  for (let refused = false; !refused; ) {
    refused = await new Promise<boolean>((resolve) => {
      const socket = connect({ host: hostname, port: Number(port) })
      socket.once('connect', () => resolve(false))
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
      socket.once('connect', () => socket.destroy())
    })
  }
}

describe('workers', () => {
  /** Without the option by which the other tests set the number of workers. */
  const unasked = { ...keyVariables, HOLDFAST_WORKERS: '' }

  test('are as many as the process may use cores, and it says why', async () => {
    // The test asks the same machine. Other tests show that the machine is asked correctly.
    const { workers, reason } = workerCount('auto', machineShare)
    const running = run(local(), unasked)
    expect(await running.line((line) => line.startsWith('ready'))).toContain(` workers=${workers} `)
    expect(running.output.stdout).toContain(`  workers     ${workers}   (auto: ${reason})\n`)
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
  })

  test('are none beside the main process where it may use one core', async () => {
    const bound = await serve(local('--log-level', 'info'), unasked, { through: ['taskset', '--cpu-list', '0'] })
    expect(bound.ready).toMatchObject({ workers: 1 })
    expect(await servingPids(bound)).toEqual(new Set([bound.ready.pid]))
  })

  test.each([2, 3])('share one data directory and port, and one of %s that dies is replaced', async (count) => {
    const running = await serve(local('--workers', `${count}`, '--log-level', 'info'))
    const client = clientOf(running.ready.endpoint)
    await client.send(new CreateBucketCommand({ Bucket: 'bucket' }))
    const before = await servingPids(running)
    expect(before.size).toBe(count)

    const [victim = 0] = before
    process.kill(victim, 'SIGKILL')
    let now = before
    while (now.has(victim) || now.size < count) now = await servingPids(running)
    expect(now).not.toEqual(before)
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
  })

  test.each([
    ['2', 'commit themselves', 'answered'],
    ['3', 'have their primary commit, and read themselves', 'pending'],
  ] as const)('%s of them %s', async (workers, _, expected) => {
    const running = await serve(local('--workers', workers))
    // The primary hands each connection over before it is stopped.
    const [writer, reader] = await Promise.all(
      ['bucket', 'other'].map(async (Bucket) => {
        const client = clientOf(running.ready.endpoint)
        await client.send(new CreateBucketCommand({ Bucket }))
        return client
      }),
    )
    running.child.kill('SIGSTOP')
    let state = 'pending'
    const put = writer?.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'key', Body: 'body' })).then(() => {
      state = 'answered'
    })
    if (expected === 'answered') await put
    // Many times what a PUT takes.
    else for (let i = 0; i < 50; i++) await reader?.send(new ListBucketsCommand({}))
    expect(state).toBe(expected)
    running.child.kill('SIGCONT')
    await put
  })

  test.each(['2', '3'])('end with their primary, workers: %s', async (workers) => {
    const running = await serve(local('--workers', workers, '--log-level', 'info'))
    running.child.kill('SIGKILL')
    // Workers hold the other ends of its pipes: this comes when the last of them is gone.
    await running.ended
  })
})

/** Which processes answer, as the log of requests says. */
async function servingPids(running: Awaited<ReturnType<typeof serve>>): Promise<Set<number>> {
  const from = running.output.stderr.length
  for (let sent = 0; sent < 6; sent++) {
    // A connection of its own each: the primary hands them out in turn.
    const client = new S3Client({ endpoint: running.ready.endpoint, region: 'us-east-1', credentials: environmentKey })
    await client.send(new ListBucketsCommand({})).catch(() => {})
    client.destroy()
  }
  const lines = running.output.stderr
    .slice(from)
    .split('\n')
    .filter((line) => line.includes('"operation":"ListBuckets"'))
  return new Set(lines.map((line) => JSON.parse(line).pid))
}
