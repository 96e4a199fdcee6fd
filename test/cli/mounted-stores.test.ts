/** A location of 4 + 2 shards over six file systems of their own: unmounted under the running server, replaced by empty ones, full, read-only, hidden by others. */
import { readdir, writeFile } from 'node:fs/promises'
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { limits } from '../../src/limits.ts'
import { mayMount, mountMemory, remount, unmountLazily } from '../support/mounts.ts'
import { patternBytes } from '../support/seeded.ts'
import { keyVariables, killLeftovers, type Outcome, type Running, run, serve } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const MiB = 1024 * 1024
const disks = ['disk1', 'disk2', 'disk3', 'disk4', 'disk5', 'disk6']
/** Of each disk; what it keeps for deletes is never filled. */
const roomMiB = 128 + limits.storeReserveBytes / MiB

const { path, clientOf } = openWorkplace('mounted')
let config: string
/** Of every disk, how many file systems lie on its path. */
let mounted: string[]

function mount(disk: string, mebibytes = roomMiB): void {
  mountMemory(path(disk), mebibytes)
  mounted.push(disk)
}

function unmount(disk: string): void {
  unmountLazily(path(disk))
  mounted.splice(mounted.lastIndexOf(disk), 1)
}

beforeEach(() => {
  config = path('holdfast.toml')
  mounted = []
})
afterEach(async () => {
  await killLeftovers()
  for (const disk of [...mounted]) unmount(disk)
})

async function configure(writeAck: number): Promise<void> {
  const stores = disks.map((disk) => `[stores.${disk}]\ntype = "directory"\npath = "${disk}"\n`).join('')
  const scheme = `scheme = "erasure"\ndata = 4\nparity = 2\nwriteAck = ${writeAck}\nstores = ${JSON.stringify(disks)}\n`
  await writeFile(config, `data = "data"\nlisten = "127.0.0.1:0"\n${stores}[locations.safe]\n${scheme}`)
}

/** Asks once for each: a request that fails fails the test. */
class Client {
  readonly #s3: S3Client
  #numbers = 0
  readonly sizes = new Map<string, number>()

  constructor(endpoint: string) {
    this.#s3 = clientOf(endpoint)
  }

  makeBucket = () =>
    this.#s3.send(
      new CreateBucketCommand({
        Bucket: 'bucket',
        CreateBucketConfiguration: { LocationConstraint: 'safe' as 'eu-west-1' },
      }),
    )

  async put(size: number): Promise<void> {
    const number = this.#numbers++
    const Key = `key-${number}`
    await this.#s3.send(new PutObjectCommand({ Bucket: 'bucket', Key, Body: patternBytes(number, size) }))
    this.sizes.set(Key, size)
  }

  /** Of every object, all bytes. */
  async readAll(): Promise<void> {
    for (const [Key, size] of this.sizes) {
      const { Body } = await this.#s3.send(new GetObjectCommand({ Bucket: 'bucket', Key }))
      const bytes = Buffer.from((await Body?.transformToByteArray()) ?? [])
      expect(bytes.equals(patternBytes(Number(Key.slice('key-'.length)), size)), Key).toBe(true)
    }
  }

  /** The same objects, of a server that was started again. */
  next(endpoint: string): Client {
    const client = new Client(endpoint)
    client.#numbers = this.#numbers
    for (const [key, size] of this.sizes) client.sizes.set(key, size)
    return client
  }

  close = (): void => this.#s3.destroy()
}

let client: Client | undefined

async function serving(use: (client: Client, server: Running) => Promise<void>): Promise<void> {
  const server = await serve(['serve', '--config', config])
  const { endpoint } = server.ready
  const current = client?.next(endpoint) ?? new Client(endpoint)
  client = current
  try {
    await use(current, server)
  } finally {
    current.close()
    server.child.kill('SIGTERM')
  }
  expect(await server.ended).toMatchObject({ code: 0 })
}
beforeEach(() => {
  client = undefined
})

