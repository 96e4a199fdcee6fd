/** Several servers that are given one directory as a store: by mistake, by a copied data directory, by an upgrade, by recovery. */
import { cp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { patternBytes } from '../support/seeded.ts'
import { keyVariables, type Outcome, type Running, run, serve } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const { path, clientOf } = openWorkplace('owners')
const keys = ['small', 'large']
const bodies = new Map([
  ['small', patternBytes(1, 3_000)],
  ['large', patternBytes(2, 600_000)],
])

/** The configuration of a server of this name, whose location lies on the disk that all are given. */
async function configured(name: string): Promise<string> {
  const file = path(`${name}.toml`)
  const location = '[locations.disk]\nscheme = "replica"\ncopies = 1\nstores = ["disk"]\n'
  const store = '[stores.disk]\ntype = "directory"\npath = "disk"\n'
  await writeFile(file, `data = "${name}"\nlisten = "127.0.0.1:0"\n${store}${location}`)
  return file
}

const starting = async (name: string): Promise<Running & { ready: { endpoint: string } }> =>
  serve(['serve', '--config', await configured(name)])

async function ended({ child, ended: over }: Running): Promise<Outcome> {
  child.kill('SIGTERM')
  return over
}

async function served<T>(name: string, use: (client: S3Client) => Promise<T>): Promise<T> {
  const server = await starting(name)
  const client = clientOf(server.ready.endpoint)
  try {
    return await use(client)
  } finally {
    client.destroy()
    await ended(server)
  }
}

const command = async (name: string, ...words: string[]): Promise<Outcome> =>
  run([...words, '--config', await configured(name), '--json'], keyVariables).ended

async function putAll(client: S3Client): Promise<void> {
  const placed = { CreateBucketConfiguration: { LocationConstraint: 'disk' as 'eu-west-1' } }
  await client.send(new CreateBucketCommand({ Bucket: 'bucket', ...placed }))
  for (const [Key, Body] of bodies) await client.send(new PutObjectCommand({ Bucket: 'bucket', Key, Body }))
}

async function readAll(client: S3Client): Promise<void> {
  for (const Key of keys) {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: 'bucket', Key }))
    const bytes = Buffer.from((await Body?.transformToByteArray()) ?? [])
    expect(bytes.equals(bodies.get(Key) ?? Buffer.alloc(0)), Key).toBe(true)
  }
}

async function ownerFiles(): Promise<string[]> {
  return (await readdir(path('disk'))).filter((name) => name.startsWith('holdfast-owner.'))
}

const refused = (reason: string): object => ({ code: 1, stderr: expect.stringContaining(reason) })

test('of two servers that start at once over one empty directory one is refused, and what the other acknowledged stays', async () => {
  const names = ['one', 'two']
  const started = await Promise.allSettled(names.map(starting))
  const won = started.findIndex(({ status }) => status === 'fulfilled')
  expect(started.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const [winner = '', loser = ''] = won === 0 ? names : [...names].reverse()
  for (const result of started) if (result.status === 'fulfilled') await ended(result.value)
  await served(winner, putAll)
  const { code, stderr } = await command(loser, 'serve')
  expect(code).toBe(1)
  expect(stderr).toContain(`${path('disk')} belongs to other metadata`)
  expect(stderr).toContain(path(winner))
  expect(stderr).toContain('name another place')
  await command(loser, 'reclaim')
  expect(await command(winner, 'reclaim')).toMatchObject({ code: 0 })
  await served(winner, readAll)
})

test('a store that 0.1.0 made is claimed by the server that knows it, and refused to others from the start', async () => {
  await served('one', putAll)
  // As 0.1.0 left it: nothing says whose it is.
  for (const name of await ownerFiles()) await rm(path('disk', name))
  expect(await command('two', 'serve')).toMatchObject(refused("that this server's metadata does not know"))
  await served('one', readAll)
  expect(await ownerFiles()).toHaveLength(1)
  expect(await command('two', 'serve')).toMatchObject(refused('belongs to other metadata'))
})

test('a copied data directory takes the store along; the original is refused from then on, until it claims the store', async () => {
  await served('one', putAll)
  await cp(path('one'), path('copy'), { recursive: true })
  await served('copy', readAll)
  expect(await command('one', 'serve')).toMatchObject(refused('by a copy of this metadata'))
  await served('copy', readAll)
  expect(await command('one', 'locations', 'claim', 'disk')).toMatchObject({ code: 0 })
  expect(await command('copy', 'serve')).toMatchObject(refused('by a copy of this metadata'))
  await served('one', readAll)
})

test('a server that runs lets go of a store that a copy of it has claimed', async () => {
  await served('one', putAll)
  await cp(path('one'), path('copy'), { recursive: true })
  const original = await starting('one')
  expect(await command('copy', 'locations', 'claim', 'disk')).toMatchObject({ code: 0 })
  await original.logged((line) => line.includes('store disk is taken out of use') && line.includes('a copy of this'))
  await ended(original)
})

test('a store that is not there is claimed by nobody, and one line says why', async () => {
  await served('one', putAll)
  await rename(path('disk'), path('away'))
  const outcome = await command('one', 'locations', 'claim', 'disk')
  expect(outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('not mounted') })
  expect(outcome.stderr).toMatch(/^holdfast: stores\.disk: .*\n$/)
})

test('recovered and restored metadata claims the stores of what it replaces, which is refused from then on', async () => {
  await served('one', putAll)
  expect(await command('one', 'backup', path('backup.holdfast'))).toMatchObject({ code: 0 })
  await rename(path('one', 'meta'), path('lost'))
  expect(await command('one', 'serve')).toMatchObject(refused('Run holdfast recover'))
  // Nothing was claimed by the metadata that this began.
  await rm(path('one', 'meta'), { recursive: true })
  await rename(path('lost'), path('one', 'meta'))
  await served('one', readAll)
  for (const how of [['recover'], ['restore', path('backup.holdfast')]]) {
    await rm(path('lost'), { recursive: true, force: true })
    await rename(path('one', 'meta'), path('lost'))
    expect(await command('one', ...how)).toMatchObject({ code: 0 })
    await served('one', readAll)
    await rename(path('one', 'meta'), path('successor'))
    await rename(path('lost'), path('one', 'meta'))
    expect(await command('one', 'serve')).toMatchObject(refused('belongs to other metadata'))
    await rm(path('one', 'meta'), { recursive: true })
    await rename(path('successor'), path('one', 'meta'))
  }
})
