/** The key ring of a server: made once, rotated, given by the environment, and missed when it is gone. Secrets are never shown. */
import { copyFile, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { parseKeyRing } from '../../src/encryption/key-ring.ts'
import { keyVariables, killLeftovers, type Outcome, run, serve } from './holdfast-process.ts'
import { openWorkplace, testClient } from './workplace.ts'

let data: string
const place = openWorkplace('keys')
beforeEach(() => {
  data = place.path('data')
})
afterAll(() => killLeftovers())

const Bucket = 'bucket'
const ringFile = (): string => join(data, 'keys')
const words = (...more: string[]): string[] => [
  '--data',
  data,
  '--listen',
  '127.0.0.1:0',
  '--kms-key',
  'invoices',
  ...more,
]

/** Serves while `work` goes on. Resolves with all that the server printed. */
async function serving(
  work: (client: S3Client) => Promise<void>,
  environment = {},
  ...more: string[]
): Promise<string> {
  const running = await serve(words(...more), { ...keyVariables, ...environment })
  const client = testClient(running.ready.endpoint, { maxAttempts: 1 })
  await work(client)
  client.destroy()
  running.child.kill('SIGTERM')
  const { stdout, stderr } = await running.ended
  return stdout + stderr
}

const keys = (...more: string[]): Promise<Outcome> => run(['key-ring', '--data', data, ...more], keyVariables).ended

const encryptions = {
  store: { ServerSideEncryption: 'AES256' },
  kms: { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: 'invoices' },
} as const
const kinds = ['store', 'kms'] as const
const openUploads = new Map<string, { UploadId: string | undefined; ETag: string | undefined }>()

async function write(client: S3Client): Promise<void> {
  await client.send(new CreateBucketCommand({ Bucket }))
  await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }))
  for (const kind of kinds) {
    const asked = encryptions[kind]
    for (const Body of ['first', 'second']) {
      await client.send(new PutObjectCommand({ Bucket, Key: `${kind}/versions`, Body, ...asked }))
    }
    for (const Key of [`${kind}/parts`, `${kind}/open`]) {
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...asked }))
      const part = { Bucket, Key, UploadId, PartNumber: 1, Body: Key }
      const { ETag } = await client.send(new UploadPartCommand(part))
      openUploads.set(Key, { UploadId, ETag })
    }
    await complete(client, `${kind}/parts`)
  }
}

async function complete(client: S3Client, Key: string): Promise<void> {
  const { UploadId, ETag } = openUploads.get(Key) ?? {}
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] }
  await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }))
}

async function text(client: S3Client, Key: string, VersionId?: string): Promise<string | undefined> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, VersionId }))
  return Body?.transformToString()
}

async function expectAll(client: S3Client): Promise<void> {
  const { Versions = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }))
  for (const kind of kinds) {
    const [newest, oldest] = Versions.filter(({ Key }) => Key === `${kind}/versions`)
    expect(await text(client, `${kind}/versions`, newest?.VersionId)).toBe('second')
    expect(await text(client, `${kind}/versions`, oldest?.VersionId)).toBe('first')
    expect(await text(client, `${kind}/parts`)).toBe(`${kind}/parts`)
  }
}

const idsOf = ({ stdout }: Outcome): string[] =>
  JSON.parse(stdout).keys.map(({ name, id }: { name: string; id: string }) => `${name} ${id}`)

async function expectNoSecret(...printed: string[]): Promise<void> {
  const ring = parseKeyRing(await readFile(ringFile(), 'utf8'))
  expect(ring.keys.length).toBeGreaterThan(0)
  for (const { secret } of ring.keys) {
    for (const form of ['base64', 'hex'] as const) {
      for (const text of printed) expect(text).not.toContain(secret.toString(form).slice(0, 20))
    }
  }
}

