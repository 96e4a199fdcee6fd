/** Rot: whatever becomes of the stored bytes, a read gives what was written or fails with `ShardDamaged`. */
import * as fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { ShardDamaged, type ShardId, type ShardStore } from '../../../src/stores/shard-store.ts'
import { patternBytes } from '../../support/seeded.ts'
import type { SimulatedFs } from '../simulated-fs.ts'
import { listed, put } from '../suite.ts'
import { inPlaceSizes, type OpenedStore, openStore, simulated, tinySizes } from './opened-store.ts'

const path = '/store'
const sizes = [0, 1, 900, 1024, 2048, 2999, 3001, 4000, 8192, 8193, 20_000, 30_000]

interface Kept {
  id: ShardId
  payload: Buffer
}

let fs: SimulatedFs
let opened: OpenedStore
let kept: Kept[]

/** A store with a sealed segment and some files; its readers hold nothing open. */
async function fill(storeSizes: typeof tinySizes): Promise<void> {
  const { fs: made, clock } = simulated(1)
  fs = made
  const writer = await openStore({ path, fs, clock, ...storeSizes })
  kept = []
  for (const size of sizes) {
    const payload = patternBytes(size + 1, size)
    kept.push({ id: await put(writer.store, payload, `of ${size} bytes`), payload })
  }
  await writer.store.close()
  opened = await openStore({ path, fs, clock, ...storeSizes })
}

/** `right` or `damaged`; wrong bytes and any other error fail the test. */
async function outcome(
  store: ShardStore,
  { id, payload }: Kept,
  start = 0,
  end = payload.length,
): Promise<'right' | 'damaged'> {
  const given: Buffer[] = []
  try {
    await (await store.get(id, { start, end })).drain((chunk) => {
      given.push(Buffer.from(chunk))
    })
  } catch (error) {
    if (!(error instanceof ShardDamaged)) throw error
    const prefix = Buffer.concat(given)
    expect(prefix.equals(payload.subarray(start, start + prefix.length)), 'what was given before the damage').toBe(true)
    return 'damaged'
  }
  expect(Buffer.concat(given).equals(payload.subarray(start, end)), 'what was read').toBe(true)
  return 'right'
}

async function outcomes(): Promise<string[]> {
  const all: string[] = []
  for (const shard of kept) all.push(await outcome(opened.store, shard))
  return all
}

