/** `holdfast clock`, and what a step of the machine's clock does to locks until it is confirmed. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CreateBucketCommand, DeleteObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { beforeEach, expect, test } from 'vitest'
import { keyVariables, run, serve } from './holdfast-process.ts'
import { openWorkplace, testClient } from './workplace.ts'

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

const place = openWorkplace('clock')
let data: string

beforeEach(() => {
  data = place.path('data')
})

/** The environment of a process whose machine's clock is ahead. */
async function ahead(byMs: number): Promise<Record<string, string>> {
  const file = place.path(`ahead-${byMs}.mjs`)
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
  const client = testClient(endpoint)
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

test('a lock outlives steps of less than a day, one after the other', async () => {
  const version = await serving(keyVariables, async (client) => {
    const Bucket = 'vault'
    await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }))
    const lock = { ObjectLockMode: 'COMPLIANCE', ObjectLockRetainUntilDate: new Date(Date.now() + 5 * dayMs) } as const
    const { VersionId } = await client.send(new PutObjectCommand({ Bucket, Key: 'kept', Body: 'x', ...lock }))
    return { Bucket, Key: 'kept', VersionId }
  })
  const steps = Array.from({ length: 6 }, (_, i) => (i + 1) * 23 * hourMs)
  for (const aheadMs of steps) await run(['reclaim', '--data', data, '--json'], await ahead(aheadMs)).ended
  const later = await ahead(steps.at(-1) ?? 0)
  const removed = serving(later, (client) => client.send(new DeleteObjectCommand(version)))
  await expect(removed).rejects.toMatchObject({ name: 'AccessDenied' })
  expect(await clock(later)).toMatchObject({ awaitsConfirmation: true })
})

test('a clock that is set back is not followed, not even when confirmed', async () => {
  await serving(keyVariables, async () => {})
  await clock(await ahead(hourMs), '--confirm')
  const { trustedMs, machineMs, awaitsConfirmation } = await clock(keyVariables, '--confirm')
  expect(awaitsConfirmation).toBe(false)
  // The hour, less what this test takes.
  expect(trustedMs - machineMs).toBeGreaterThan(hourMs / 2)
})

test('a clock is confirmed beside a running server, which goes by it', async () => {
  const Bucket = 'vault'
  const versionId = await serving(keyVariables, async (client) => {
    await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }))
    const lock = { ObjectLockMode: 'COMPLIANCE', ObjectLockRetainUntilDate: new Date(Date.now() + dayMs) } as const
    return (await client.send(new PutObjectCommand({ Bucket, Key: 'kept', Body: 'x', ...lock }))).VersionId
  })
  const later = await ahead(30 * dayMs)
  await serving(later, async (client) => {
    const remove = () => client.send(new DeleteObjectCommand({ Bucket, Key: 'kept', VersionId: versionId }))
    await expect(remove()).rejects.toMatchObject({ name: 'AccessDenied' })
    expect(await clock(later)).toMatchObject({ awaitsConfirmation: true })
    expect(await clock(later, '--confirm')).toMatchObject({ awaitsConfirmation: false })
    await expect(remove()).resolves.toMatchObject({ VersionId: versionId })
  })
})

test('a clock is confirmed without the stores of the data, and without its keys', async () => {
  const config = place.path('holdfast.toml')
  await writeFile(config, 'data = "data"\nlisten = "127.0.0.1:0"\n[stores.disk]\ntype = "directory"\npath = "disk"\n')
  const server = await serve(['serve', '--config', config])
  server.child.kill('SIGTERM')
  await server.ended
  await clock(keyVariables)
  await rm(place.path('disk'), { recursive: true })
  await rm(join(data, 'keys'))
  const later = await ahead(30 * dayMs)
  expect(await clock(later)).toMatchObject({ awaitsConfirmation: true })
  expect(await clock(later, '--confirm')).toMatchObject({ awaitsConfirmation: false })
})

test('people are told when a confirmation is due', async () => {
  await serving(keyVariables, async () => {})
  await clock(keyVariables)
  const { stdout } = await run(['clock', '--data', data], await ahead(2 * dayMs)).ended
  expect(stdout).toContain('locks are judged by')
  expect(stdout).toContain('holdfast clock --confirm')
})