describe('a key ring in the data directory', () => {
  test('is made once, for its owner alone, and shown by name and id', async () => {
    const printed = await serving(write, {}, '--log-level', 'debug')
    expect((await stat(ringFile())).mode & 0o777).toBe(0o600)
    const shown = await keys('--json')
    expect(shown).toMatchObject({ code: 0, stderr: '' })
    expect(idsOf(shown).map((line) => line.split(' ')[0])).toEqual(['invoices', 'aws/s3', 'sse-s3'])
    const before = await readFile(ringFile(), 'utf8')
    await serving(expectAll)
    expect(await readFile(ringFile(), 'utf8')).toBe(before)
    await expectNoSecret(printed, shown.stdout, (await keys()).stdout)
  })

  test('is shown and rotated beside a running server, whose clients go on writing; what is retired nothing needs', async () => {
    const printed = await serving(
      async (client) => {
        await write(client)
        const before = idsOf(await keys('--json'))
        expect(before).toHaveLength(3)
        let writing = true
        const writers = kinds.map(async (kind) => {
          let written = 0
          for (; writing; written++) {
            await client.send(new PutObjectCommand({ Bucket, Key: `${kind}/busy`, Body: 'busy', ...encryptions[kind] }))
          }
          return written
        })
        const auditLog = join(dirname(ringFile()), 'audit.jsonl')
        for (const name of ['sse-s3', 'invoices'])
          expect(await keys('--rotate', name, '--audit-log', auditLog)).toMatchObject({ code: 0, stderr: '' })
        const written = (await readFile(auditLog, 'utf8')).trim().split('\n')
        expect(written.map((line) => JSON.parse(line).target.key)).toEqual(['sse-s3', 'invoices'])
        expect(await keys('--retire')).toMatchObject({ code: 0, stderr: '' })
        writing = false
        for (const written of await Promise.all(writers)) expect(written).toBeGreaterThan(0)
        const after = idsOf(await keys('--json'))
        expect(after.filter((id) => before.includes(id))).toEqual(before.filter((id) => id.startsWith('aws/s3')))
        expect(JSON.parse((await keys('--rewrap', '--json')).stdout)).toMatchObject({ rewrapped: 0 })
        await expectAll(client)
        for (const kind of kinds) await complete(client, `${kind}/open`)
      },
      {},
      '--workers',
      '2',
    )
    await serving(async (client) => {
      await expectAll(client)
      for (const kind of kinds) {
        expect(await text(client, `${kind}/busy`)).toBe('busy')
        expect(await text(client, `${kind}/open`)).toBe(`${kind}/open`)
      }
    })
    await expectNoSecret(printed)
  })

  test('is rotated: everything reads, an open upload is completed, and the old key wraps nothing', async () => {
    await serving(write)
    for (const [name, encrypted] of [
      ['sse-s3', 8],
      ['invoices', 8],
    ] as const) {
      const outcome = await keys('--rotate', name, '--json')
      expect(outcome).toMatchObject({ code: 0, stderr: '' })
      expect(JSON.parse(outcome.stdout)).toMatchObject({ encrypted, rewrapped: 4 })
      expect(JSON.parse((await keys('--rewrap', '--json')).stdout)).toMatchObject({ encrypted, rewrapped: 0 })
      await expectNoSecret(outcome.stdout, (await keys('--rewrap')).stdout)
    }
    expect((await stat(ringFile())).mode & 0o777).toBe(0o600)
    expect((await keys()).stdout).toMatch(
      /^invoices {2}[0-9a-f]{16}\nsse-s3 {2}[0-9a-f]{16}\ninvoices {2}.*decrypts only/m,
    )
    await serving(async (client) => {
      await expectAll(client)
      for (const kind of kinds) {
        await complete(client, `${kind}/open`)
        expect(await text(client, `${kind}/open`)).toBe(`${kind}/open`)
      }
    })
  })

  test('loses its older keys when they are retired, and everything reads', async () => {
    await serving(write)
    const rotated = idsOf(await keys('--rotate', 'sse-s3', '--json'))
    const retired = await keys('--retire', '--json')
    const [newest = ''] = rotated
    const old = rotated.filter((line) => line.startsWith('sse-s3') && line !== newest)
    expect(old).toHaveLength(1)
    expect(idsOf(retired)).toEqual(rotated.filter((line) => !old.includes(line)))
    expect(parseKeyRing(await readFile(ringFile(), 'utf8')).keys).toHaveLength(rotated.length - 1)
    await serving(expectAll)
  })

  test('whose rotation is killed as soon as the new key is kept reads everything, and is rotated to the end', async () => {
    await serving(write)
    const before = await readFile(ringFile(), 'utf8')
    const rotation = run(['key-ring', '--data', data, '--rotate', 'sse-s3'], keyVariables)
    let running = true
    void rotation.ended.then(() => {
      running = false
    })
    while (running && (await readFile(ringFile(), 'utf8')) === before);
    rotation.child.kill('SIGKILL')
    await rotation.ended
    expect(await readFile(ringFile(), 'utf8')).not.toBe(before)
    await serving(expectAll)
    expect(await keys('--rewrap', '--json')).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse((await keys('--rewrap', '--json')).stdout)).toMatchObject({ encrypted: 8, rewrapped: 0 })
    await serving(expectAll)
  })

  test('is not rotated for a key that it lacks', async () => {
    await serving(async () => {})
    const before = await readFile(ringFile(), 'utf8')
    for (const [name, message] of [
      ['nobody', /no key named 'nobody'/],
      ['', /no key named ''/],
      ['../sse-s3', /no key named/],
    ] as const) {
      const outcome = await keys(`--rotate=${name}`)
      expect(outcome, name).toMatchObject({ code: 2, stdout: '' })
      expect(outcome.stderr).toMatch(message)
      expect(await readFile(ringFile(), 'utf8')).toBe(before)
    }
  })

  test.each<[what: string, change: () => Promise<void>, message: RegExp]>([
    ['is gone', () => rm(ringFile()), /keys lacks key [0-9a-f]{16} of \S+, .*Restore it from a copy/],
    [
      'lacks a key',
      async () => {
        const lines = (await readFile(ringFile(), 'utf8')).split('\n')
        await writeFile(ringFile(), lines.filter((line) => !line.startsWith('invoices ')).join('\n'))
      },
      /lacks key [0-9a-f]{16} of invoices/,
    ],
    ['is damaged', () => writeFile(ringFile(), 'sse-s3 abc\n'), /keys: the secret of key 1 is not 32 bytes/],
  ])('that %s stops the server from starting, and is found again', async (_what, change, message) => {
    await serving(write)
    await copyFile(ringFile(), place.path('copy'))
    await change()
    const outcome = await run(words(), keyVariables).ended
    expect(outcome).toMatchObject({ stdout: '' })
    expect(outcome.code).not.toBe(0)
    expect(outcome.stderr).toMatch(message)
    expect(outcome.stderr).not.toContain('    at ')
    await copyFile(place.path('copy'), ringFile())
    await serving(expectAll)
  })
})

