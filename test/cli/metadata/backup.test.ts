/** Backups as an operator makes and restores them: beside a server that writes, onto a data directory that has lost its metadata. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, createReadStream, existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import {
  CreateBucketCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { beforeEach, expect, test } from 'vitest'
import { keyVariables, killOnTheWay, main, type Outcome, run, serve } from '../holdfast-process.ts'
import { openWorkplace, testClient } from '../workplace.ts'

const place = openWorkplace('backup')
let data: string
let file: string

beforeEach(() => {
  data = place.path('data')
  file = place.path('file.backup')
})

const command = (...words: string[]): Promise<Outcome> => run([...words, '--data', data], keyVariables).ended

async function serving<T>(use: (s3: S3Client) => Promise<T>): Promise<T> {
  const server = await serve(['serve', '--data', data, '--listen', '127.0.0.1:0'])
  const s3 = testClient(server.ready.endpoint)
  try {
    return await use(s3)
  } finally {
    s3.destroy()
    server.child.kill('SIGTERM')
    await server.ended
  }
}

const put = (s3: S3Client, Key: string, Body: string, more = {}) =>
  s3.send(new PutObjectCommand({ Bucket: 'bucket', Key, Body, ...more }))

async function fill(s3: S3Client): Promise<void> {
  await s3.send(new CreateBucketCommand({ Bucket: 'bucket' }))
  await s3.send(new PutBucketVersioningCommand({ Bucket: 'bucket', VersioningConfiguration: { Status: 'Enabled' } }))
  for (let i = 0; i < 30; i++) await put(s3, `key-${i % 20}`, `data ${i}`, { Metadata: { i: `${i}` } })
  await put(s3, 'sealed', 'secret', { ServerSideEncryption: 'AES256' })
}

async function listing(s3: S3Client): Promise<unknown> {
  const { Versions, DeleteMarkers } = await s3.send(new ListObjectVersionsCommand({ Bucket: 'bucket' }))
  return { Versions, DeleteMarkers }
}

test.skipIf(process.platform === 'win32')(
  'what is printed waits for a slow reader, in one line whatever it names',
  async () => {
    await serving(fill)
    execFileSync('mkfifo', [place.path('pipe')])
    const output = await open(place.path('pipe'), constants.O_RDWR | constants.O_NONBLOCK)
    // Nothing more fits in.
    const filler = Buffer.alloc(4096, '-')
    while ((await output.write(filler).catch(() => undefined)) !== undefined);
    const named = place.path('a\n\x1b[2Jb')
    const child = spawn(process.execPath, [main, 'backup', named, '--data', data], {
      stdio: ['ignore', output.fd, 'pipe'],
    })
    // It says this after what it prints.
    await new Promise((resolve) => child.stderr?.once('data', resolve))
    const printed = createInterface({ input: createReadStream(place.path('pipe')) })
    const [line] = await once(printed, 'line')
    printed.close()
    expect(line.replaceAll('-', '')).toContain('a\\u000a\\u001b[2Jb: ')
    expect(line).toContain(' records of metadata')
    await output.close()
  },
)

test('a backup beside a server that writes gives back what had been acknowledged, after the metadata is lost', async () => {
  const before = await serving(async (s3) => {
    await fill(s3)
    const settled = await listing(s3)
    let writing = true
    const writers = [0, 1, 2, 3].map(async (writer) => {
      for (let i = 0; writing; i++) await put(s3, `later-${writer}-${i}`, 'x')
    })
    const { code, stdout, stderr } = await command('backup', file, '--json')
    writing = false
    await Promise.all(writers)
    expect([code, stderr]).toEqual([0, expect.stringContaining('the key ring is not in the backup')])
    expect(JSON.parse(stdout)).toMatchObject({ event: 'backup', path: file, keys: false })
    return settled
  })
  expect((await stat(file)).mode & 0o077).toBe(0)
  await rm(join(data, 'meta'), { recursive: true })
  const refused = await run(['serve', '--data', data, '--listen', '127.0.0.1:0'], keyVariables).ended
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('holds data but no metadata')])

  await rm(join(data, 'meta'), { recursive: true })
  // Killed on the way, it counts for nothing.
  await killOnTheWay(
    () => run(['restore', file, '--data', data], keyVariables),
    () => existsSync(join(data, 'meta')),
    () => rm(join(data, 'meta'), { recursive: true }),
  )
  const { code, stderr } = await run(['serve', '--data', data, '--listen', '127.0.0.1:0'], keyVariables).ended
  expect([code, stderr]).toEqual([1, expect.stringMatching(/restore did not finish|no metadata/)])

  const restored = await command('restore', file, '--json')
  expect([restored.code, restored.stderr]).toEqual([0, ''])
  const lines = restored.stdout.trim().split('\n')
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ event: 'restored', path: file })
  await serving(async (s3) => {
    const { Versions = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket: 'bucket' }))
    expect({ Versions: Versions.filter(({ Key }) => !Key?.startsWith('later')), DeleteMarkers: undefined }).toEqual(
      before,
    )
  })
})

test('a backup with keys restores onto an empty directory what encrypted objects need; their data is not in it', async () => {
  await serving(fill)
  const directory = place.path('backups')
  await mkdir(directory)
  for (let i = 0; i < 2; i++)
    expect(await command('backup', directory, '--with-keys')).toMatchObject({ code: 0, stderr: '' })
  const keys = await readFile(join(data, 'keys'), 'utf8')
  await rm(data, { recursive: true })
  const { code, stderr } = await command('restore', directory)
  expect([code, stderr]).toEqual([0, expect.stringContaining('a new one was made')])
  expect(await readFile(join(data, 'keys'), 'utf8')).toBe(keys)
  expect((await stat(join(data, 'keys'))).mode & 0o077).toBe(0)
  await serving(async (s3) => expect(((await listing(s3)) as { Versions: unknown[] }).Versions).toHaveLength(31))
})

test('restoring is refused over metadata, beside a server, and from what is not whole', async () => {
  await serving(async (s3) => {
    await fill(s3)
    expect(await command('backup', file)).toMatchObject({ code: 0 })
    expect(await command('backup', file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('already exists'),
    })
    expect(await command('restore', file)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /in use by a server .* would not notice the metadata that restore writes. Stop it first/,
      ),
    })
  })
  expect(await command('restore', file)).toMatchObject({ code: 1, stderr: expect.stringContaining('holds metadata') })
  await rm(join(data, 'meta'), { recursive: true })
  const whole = await readFile(file)
  const wrong = async (bytes: Buffer, why: string): Promise<void> => {
    await writeFile(place.path('wrong'), bytes)
    const outcome = await command('restore', place.path('wrong'))
    expect([outcome.code, outcome.stderr]).toEqual([1, expect.stringContaining(why)])
  }
  await wrong(whole.subarray(0, whole.length - 40), 'cut off')
  await wrong(whole.subarray(0, 10), 'no backup')
  for (const share of [0.3, 0.6, 0.9]) {
    const flipped = Buffer.from(whole)
    const at = Math.floor(whole.length * share)
    flipped[at] = (flipped[at] ?? 0) ^ 1
    await wrong(flipped, 'wrong checksum')
  }
  expect(await readdir(join(data, 'meta')).catch(() => [])).toEqual([])
  expect(await command('restore', file)).toMatchObject({ code: 0 })
})