function dataFiles(): string[] {
  return fs.files().filter((file) => /\/(segments|files)\//.test(file))
}

function largeFiles(): string[] {
  return dataFiles().filter((file) => file.includes('/files/'))
}

describe.each([
  ['large shards in files of their own', tinySizes, 30_000],
  ['shards written in place into segments', inPlaceSizes, 20_000],
])('rot: %s', (_, storeSizes, largest) => {
  beforeEach(() => fill(storeSizes))

  test('nothing is damaged to begin with', async () => {
    expect(await outcomes()).toEqual(sizes.map(() => 'right'))
  })

  test('flipped bits are never read as data', async () => {
    const place = fc.record({
      file: fc.nat(),
      at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      bit: fc.nat(7),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(place, { minLength: 1, maxLength: 4 }), async (flips) => {
        const files = dataFiles()
        const undo: (() => void)[] = []
        for (const { file, at, bit } of flips) {
          const content = fs.content(files[file % files.length] ?? '')
          const index = Math.floor(at * content.length)
          const before = content.readUInt8(index)
          content.writeUInt8(before ^ (1 << bit), index)
          undo.unshift(() => content.writeUInt8(before, index))
        }
        await outcomes()
        await listed(opened.store)
        for (const restore of undo) restore()
      }),
      { numRuns: 300 },
    )
    expect(await outcomes()).toEqual(sizes.map(() => 'right'))
  })

  test('a flip anywhere in a record or a file is noticed, except where nothing is kept', async () => {
    const payloads = kept.filter(({ payload }) => payload.length >= 900)
    for (const { id, payload } of payloads) {
      const marks = [0, 1, payload.length >> 1, payload.length - 1]
      for (const mark of marks) {
        const holder = dataFiles().find((file) => fs.content(file).includes(payload)) ?? ''
        const content = fs.content(holder)
        const index = content.indexOf(payload) + mark
        content.writeUInt8(content.readUInt8(index) ^ 1, index)
        expect(await outcome(opened.store, { id, payload })).toBe('damaged')
        content.writeUInt8(content.readUInt8(index) ^ 1, index)
      }
    }
  })

  test('a flip in the description of a shard is noticed by its readers and its checkers', async () => {
    for (const { id, payload } of kept) {
      const description = Buffer.from(`of ${payload.length} bytes`)
      const holder = dataFiles().find((file) => fs.content(file).includes(description)) ?? ''
      const index = fs.content(holder).indexOf(description)
      fs.content(holder).writeUInt8(0x21, index)
      expect(await outcome(opened.store, { id, payload })).toBe('damaged')
      expect((await listed(opened.store)).map((shard) => shard.id)).not.toContain(id)
      fs.content(holder).writeUInt8(description.readUInt8(0), index)
    }
  })

  test('a damaged block spoils only the ranges that need it', async () => {
    const shard = kept.find(({ payload }) => payload.length === largest) ?? { id: '', payload: Buffer.alloc(0) }
    const holder = dataFiles().find((file) => fs.content(file).includes(shard.payload)) ?? ''
    const content = fs.content(holder)
    const damaged = content.indexOf(shard.payload) + 5 * 1024
    content.writeUInt8(content.readUInt8(damaged) ^ 1, damaged)
    expect(await outcome(opened.store, shard, 0, 5 * 1024)).toBe('right')
    expect(await outcome(opened.store, shard, 0, 5 * 1024 + 1)).toBe('damaged')
    expect(await outcome(opened.store, shard, 6 * 1024 - 1, 6 * 1024)).toBe('damaged')
    expect(await outcome(opened.store, shard, 6 * 1024, 6 * 1024 + 5000)).toBe('right')
    expect(await outcome(opened.store, shard)).toBe('damaged')
  })
})

describe('rot', () => {
  beforeEach(() => fill(tinySizes))

  test.each(['zeros', 'half', 'nothing'])('files of which %s is left are damaged', async (left) => {
    for (const file of dataFiles()) {
      const content = fs.content(file)
      const half = content.subarray(0, content.length >> 1)
      fs.replace(
        file,
        left === 'zeros' ? Buffer.alloc(content.length) : left === 'half' ? Buffer.from(half) : Buffer.alloc(0),
      )
    }
    const all = await outcomes()
    expect(all.filter((one) => one === 'damaged').length).toBeGreaterThanOrEqual(left === 'half' ? 5 : sizes.length)
  })

  test('two files that changed places are both damaged', async () => {
    const [first = '', second = ''] = largeFiles().filter((file) => fs.content(file).length === 8192)
    const content = Buffer.from(fs.content(first))
    fs.replace(first, Buffer.from(fs.content(second)))
    fs.replace(second, content)
    expect((await outcomes()).filter((one) => one === 'damaged')).toHaveLength(2)
  })

  test('two records that changed places are both damaged', async () => {
    const clock = opened.clock
    const { fs: other } = simulated(2)
    const writer = await openStore({ path, fs: other, clock, ...tinySizes })
    const pair = await Promise.all(
      [1, 2].map(async (seed) => ({
        id: await put(writer.store, patternBytes(seed, 500), 'same'),
        payload: patternBytes(seed, 500),
      })),
    )
    const [segment = ''] = other.files(`${path}/segments`)
    const content = other.content(segment)
    const [first = 0, second = 0] = pair.map(({ id }) => Number.parseInt(id.split('.')[2] ?? '', 36))
    const bytes = Number.parseInt(pair[0]?.id.split('.')[3] ?? '', 36)
    const saved = Buffer.from(content.subarray(first, first + bytes))
    content.copy(content, first, second, second + bytes)
    saved.copy(content, second)
    for (const shard of pair) expect(await outcome(writer.store, shard)).toBe('damaged')
  })

  test('a record of another segment at the right place is damaged', async () => {
    const writer = await openStore({ path, fs, clock: opened.clock, ...tinySizes })
    const stale = { id: await put(writer.store, patternBytes(1, 1), 'of 0 bytes'), payload: patternBytes(1, 1) }
    const fresh = `${path}/segments/${stale.id.split('.')[1]}`
    const old = fs.files(`${path}/segments`).find((segment) => segment !== fresh) ?? ''
    fs.content(old).copy(fs.content(fresh), 0, 0, 4096)
    expect(await outcome(writer.store, stale)).toBe('damaged')
  })

  test('a sector that the disk cannot read is damage', async () => {
    fs.fault = ({ name }) => (name === 'read' ? 'EIO' : undefined)
    expect(await outcomes()).toEqual(sizes.map(() => 'damaged'))
  })

  test('listing goes past what is unreadable', async () => {
    const [segment = ''] = fs.files(`${path}/segments`)
    fs.content(segment).fill(0xab, 4096, 8192)
    const [file = ''] = largeFiles()
    fs.replace(file, Buffer.alloc(100))
    const found = new Set((await listed(opened.store)).map(({ id }) => id))
    const readable: string[] = []
    for (const shard of kept) if ((await outcome(opened.store, shard)) === 'right') readable.push(shard.id)
    expect([...found].sort()).toEqual(readable.sort())
    expect(readable.length).toBe(sizes.length - 2)
    expect(opened.warnings.join()).toContain('no trailer')
  })
})
