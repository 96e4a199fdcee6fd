/** What an operator sees of damaged metadata, and of data that nothing references, by the command line. */
import { readFile, rename, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { beforeEach, describe, expect, test } from 'vitest'
import { keyVariables, lastEvent, run, serve } from './holdfast-process.ts'
import { openWorkplace, testClient } from './workplace.ts'

const place = openWorkplace('damaged')
let data: string
let file: string
beforeEach(() => {
  data = place.path('data')
  file = join(data, 'meta', 'data.mdb')
})

const clientOf = (endpoint: string): S3Client => testClient(endpoint, { maxAttempts: 1 })

const start = (...words: string[]) => serve(['serve', '--data', data, '--listen', '127.0.0.1:0', ...words])
const command = (...words: string[]) => run([...words, '--data', data], keyVariables).ended

async function stop(server: Awaited<ReturnType<typeof start>>): Promise<void> {
  server.child.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0 })
}

const names = Array.from({ length: 200 }, (_, i) => `object-${String(i).padStart(4, '0')}`)

async function fill(): Promise<void> {
  const server = await start()
  const client = clientOf(server.ready.endpoint)
  await client.send(new CreateBucketCommand({ Bucket: 'bucket' }))
  await Promise.all(names.map((Key) => client.send(new PutObjectCommand({ Bucket: 'bucket', Key, Body: Key }))))
  await stop(server)
}

/** One bit of a key, in each place where it stands. */
async function flipKey(name: string): Promise<void> {
  const whole = await readFile(file)
  for (let at = whole.indexOf(name); at >= 0; at = whole.indexOf(name, at + 1)) {
    whole[at + 3] = (whole[at + 3] ?? 0) ^ 1
  }
  await writeFile(file, whole)
}

const statusOf = (work: Promise<unknown>): Promise<number> =>
  work.then(
    () => 200,
    (error) => {
      if (error instanceof S3ServiceException) return error.$metadata.httpStatusCode ?? 0
      throw error
    },
  )

describe('metadata in which a bit of a key has flipped', () => {
  test('is never answered by a silent 404, and is only read once a scrub has found it, by all processes and after each start', async () => {
    await fill()
    await flipKey('object-0150')
    const get = (client: S3Client, Key: string) =>
      statusOf(client.send(new GetObjectCommand({ Bucket: 'bucket', Key })))
    const put = (client: S3Client) =>
      statusOf(client.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'new', Body: '' })))
    // The primary makes the commits of three workers, and two make their own.
    for (const [starts, workers] of ['2', '3'].entries()) {
      const server = await start('--workers', workers)
      const client = clientOf(server.ready.endpoint)
      expect(await get(client, 'object-0150')).toBe(503)
      expect(await get(client, 'object-0001')).toBe(200)
      expect(await get(client, 'never-there')).toBe(404)
      const scrubbed = await command('scrub', '--json')
      expect(scrubbed.code, scrubbed.stderr).toBe(1)
      expect(lastEvent(scrubbed)).toMatchObject({ event: 'metadata', damage: expect.any(String) })
      for (let i = 0; i < 4; i++) expect(await put(client)).toBe(503)
      expect(await get(client, 'object-0001')).toBe(200)
      await client.send(new ListObjectsV2Command({ Bucket: 'bucket', MaxKeys: 10 }))
      await stop(server)
      if (starts === 1) expect(server.output.stderr).toContain(`the metadata file ${file} is damaged`)
    }
    const reclaimed = await command('reclaim', '--grace', '0', '--quarantine', '0', '--json')
    expect(reclaimed.code).toBe(1)
    expect(lastEvent(reclaimed)).toMatchObject({ blobsRemoved: 0, metadataDamage: expect.any(String) })
  })
})

test('metadata that is cut off is refused by name at start', async () => {
  await fill()
  await truncate(file, 5 * 4096)
  const ended = await run(['serve', '--data', data, '--listen', '127.0.0.1:0'], keyVariables).ended
  expect(ended.code).toBe(1)
  expect(ended.stderr).toMatch(/meta\/data\.mdb is damaged: it is cut off: .*holdfast recover/)
  expect(ended.stderr).not.toContain('    at ')
})

test('a server that was killed takes writes again once its metadata has been checked', async () => {
  await fill()
  const killed = await start()
  killed.child.kill('SIGKILL')
  await killed.ended
  const server = await start('--workers', '2')
  const client = clientOf(server.ready.endpoint)
  expect(await statusOf(client.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'after', Body: '' })))).toBe(200)
  const checked = JSON.parse(await readFile(join(data, 'meta', 'checked.json'), 'utf8'))
  expect(checked).toMatchObject({ damagedRecords: 0, entries: expect.any(Number) })
  await stop(server)
})

test('a worker that ends as one does on damaged metadata has it checked before anything is written again', async () => {
  await fill()
  const server = await start('--workers', '2')
  const client = clientOf(server.ready.endpoint)
  const pid = String(server.child.pid)
  const [worker] = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ')
  process.kill(Number(worker), 'SIGSEGV')
  await server.logged((line) => line.includes('a worker may have met damage in the metadata'))
  const put = () => statusOf(client.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'after', Body: '' })))
  // Refused until the check has ended; and a connection of the dead worker's is cut.
  while ((await put().catch(() => 0)) !== 200);
  const checked = JSON.parse(await readFile(join(data, 'meta', 'checked.json'), 'utf8'))
  expect(checked).toMatchObject({ damagedRecords: 0 })
  await stop(server)
})

test('data that nothing references waits in quarantine, is listed, and leaves it after its time and a check', async () => {
  await fill()
  const backup = place.path('early.backup')
  expect(await command('backup', backup)).toMatchObject({ code: 0 })
  const server = await start()
  const client = clientOf(server.ready.endpoint)
  await client.send(
    new PutObjectCommand({ Bucket: 'bucket', Key: 'forgotten', Body: 'of which the backup knows nothing' }),
  )
  await stop(server)
  await rename(join(data, 'meta'), place.path('meta'))
  expect(await command('restore', backup)).toMatchObject({ code: 0 })

  const first = await command('reclaim', '--grace', '0', '--json')
  expect(lastEvent(first)).toMatchObject({ orphansFound: 1, orphansReleased: 0, blobsRemoved: 0 })
  const listed = await command('orphans', '--json')
  const [orphan, ...rest] = listed.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(orphan).toMatchObject({ event: 'orphan', of: 'bucket/forgotten', bytes: 33 })
  expect(rest).toEqual([{ event: 'orphans', count: 1 }])
  expect((await command('scrub')).stdout).toMatch(/checked \d+ records of metadata: 0 damaged; 1 orphan in quarantine/)
  const second = await command('reclaim', '--grace', '0', '--quarantine', '0', '--json')
  expect(lastEvent(second)).toMatchObject({ orphansFound: 0, orphansReleased: 1, blobsRemoved: 1 })
  expect((await command('orphans')).stdout).toBe('0 orphans in quarantine\n')
})
