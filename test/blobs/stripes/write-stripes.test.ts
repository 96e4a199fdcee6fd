/** Writes of erasure code to several disks: what is acknowledged can be read without some of them, and what is refused leaves nothing behind. */
import { afterEach, expect, it } from 'vitest'
import { limits } from '../../../src/limits.ts'
import { type DiskStore, type ErasureOptions, erasureStore, pieces } from '../../jobs/disk-fixture.ts'
import { outcome, put, read } from '../../objects/fixture.ts'
import { patternBytes } from '../../support/seeded.ts'
import { type Disk, type Fault, failingAfter, unmount } from '../disks.ts'

let made: DiskStore
/** A disk of the test answers sooner, however busy the machine is; one that takes longer hangs. */
const busyDiskMs = 1000
const never = new Promise<void>(() => {})
let letGo: () => void = () => {}

async function open(options: Partial<ErasureOptions> = {}): Promise<Disk[]> {
  made = await erasureStore({ disks: 6, data: 4, parity: 2, ...options })
  return made.disks.all
}

afterEach(() => {
  letGo()
  return made.dispose()
})

const bytes = patternBytes(2, 20 * 4 * limits.stripeUnitBytes + 200_000)

const systemError = (code: string) => Object.assign(new Error(`${code} by the test`), { code })
const failing =
  (code: string, at: 'write' | 'freeBytes'): Fault =>
  async (operation) => {
    if (operation === at) throw systemError(code)
  }

it.each([
  ['errors', failing('EIO', 'write')],
  ['a read-only file system', failing('EROFS', 'write')],
  ['no room', failing('ENOSPC', 'freeBytes')],
])('goes on where one disk meets %s: what was acknowledged survives the loss of another', async (_, fault) => {
  const [bad] = await open()
  bad?.fault(fault)
  await put(made, 'key', pieces(bytes))
  expect(await made.manifestOf('key')).toMatchObject({ missing: 1, shards: [{}, {}, {}, {}, {}] })
  expect(await made.queued()).toBe(1)
  bad?.fault(undefined)
  const { shards } = await made.manifestOf('key')
  await unmount(made.disks.of(shards[0]?.storeId ?? ''))
  expect((await read(made, 'key')).equals(bytes)).toBe(true)
})

it.each([
  ['refuses the first bytes', async ({ fault }: Disk) => fault(failing('EIO', 'write'))],
  ['is gone', unmount],
])('goes to a seventh disk at once where one of six %s', async (_, spoil) => {
  const [bad] = await open({ disks: 7 })
  if (bad !== undefined) await spoil(bad)
  for (let i = 0; i < 4; i++) {
    await put(made, 'key', pieces(bytes))
    const { shards, missing } = await made.manifestOf('key')
    expect(missing).toBeUndefined()
    expect(shards.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5])
    expect(shards.map(({ storeId }) => made.disks.of(storeId).name)).not.toContain('disk0')
    expect((await read(made, 'key')).equals(bytes)).toBe(true)
  }
  expect(await made.queued()).toBe(0)
})

it('a disk that fails half-way has nobody to stand in for it', async () => {
  const disks = await open({ disks: 7 })
  for (const disk of disks) disk.fault(failingAfter(1, 'EIO'))
  expect(await outcome(put(made, 'key', pieces(bytes)))).toBe('ServiceUnavailable')
  for (const disk of disks.slice(1)) disk.fault(undefined)
  for (let i = 0; i < 4; i++) {
    disks[0]?.fault(failingAfter(1, 'EIO'))
    await put(made, 'key', pieces(bytes))
    expect((await read(made, 'key')).equals(bytes)).toBe(true)
  }
  expect(await made.liveShards()).toBeLessThanOrEqual(4 * 6)
})

it('is refused, and leaves nothing, where fewer than writeAck disks take it', async () => {
  for (const bad of (await open()).slice(0, 2)) bad.fault(failing('EIO', 'write'))
  expect(await outcome(put(made, 'key', pieces(bytes)))).toBe('ServiceUnavailable')
  expect(await made.liveShards()).toBe(0)
  expect(await outcome(read(made, 'key'))).toBe('NoSuchKey')
})

it('a small blob, copied whole, needs as many copies as survive what stripes survive', async () => {
  const disks = await open({ location: { replicateBelow: 10_000 } })
  for (const bad of disks.slice(0, 4)) bad.fault(failing('EIO', 'write'))
  await put(made, 'key', patternBytes(1, 9_999))
  expect(await made.manifestOf('key')).toMatchObject({ scheme: 'replica', missing: 1, shards: [{}, {}] })
  disks[4]?.fault(failing('EIO', 'write'))
  expect(await outcome(put(made, 'other', patternBytes(1, 9_999)))).toBe('ServiceUnavailable')
})

it('leaves nothing where the client goes away', async () => {
  await open()
  const body = pieces(bytes, async (at) => {
    if (at > 1_000_000) throw new Error('the client went away')
  })
  await expect(put(made, 'key', body)).rejects.toThrow('the client went away')
  expect(await made.liveShards()).toBe(0)
  expect(made.disks.all.map(({ store }) => store.condition().state)).toEqual(Array(6).fill('up'))
})

it('does not wait for ever for a disk that hangs: it is left out', async () => {
  const [hung] = await open({ stallMs: busyDiskMs })
  hung?.fault((operation) => (operation === 'write' ? new Promise((resolve) => (letGo = resolve)) : Promise.resolve()))
  await put(made, 'key', pieces(bytes))
  expect((await read(made, 'key')).equals(bytes)).toBe(true)
  expect(hung?.store.condition().state).toBe('out')
})

it('is in as many domains as it is to be', async () => {
  await open({ disks: 6, data: 2, parity: 1, domainOf: (i) => `d${Math.floor(i / 2)}` })
  for (let i = 0; i < 5; i++) {
    await put(made, 'key', pieces(bytes))
    const domains = (await made.manifestOf('key')).shards.map(({ storeId }) => made.disks.of(storeId).store.domain)
    expect(new Set(domains)).toEqual(new Set(['d0', 'd1', 'd2']))
  }
})

it('a shard that does not begin to answer is computed from others', async () => {
  const [slow] = await open({ raceMs: busyDiskMs })
  await put(made, 'key', pieces(bytes))
  slow?.fault((operation) => (operation === 'open' ? never : Promise.resolve()))
  expect((await read(made, 'key')).equals(bytes)).toBe(true)
  const from = 3 * limits.stripeUnitBytes - 5
  expect((await read(made, 'key', [from, from + 10])).equals(bytes.subarray(from, from + 10))).toBe(true)
})

it('shards that all are slow to answer are waited for', async () => {
  const disks = await open({ raceMs: 5 })
  await put(made, 'key', pieces(bytes))
  for (const disk of disks) {
    disk.fault((operation) =>
      operation === 'open' ? new Promise((resolve) => setTimeout(resolve, 60)) : Promise.resolve(),
    )
  }
  expect((await read(made, 'key')).equals(bytes)).toBe(true)
})

it('is refused in the end where too few disks do not hang', async () => {
  const disks = await open({ data: 2, parity: 1, disks: 3, stallMs: 20 })
  const until = new Promise<void>((resolve) => {
    letGo = resolve
  })
  for (const disk of disks) disk.fault((operation) => (operation === 'write' ? until : Promise.resolve()))
  expect(await outcome(put(made, 'key', pieces(bytes)))).toBe('ServiceUnavailable')
  // It is refused as soon as one is out: on a busy machine that may be before the others hang.
  expect(disks.map(({ store }) => store.condition().state)).toContain('out')
})
