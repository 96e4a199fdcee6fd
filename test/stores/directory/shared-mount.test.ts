/** Files that another host removes or replaces while this process has them open, as on NFS and CephFS. */
import { beforeEach, describe, expect, it, test } from 'vitest'
import { compactStores } from '../../../src/jobs/compact.ts'
import { type ShardId, ShardMissing, type ShardStore } from '../../../src/stores/shard-store.ts'
import { makeBucket, put as putObject, read as readObject, storeOver } from '../../objects/fixture.ts'
import { patternBytes, type TestClock } from '../../support/seeded.ts'
import type { FsCall, SimulatedFs } from '../simulated-fs.ts'
import { get, put } from '../suite.ts'
import { openStore, simulated, tinySizes } from './opened-store.ts'

const path = '/mnt/store'
const kinds = [
  ['a small shard', 1000, '/segments/'],
  ['a range of a large shard that is read at once', 10_000, '/files/'],
  ['a large shard', 60_000, '/files/'],
] as const

let fs: SimulatedFs
let clock: TestClock
let store: ShardStore
const open = async (): Promise<ShardStore> =>
  (await openStore({ path, clock, fs, ...tinySizes, firstOpener: false })).store
beforeEach(async () => {
  const made = simulated(1)
  fs = made.fs
  clock = made.clock
  store = await open()
})

/** The next `times` calls of this kind fail as those of a file that another host has removed. */
function goStale(name: FsCall['name'], below: string, times = 1): () => number {
  let left = times
  fs.fault = (call) => (call.name === name && call.path.includes(below) && left-- > 0 ? 'ESTALE' : undefined)
  return () => times - Math.max(0, left)
}

describe('on a shared mount', () => {
  const some = (bytes: number): [start: number, end: number] => (bytes === 10_000 ? [100, 1100] : [0, bytes])
  const isRight = async (id: ShardId, bytes: number): Promise<boolean> =>
    (await get(store, id, ...some(bytes))).equals(patternBytes(1, bytes).subarray(...some(bytes)))

  test.each(kinds)('%s is read again when its descriptor is stale and its file is there', async (_, bytes, below) => {
    const id = await put(store, patternBytes(1, bytes))
    expect(await isRight(id, bytes)).toBe(true)
    const stale = goStale('read', below)
    expect(await isRight(id, bytes)).toBe(true)
    expect(stale()).toBe(1)
  })

  test.each(kinds)('%s is missing, not damaged, when another host has removed its file', async (_, bytes, below) => {
    const id = await put(store, patternBytes(1, bytes))
    expect(await isRight(id, bytes)).toBe(true)
    for (const name of ['read', 'open'] as const) {
      goStale(name, below, Number.POSITIVE_INFINITY)
      if (name === 'read') for (const file of fs.files().filter((file) => file.includes(below))) await fs.unlink(file)
      await expect(get(store, id, ...some(bytes))).rejects.toThrow(ShardMissing)
      await expect(store.description(id)).rejects.toThrow(ShardMissing)
    }
  })

  it('a large shard is read on in the middle, through the file that is there by then', async () => {
    const id = await put(store, patternBytes(1, 60_000))
    const source = await store.get(id, { start: 0, end: 60_000 })
    const chunks: Buffer[] = []
    await source.drain(async (chunk) => {
      if (chunks.length === 2) goStale('read', '/files/', 2)
      chunks.push(Buffer.from(chunk))
    })
    expect(Buffer.concat(chunks).equals(patternBytes(1, 60_000))).toBe(true)
    await expect.poll(() => fs.openHandles).toBe(1)
  })

  it('a record that an old descriptor does not show yet is read through a new one', async () => {
    const id = await put(store, patternBytes(1, 1000))
    expect(await isRight(id, 1000)).toBe(true)
    const [segment = ''] = fs.files().filter((file) => file.includes('/segments/'))
    const written = Buffer.from(fs.content(segment))
    fs.content(segment).fill(0)
    await expect(get(store, id, 0, 1000)).rejects.toThrow(`shard ${id}`)
    fs.replace(segment, written)
    expect(await isRight(id, 1000)).toBe(true)
  })
})

describe('an object on a shared mount', () => {
  it('is read where it is by now, when another host has moved its shard and removed the segment', async () => {
    const made = storeOver(store, clock)
    await makeBucket(made)
    const other = await open()
    const { kv } = made
    const elsewhere = { ...made.backend, blobs: storeOver(other, clock).backend.blobs }
    for (let i = 0; i < 2; i++) await putObject(made, `key-${i}`, Buffer.from(`value ${i}`))
    expect((await readObject(made, 'key-0')).toString()).toBe('value 0')
    const [segment = ''] = fs.files().filter((file) => file.includes('/segments/'))
    // The writer is gone, and its segment is small enough to be emptied with others.
    await other.closeAbandoned(() => true)
    for (let i = 0; i < 8; i++) {
      const writer = await open()
      await put(writer, patternBytes(i, 10))
      await writer.close()
    }
    for (const { id } of await other.unchecked()) await other.markChecked(id)
    clock.advance(100_000)
    expect((await compactStores({ ...elsewhere, kv }, { graceMs: 1000 })).movedShards).toBe(2)
    expect(fs.files()).not.toContain(segment)
    goStale('read', segment, Number.POSITIVE_INFINITY)
    expect((await readObject(made, 'key-0')).toString()).toBe('value 0')
  })

  it('is looked up again when the file of a large one is gone', async () => {
    const made = storeOver(store, clock)
    await makeBucket(made)
    const bytes = patternBytes(1, 60_000)
    await putObject(made, 'key', bytes)
    const stale = goStale('open', '/files/')
    expect((await readObject(made, 'key')).equals(bytes)).toBe(true)
    expect(stale()).toBe(1)
  })
})