async function commandLines(...words: string[]): Promise<Record<string, unknown>[]> {
  const { stdout, stderr, code }: Outcome = await run([...words, '--config', config, '--json'], keyVariables).ended
  // `status` says by its code how the locations are.
  expect(words.includes('status') ? [0, 3, 4] : [0], stderr).toContain(code)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

async function command(...words: string[]): Promise<Record<string, unknown>> {
  return (await commandLines(...words)).at(-1) ?? {}
}

async function status(): Promise<{ name: string; degradedBlobs: number }> {
  const { locations } = (await command('locations', 'status')) as {
    locations: { name: string; degradedBlobs: number }[]
  }
  const safe = locations.find(({ name }) => name === 'safe')
  if (safe === undefined) throw new Error('there is no such location')
  return safe
}

const storesWhere = (changed: Record<string, unknown>) => ({
  stores: disks.map((name) => expect.objectContaining({ name, ...(changed[name] ?? { state: 'up' }) })),
})
const saying = (disk: string, what: string) => (line: string) => line.includes(`store ${disk} ${what}`)

describe.skipIf(!mayMount)('six file systems in memory (skipped where none may be mounted)', () => {
  it('two are unmounted under the running server, which goes on; empty ones in their place are filled on demand', async () => {
    await configure(4)
    for (const disk of disks) mount(disk)
    await serving(async (client, server) => {
      await client.makeBucket()
      for (let i = 0; i < 16; i++) await client.put(i % 4 === 0 ? 3_000 : 3 * MiB + i)
      for (const disk of ['disk2', 'disk5']) unmount(disk)
      // Whoever meets them first, reads and writes go on.
      for (let i = 0; i < 8; i++) await client.put(i % 4 === 0 ? 3_000 : 3 * MiB + i)
      await client.readAll()
      await server.logged(saying('disk2', 'is taken out of use'))
      await server.logged(saying('disk5', 'is taken out of use'))
      const out = { state: 'out', reason: expect.stringContaining('not mounted') }
      expect(await status()).toMatchObject(storesWhere({ disk2: out, disk5: out }))

      // New disks, which are empty: nobody takes them for the old ones.
      for (const disk of ['disk2', 'disk5']) mount(disk)
      for (let i = 0; i < 4; i++) await client.put(3 * MiB)
      for (const disk of ['disk2', 'disk5']) expect(await readdir(path(disk))).toEqual([])
      for (const disk of ['disk2', 'disk5']) {
        expect(await command('locations', 'replace', disk)).toMatchObject({ store: disk })
        await server.logged(saying(disk, 'is a new one from now on'))
        await server.logged(saying(disk, 'is back in use'))
      }
      const { degradedBlobs } = await status()
      // At least those of stripes, of which every disk has a shard.
      expect(degradedBlobs).toBeGreaterThanOrEqual(22)
      for (let i = 0; i < 4; i++) await client.put(i % 2 > 0 ? 3_000 : 3 * MiB + i)
      await client.readAll()
      const bytes = [...client.sizes.values()].reduce((sum, size) => sum + size, 0)
      const beganMs = performance.now()
      const said = await commandLines('repair')
      const seconds = (performance.now() - beganMs) / 1000
      expect(said.at(-1)).toMatchObject({ event: 'repaired', state: 'done', degraded: 0, lost: 0 })
      expect(said.findLast(({ event }) => event === 'progress')).toMatchObject({ secondsLeft: 0 })
      console.info(
        `repaired ${degradedBlobs} of ${client.sizes.size} blobs, ${(bytes / MiB).toFixed(0)} MiB, in ${seconds.toFixed(1)} s`,
      )
    })
    expect(await status()).toMatchObject({
      degradedBlobs: 0,
      failuresSurvived: { now: 2, whole: 2 },
      ...storesWhere({}),
    })

    // Whole: any two others may go.
    for (const disk of ['disk1', 'disk6']) unmount(disk)
    await serving((client) => client.readAll())
  })

  it('one that fills up is given nothing more; what lacks a shard gets it when there is room', async () => {
    await configure(5)
    for (const disk of disks) mount(disk, disk === 'disk3' ? 12 + limits.storeReserveBytes / MiB : roomMiB)
    await serving(async (client, server) => {
      await client.makeBucket()
      for (let i = 0; i < 24; i++) await client.put(3 * MiB + i)
      await server.logged(saying('disk3', 'takes no new data: it has no room left'))
      await client.readAll()
    })
    expect(await status()).toMatchObject({ failuresSurvived: { now: 0, whole: 2 } })
    remount(path('disk3'), `size=${roomMiB}m`)
    expect(await command('reclaim')).toMatchObject({ degradedBlobs: 0, lostBlobs: 0 })
    expect(await status()).toMatchObject({ degradedBlobs: 0, ...storesWhere({}) })
  })

  it('one that is read-only is read, and not written to', async () => {
    await configure(5)
    for (const disk of disks) mount(disk)
    await serving(async (client) => {
      await client.makeBucket()
      for (let i = 0; i < 4; i++) await client.put(3 * MiB + i)
    })
    const held = await readdir(path('disk4'), { recursive: true })
    remount(path('disk4'), 'ro')
    await serving(async (client, server) => {
      for (let i = 0; i < 4; i++) await client.put(3 * MiB + i)
      await server.logged(saying('disk4', 'takes no new data: its file system is read-only'))
      const readOnly = { state: 'read-only', reason: 'its file system is read-only (EROFS)' }
      expect(await status()).toMatchObject(storesWhere({ disk4: readOnly }))
      for (const disk of ['disk1', 'disk2']) unmount(disk)
      // Two are gone: of what was written before, four shards are left with the one here.
      for (const key of [...client.sizes.keys()].slice(4)) client.sizes.delete(key)
      await client.readAll()
    })
    expect(await readdir(path('disk4'), { recursive: true })).toEqual(held)
  })

  it('one that is hidden by an empty or a foreign one is left out until it is seen again; nothing is made in them', async () => {
    await configure(4)
    for (const disk of disks) mount(disk)
    await serving(async (client, server) => {
      await client.makeBucket()
      for (let i = 0; i < 4; i++) await client.put(i % 2 > 0 ? 3_000 : 3 * MiB + i)
      mount('disk1')
      mount('disk6')
      await writeFile(path('disk6', 'photo.jpg'), 'x')
      for (let i = 0; i < 6; i++) await client.put(i % 2 > 0 ? 3_000 : 3 * MiB + i)
      await client.readAll()
      for (const disk of ['disk1', 'disk6']) await server.logged(saying(disk, 'is taken out of use'))
      expect(await readdir(path('disk1'))).toEqual([])
      expect(await readdir(path('disk6'))).toEqual(['photo.jpg'])
      for (const disk of ['disk1', 'disk6']) {
        unmount(disk)
        await server.logged(saying(disk, 'is back in use'))
      }
      await client.readAll()
    })
    expect(await command('reclaim')).toMatchObject({ degradedBlobs: 0, lostBlobs: 0 })
  })
})