describe('a key ring in the environment', () => {
  const secret = (seed: number): string => Buffer.alloc(32, seed).toString('base64')
  const ring = ['sse-s3', 'aws/s3', 'invoices'].map((name, i) => `${name}:${secret(i + 1)}`).join(',')
  const withRing = (text: string, ...more: string[]): Promise<Outcome> =>
    run(['key-ring', '--data', data, ...more], { ...keyVariables, HOLDFAST_KEY_RING: text }).ended

  test('is used, kept in no file, and rotated by a new key before the others', async () => {
    const printed = await serving(write, { HOLDFAST_KEY_RING: ring }, '--log-level', 'debug')
    await expect(stat(ringFile())).rejects.toMatchObject({ code: 'ENOENT' })
    const refused = await withRing(ring, '--rotate', 'sse-s3')
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/put a new key before the others there, .* then run holdfast key-ring --rewrap/)

    const rotated = `sse-s3:${secret(9)},${ring}`
    await serving(
      async () => {
        const beside = await withRing(rotated, '--rewrap')
        expect([beside.code, beside.stderr]).toEqual([2, expect.stringContaining('start it again with this one')])
        expect(JSON.parse((await withRing(ring, '--rewrap', '--json')).stdout)).toMatchObject({ rewrapped: 0 })
      },
      { HOLDFAST_KEY_RING: ring },
    )
    const outcome = await withRing(rotated, '--rewrap', '--json')
    expect(JSON.parse(outcome.stdout)).toMatchObject({ encrypted: 8, rewrapped: 4 })
    await serving(expectAll, { HOLDFAST_KEY_RING: rotated })
    const old = await run(words(), { ...keyVariables, HOLDFAST_KEY_RING: ring }).ended
    expect(old.stderr).toMatch(/HOLDFAST_KEY_RING lacks key [0-9a-f]{16} of sse-s3/)
    const all = printed + refused.stderr + outcome.stdout + outcome.stderr + old.stderr
    for (const seed of [1, 2, 3, 9]) expect(all).not.toContain(secret(seed).slice(0, 20))
  })

  test.each([
    ['lacks a key that is always there', `sse-s3:${secret(1)},invoices:${secret(3)}`, /no key named aws\/s3/],
    ['is malformed', `sse-s3:${secret(1)}x`, /HOLDFAST_KEY_RING: the secret of key 1 is not 32 bytes/],
    ['is a secret alone', Buffer.alloc(32, 1).toString('hex'), /HOLDFAST_KEY_RING: /],
  ])('that %s is refused', async (_what, text, message) => {
    const outcome = await run(words(), { ...keyVariables, HOLDFAST_KEY_RING: text }).ended
    expect(outcome).toMatchObject({ code: 2, stdout: '' })
    expect(outcome.stderr).toMatch(message)
    expect(outcome.stderr).not.toContain(secret(1).slice(0, 20))
    expect(outcome.stderr).not.toContain(Buffer.alloc(32, 1).toString('hex').slice(0, 20))
  })
})

test('several worker processes share the ring', async () => {
  const printed = await serving(
    async (client) => {
      await write(client)
      await Promise.all(Array.from({ length: 12 }, () => expectAll(client)))
    },
    {},
    '--workers',
    '2',
  )
  await expectNoSecret(printed)
})
