import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand, DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runHere } from './command-here.ts'
import { keyVariables, killLeftovers, lastEvent, run, serve } from './holdfast-process.ts'
import { testClient } from './workplace.ts'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-program-'))
})
afterAll(async () => {
  await killLeftovers()
  await rm(root, { recursive: true, force: true })
})

describe('usage', () => {
  const rows: readonly (readonly [words: string[], code: number, expected: RegExp])[] = [
    [['--version'], 0, /^\d+\.\d+\.\d+/],
    [['serve', '--workers', 'many'], 2, /--workers: expects a whole number/],
    [['reclaim', '--data', '/nonexistent-holdfast'], 1, /no server has started on it/],
    [['--help'], 0, /serve[\s\S]*server[\s\S]*reclaim/],
    [['serve', '--help'], 0, /--listen <HOST:PORT>[\s\S]*initially 127\.0\.0\.1:9000/],
    [['help', 'reclaim'], 0, /--grace/],
    [['serv'], 2, /Did you mean serve\?/],
    [['serve', '--lisen', ':1'], 2, /Did you mean --listen\?/],
    [['serve', './surplus'], 2, /serve takes flags only, and '.\/surplus' is none.*--data/],
    [['health', 'surplus'], 2, /health takes flags only/],
    [['--listen'], 2, /argument missing/],
    [['--listen', 'nonsense'], 2, /--listen: expects HOST:PORT/],
    [['serve', '--allow-customer-keys-over-http', '--workers', 'many'], 2, /--workers: expects a whole number/],
    [['serve', '--allow-customer-keys-over-http=false'], 2, /unknown option/],
    [
      ['serve', '--tls-key', 'key.pem'],
      2,
      /--tls-key is set, .* set one of --tls-cert, HOLDFAST_TLS_CERT, tls\.cert too/,
    ],
    [['serve', '--config', '/nonexistent.toml'], 2, /cannot open \/nonexistent\.toml/],
    [['server', '/d{1...4}'], 2, /one data directory/],
    [['backup', '--on-stores', '--with-keys'], 2, /keys are never put on stores/],
    [['server', 'a', 'b'], 2, /one data directory/],
  ]
  /** One of each code shows that a process ends with what its command gives. */
  const inProcesses = 3

  test.each(rows.map((row, at) => [...row, at < inProcesses] as const))('%j ends with %i', async (...row) => {
    const [words, code, expected, inProcess] = row
    const outcome = await (inProcess ? run(words).ended : runHere(words))
    expect(outcome.code).toBe(code)
    expect(code === 0 ? outcome.stdout : outcome.stderr).toMatch(expected)
    expect(code === 0 ? outcome.stderr : outcome.stdout).toBe('')
  })

  test('half a pair of credentials is refused before anything is made', async () => {
    const outcome = await run(['--data', join(root, 'none')], { HOLDFAST_ACCESS_KEY_ID: 'id' }).ended
    expect(outcome).toMatchObject({ code: 2, stdout: '' })
    expect(await readdir(root)).toEqual([])
  })
})

test('reclaim removes what nothing references from a stopped server, and says so', async () => {
  const data = join(root, 'data')
  const running = await serve(['--data', data, '--listen', '127.0.0.1:0'])
  const client = testClient(running.ready.endpoint)
  await client.send(new CreateBucketCommand({ Bucket: 'bucket' }))
  await client.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'key', Body: 'body' }))
  await client.send(new DeleteObjectCommand({ Bucket: 'bucket', Key: 'key' }))
  client.destroy()
  running.child.kill('SIGTERM')
  await running.ended

  const kept = await run(['reclaim', '--data', data, '--grace', '1h', '--json'], keyVariables).ended
  expect(lastEvent(kept)).toMatchObject({ event: 'reclaimed', blobsRemoved: 0 })
  const outcome = await run(['reclaim', '--data', data, '--json'], keyVariables).ended
  expect(lastEvent(outcome).blobsRemoved).toBeGreaterThan(0)
  const done = {
    event: 'progress',
    task: 'reclaim',
    unit: 'blobs',
    counts: expect.objectContaining({ removed: expect.any(Number) }),
  }
  expect(
    outcome.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toContainEqual(expect.objectContaining(done))
  const again = await run(['reclaim', '--data', data], keyVariables).ended
  expect(again).toMatchObject({ code: 0, stderr: '' })
  expect(again.stdout).toMatch(/^reclaimed 0 bytes: 0 blobs removed/)
})
