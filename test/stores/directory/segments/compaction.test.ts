/** Winning back room: what goes, what stays, and that nothing referenced is ever touched before it is safe elsewhere. */
import { EventEmitter, once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { limits } from '../../../../src/limits.ts'
import type { DirectorySizes } from '../../../../src/stores/directory/context.ts'
import type { Fs } from '../../../../src/stores/fs.ts'
import type { FoundShard, ShardId } from '../../../../src/stores/shard-store.ts'
import { patternBytes, seededRandom } from '../../../support/seeded.ts'
import type { SimulatedFs } from '../../simulated-fs.ts'
import { get, listed, put } from '../../suite.ts'
import { type OpenedStore, openStore, simulated, tinySizes } from '../opened-store.ts'

const path = '/store'
const none = { removedBatches: 0, movedShards: 0, freedBytes: 0 }

interface Written {
  opened: OpenedStore
  fs: SimulatedFs
  /** 40 shards in three segments, all checked. */
  ids: ShardId[]
}

async function written(
  sizes: readonly number[] = Array.from({ length: 40 }, () => 2900),
  storeSizes: Partial<DirectorySizes> = tinySizes,
): Promise<Written> {
  const { fs, clock } = simulated(1)
  const writer = await openStore({ path, fs, clock, ...storeSizes })
  const ids: ShardId[] = []
  for (const [index, size] of sizes.entries()) {
    clock.advance(1)
    ids.push(await put(writer.store, patternBytes(index, size), `${index}`))
  }
  await writer.store.close()
  clock.advance(10_000)
  const opened = await openStore({ path, fs, clock, ...storeSizes })
  return { opened, fs, ids }
}

async function checkAll({ opened }: Written): Promise<void> {
  for (const { id } of await opened.store.unchecked()) await opened.store.markChecked(id)
}

function mover({ opened }: Written): { moved: Map<ShardId, ShardId>; move: (shard: FoundShard) => Promise<boolean> } {
  const moved = new Map<ShardId, ShardId>()
  return {
    moved,
    move: async ({ id, description, payloadBytes }) => {
      const payload = await opened.store.get(id, { start: 0, end: payloadBytes })
      moved.set(id, await opened.store.put({ payload, describe: () => description }))
      return true
    },
  }
}

/** The file system as another process sees it, who waits before it creates a large file: `events` says `begun`, and waits for `goOn`. */
function waitingFs(fs: SimulatedFs, events: EventEmitter): Fs {
  const open: Fs['open'] = async (file, mode) => {
    if (mode === 'create' && file.startsWith(`${path}/files/`)) {
      const goingOn = once(events, 'goOn')
      events.emit('begun')
      await goingOn
    }
    return fs.open(file, mode)
  }
  return new Proxy<Fs>(fs, {
    get: (_, name) => {
      const own: unknown = name === 'open' ? open : Reflect.get(fs, name)
      return typeof own === 'function' ? own.bind(fs) : own
    },
  })
}

const refuse = async (): Promise<boolean> => {
  throw new Error('nothing may be moved')
}

function segmentOf(id: ShardId | undefined): string {
  return id?.split('.')[1] ?? ''
}

/** Ids by the segment that holds them, in the order of writing. */
function bySegment(ids: readonly ShardId[]): ShardId[][] {
  const segments = [...new Set(ids.map(segmentOf))]
  return segments.map((segment) => ids.filter((id) => segmentOf(id) === segment))
}

describe('compaction', () => {
  test('leaves the batch that another process has just opened, in which there is nothing yet', async () => {
    const life = await written()
    await checkAll(life)
    const [[, ...dead] = []] = bySegment(life.ids)
    await life.opened.store.delete(dead)
    const events = new EventEmitter()
    const fs = waitingFs(life.fs, events)
    const { store } = await openStore({ path, fs, clock: life.opened.clock, ...tinySizes, firstOpener: false })
    let writing: Promise<ShardId> | undefined
    const result = await life.opened.store.compact({
      graceMs: 0,
      move: async (shard) => {
        const begun = once(events, 'begun')
        writing ??= put(store, patternBytes(1, 9000), 'large')
        await begun
        return mover(life).move(shard)
      },
    })
    expect(result.movedShards).toBe(1)
    events.emit('goOn')
    expect(await get(store, (await writing) ?? '', 0, 9000)).toEqual(patternBytes(1, 9000))
    await store.close()
  })

  test('removes a segment in which nothing lives, with its tombstones, and moves nothing', async () => {
    const life = await written()
    await checkAll(life)
    const [first = []] = bySegment(life.ids)
    await life.opened.store.delete(first)
    const result = await life.opened.store.compact({ graceMs: 0, move: refuse })
    expect(result).toMatchObject({ removedBatches: 1, movedShards: 0 })
    expect(result.freedBytes).toBeGreaterThan(50_000)
    expect(life.fs.files().filter((file) => file.includes(segmentOf(first[0])))).toEqual([])
    expect(await listed(life.opened.store)).toHaveLength(40 - first.length)
  })

  test('moves what lives in a segment that is mostly dead, and only that', async () => {
    const life = await written()
    await checkAll(life)
    const [first = [], second = []] = bySegment(life.ids)
    await life.opened.store.delete([...first.slice(3), ...second.slice(0, 2)])
    const { moved, move } = mover(life)
    expect(await life.opened.store.compact({ graceMs: 0, move })).toMatchObject({ removedBatches: 1, movedShards: 3 })
    expect([...moved.keys()].sort()).toEqual(first.slice(0, 3).sort())
    for (const [old, fresh] of moved) {
      const index = life.ids.indexOf(old)
      expect((await get(life.opened.store, fresh, 0, 2900)).equals(patternBytes(index, 2900))).toBe(true)
    }
    expect(await life.opened.store.compact({ graceMs: 0, move: refuse })).toEqual(none)
  })

  test.each([
    { bytes: 600, count: 200, most: limits.compactMovesInFlightMax },
    { bytes: 1024 * 1024, count: 9, most: 8 },
  ])('moves what fits memory at a time: of $count shards of $bytes bytes $most', async ({ bytes, count, most }) => {
    const sizes = Array.from({ length: Math.ceil(1.5 * count) }, () => bytes)
    const life = await written(sizes, { smallShardBytesMax: bytes, segmentBytesMax: 64 * 1024 * 1024 })
    await checkAll(life)
    await life.opened.store.delete(life.ids.slice(count))
    const full = new EventEmitter()
    const isFull = once(full, 'full')
    let moving = 0
    let seen = 0
    const { move } = mover(life)
    const waiting = async (shard: FoundShard): Promise<boolean> => {
      seen = Math.max(seen, ++moving)
      // Whatever else may be started is, before the first ends.
      if (moving === most) setImmediate(() => full.emit('full'))
      await isFull
      return move(shard).finally(() => moving--)
    }
    expect(await life.opened.store.compact({ graceMs: 0, move: waiting })).toMatchObject({ movedShards: count })
    expect(seen).toBe(most)
  })

  test('leaves alone what is not checked, not closed or too young', async () => {
    const life = await written()
    const [first = []] = bySegment(life.ids)
    await life.opened.store.delete(first)
    expect(await life.opened.store.compact({ graceMs: 0, move: refuse })).toEqual(none)
    await checkAll(life)
    expect(await life.opened.store.compact({ graceMs: 60_000, move: refuse })).toEqual(none)
    life.opened.clock.advance(60_000)
    expect(await life.opened.store.compact({ graceMs: 60_000, move: refuse })).toMatchObject({ removedBatches: 1 })
  })

  test('keeps a segment of which something could not be moved, and remembers what was', async () => {
    const life = await written()
    await checkAll(life)
    const [first = []] = bySegment(life.ids)
    const [stubborn = ''] = first
    await life.opened.store.delete(first.slice(3))
    const { moved, move } = mover(life)
    expect(
      await life.opened.store.compact({ graceMs: 0, move: async (shard) => shard.id !== stubborn && move(shard) }),
    ).toEqual(none)
    expect(moved.size).toBe(2)
    expect((await get(life.opened.store, stubborn, 0, 2900)).equals(patternBytes(0, 2900))).toBe(true)
    moved.clear()
    expect(await life.opened.store.compact({ graceMs: 0, move })).toMatchObject({ removedBatches: 1, movedShards: 1 })
    expect([...moved.keys()]).toEqual([stubborn])
  })

  test.each([
    { lost: 1, kept: true, what: 'inside a group that others follow' },
    { lost: 2, kept: true, what: 'at the end of a group that others follow' },
    { lost: 4, kept: false, what: 'in the last group, which nobody was told about' },
  ])('of a segment that a crash left, a record lost $what: kept is $kept', async ({ lost, kept }) => {
    const { fs, clock } = simulated(3)
    const { store } = await openStore({ path, fs, clock, ...tinySizes })
    const ids: ShardId[] = []
    for (let group = 0; group < 2; group++) {
      ids.push(...(await Promise.all([0, 1, 2].map((index) => put(store, patternBytes(index, 100))))))
    }
    const left = fs.afterCrash({ random: seededRandom(3) })
    const opened = await openStore({ path, fs: left, clock, ...tinySizes })
    const life = { opened, fs: left, ids }
    await checkAll(life)
    await opened.store.delete(ids)
    const [, segment = '', offset = '', bytes = ''] = (ids[lost] ?? '').split('.')
    const at = Number.parseInt(offset, 36)
    left.content(`${path}/segments/${segment}`).fill(0, at, at + Number.parseInt(bytes, 36))
    await opened.store.compact({ graceMs: 0, move: refuse })
    expect(left.files(`${path}/segments`)).toHaveLength(kept ? 1 : 0)
    expect(opened.warnings).toHaveLength(kept ? 1 : 0)
  })

  test('goes on with other segments when a shard is rotten, and leaves that one where it is', async () => {
    const life = await written()
    await checkAll(life)
    const [first = [], second = []] = bySegment(life.ids)
    await life.opened.store.delete([...first.slice(3), ...second.slice(3)])
    const content = life.fs.content(`${path}/segments/${segmentOf(first[0])}`)
    content.writeUInt8(content.readUInt8(2000) ^ 1, 2000)
    const { moved, move } = mover(life)
    expect(await life.opened.store.compact({ graceMs: 0, move })).toMatchObject({ removedBatches: 1, movedShards: 3 })
    expect([...moved.keys()].sort()).toEqual([...first.slice(1, 3), ...second.slice(0, 3)].sort())
    expect(life.opened.warnings).toHaveLength(1)
    expect(await life.opened.store.compact({ graceMs: 0, move: refuse })).toEqual(none)
  })

  test('stops when the mover fails, and can be run again', async () => {
    const life = await written()
    await checkAll(life)
    const [first = []] = bySegment(life.ids)
    await life.opened.store.delete(first.slice(3))
    const failing = life.opened.store.compact({
      graceMs: 0,
      move: async () => Promise.reject(new Error('the kv is gone')),
    })
    await expect(failing).rejects.toThrow('the kv is gone')
    expect(await life.opened.store.compact({ graceMs: 0, move: mover(life).move })).toMatchObject({ movedShards: 3 })
  })

  test('never removes a segment with records that cannot be read, and says so once', async () => {
    const life = await written()
    await checkAll(life)
    const [first = []] = bySegment(life.ids)
    await life.opened.store.delete(first.slice(3))
    life.fs.content(`${path}/segments/${segmentOf(first[0])}`).fill(0, 4096, 8192)
    for (let round = 0; round < 3; round++) await life.opened.store.compact({ graceMs: 0, move: async () => true })
    expect(life.fs.files(`${path}/segments`).some((file) => file.endsWith(segmentOf(first[0])))).toBe(true)
    expect(life.opened.warnings.filter((warning) => warning.includes(segmentOf(first[0])))).toHaveLength(1)
  })

  test('merges small segments when there are several', async () => {
    const { fs, clock } = simulated(2)
    const ids: ShardId[] = []
    for (let restart = 0; restart < 9; restart++) {
      const { store } = await openStore({ path, fs, clock, ...tinySizes })
      const life = { opened: { store, clock, path, warnings: [], fatal: [] }, fs, ids }
      await checkAll(life)
      if (restart < 8) {
        expect(await store.compact({ graceMs: 0, move: refuse })).toEqual(none)
        ids.push(await put(store, patternBytes(restart, 500)))
      } else {
        expect(await store.compact({ graceMs: 0, move: mover(life).move })).toMatchObject({
          removedBatches: 8,
          movedShards: 8,
        })
        expect(await listed(store)).toHaveLength(8)
      }
      await store.close()
    }
    expect(fs.files(`${path}/segments`)).toHaveLength(1)
  })

  test('removes directories of large files when they are empty, closed and checked', async () => {
    const life = await written(Array.from({ length: 5 }, () => 5000))
    const { store } = life.opened
    await store.delete(life.ids.slice(0, 3))
    expect(await store.compact({ graceMs: 0, move: refuse })).toEqual(none)
    await checkAll(life)
    expect(await store.compact({ graceMs: 0, move: refuse })).toMatchObject({ removedBatches: 1 })
    expect(await life.fs.list(`${path}/files`)).toHaveLength(1)
  })

  test('counts what the store uses', async () => {
    const life = await written([2900, 5000])
    const { usedBytes, freeBytes } = await life.opened.store.usage()
    const files = life.fs.files().filter((file) => /segments|files/.test(file))
    expect(usedBytes).toBe(files.reduce((sum, file) => sum + life.fs.content(file).length, 0))
    expect(freeBytes).toBeGreaterThan(0)
  })
})
