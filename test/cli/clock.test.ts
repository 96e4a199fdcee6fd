/** `holdfast clock`, and what a step of the machine's clock does to locks until it is confirmed. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CreateBucketCommand, DeleteObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { environmentKey, keyVariables, killLeftovers, run, serve } from './holdfast-process.ts'

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

let root: string
let data: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-clock-'))
  data = join(root, 'data')
})
afterEach(async () => {
  killLeftovers()
  await rm(root, { recursive: true, force: true, maxRetries: 5 })
})

/** The environment of a process whose machine's clock is ahead. */
async function ahead(byMs: number): Promise<Record<string, string>> {
  const file = join(root, `ahead-${byMs}.mjs`)
  await writeFile(file, `const now = Date.now\nDate.now = () => now() + ${byMs}\n`)
  return { ...keyVariables, NODE_OPTIONS: `--import=${pathToFileURL(file)}` }
}

async function clock(environment: Record<string, string>, ...words: string[]) {
  const { code, stdout } = await run(['clock', '--data', data, '--json', ...words], environment).ended
  expect(code).toBe(0)
  return JSON.parse(stdout)
}

/** Serves until `use` is done. The client follows the server's clock, as the SDK does when it is told that its own is off. */
async function serving<T>(environment: Record<string, string>, use: (client: S3Client) => Promise<T>): Promise<T> {
  const server = await serve(['serve', '--data', data, '--listen', '127.0.0.1:0'], environment)
  const { endpoint } = server.ready
  const client = new S3Client({ endpoint, region: 'us-east-1', credentials: environmentKey, forcePathStyle: true })
  try {
    return await use(client)
  } finally {
    client.destroy()
    server.child.kill('SIGTERM')
    await server.ended
  }
}

test('a lock outlives a step of the clock until an operator confirms it', async () => {
  const version = await serving(keyVariables, async (client) => {
    const Bucket = 'vault'
    await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }))
    const lock = { ObjectLockMode: 'COMPLIANCE', ObjectLockRetainUntilDate: new Date(Date.now() + dayMs) } as const
    const { VersionId } = await client.send(new PutObjectCommand({ Bucket, Key: 'kept', Body: 'x', ...lock }))
    return { Bucket, Key: 'kept', VersionId }
  })
  const later = await ahead(30 * dayMs)
  const remove = () => serving(later, (client) => client.send(new DeleteObjectCommand(version)))

  await expect(remove()).rejects.toMatchObject({ name: 'AccessDenied' })
  expect(await clock(later)).toMatchObject({ event: 'clock', awaitsConfirmation: true })
  await expect(remove()).rejects.toMatchObject({ name: 'AccessDenied' })
  const confirmed = await clock(later, '--confirm')
  expect(confirmed).toMatchObject({ awaitsConfirmation: false, trustedMs: confirmed.machineMs })
  await expect(remove()).resolves.toMatchObject({ VersionId: version.VersionId })
})

test('a clock that is set back is not followed, not even when confirmed', async () => {
  await serving(keyVariables, async () => {})
  await clock(await ahead(hourMs), '--confirm')
  const { trustedMs, machineMs, awaitsConfirmation } = await clock(keyVariables, '--confirm')
  expect(awaitsConfirmation).toBe(false)
  // The hour, less what this test takes.
  expect(trustedMs - machineMs).toBeGreaterThan(hourMs / 2)
})

test('people are told when a confirmation is due, and refused while a server runs', async () => {
  await serving(keyVariables, async () => {
    const { code, stderr } = await run(['clock', '--data', data], keyVariables).ended
    expect(code).toBe(1)
    expect(stderr).toContain('in use by process')
  })
  await clock(keyVariables)
  const { stdout } = await run(['clock', '--data', data], await ahead(2 * dayMs)).ended
  expect(stdout).toContain('locks are judged by')
  expect(stdout).toContain('holdfast clock --confirm')
})
