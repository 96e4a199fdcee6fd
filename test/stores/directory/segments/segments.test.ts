/** How small shards share segments: group commit, growth, sealing, and what a restart finds. */
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bytesSource } from '../../../../src/byte-source.ts'
import type { FileHandle } from '../../../../src/stores/fs.ts'
import { nodeFs } from '../../../../src/stores/node-fs.ts'
import type { ShardId } from '../../../../src/stores/shard-store.ts'
import { patternBytes, seededClock, seededRandom } from '../../../support/seeded.ts'
import type { SimulatedFs } from '../../simulated-fs.ts'
import { get, listed, put } from '../../suite.ts'
import { type OpenedStore, openStore, simulated, temporaryDirectory, tinySizes } from '../opened-store.ts'

const path = '/store'
/** The queue of microtasks turns fewer times until one is acknowledged. */
const turnsOfOnePut = 200

async function openSimulated(): Promise<OpenedStore & { fs: SimulatedFs }> {
  const { fs, clock } = simulated(1)
  return { ...(await openStore({ path, fs, clock, ...tinySizes })), fs }
}

function callsOf(fs: SimulatedFs, from: number, name: string): number {
  return fs.calls.slice(from).filter((call) => call.name === name && call.path.includes('/segments/')).length
}

function segmentOf(id: ShardId): string {
  return id.split('.')[1] ?? ''
}

async function fillSegment(opened: OpenedStore, shards: number): Promise<ShardId[]> {
  const ids: ShardId[] = []
  for (let index = 0; index < shards; index++) ids.push(await put(opened.store, patternBytes(index, 2900)))
  return ids
}

describe('small shards', () => {
  test('that wait together are written with one write, which syncs itself', async () => {
    const { store, fs } = await openSimulated()
    await put(store, patternBytes(0, 10))
    const from = fs.calls.length
    const first = put(store, patternBytes(1, 10))
    const rest = Array.from({ length: 8 }, (_, index) => put(store, patternBytes(index, 10)))
    await Promise.all([first, ...rest])
    expect(callsOf(fs, from, 'write')).toBeLessThanOrEqual(2)
    expect(callsOf(fs, from, 'datasync')).toBe(0)
  })

  test.each([
    ['a disk of this machine', nodeFs],
    ['a mount that may be remote', { ...nodeFs, isLocal: async () => false }],
  ])('are refused once the store was moved away under them, on %s', async (_what, fs) => {
    const directory = await temporaryDirectory()
    const { store } = await openStore({ path: join(directory.path, 'store'), clock: seededClock(seededRandom(3)), fs })
    try {
      await put(store, patternBytes(0, 10))
      await rename(join(directory.path, 'store'), join(directory.path, 'elsewhere'))
      await expect(put(store, patternBytes(1, 10))).rejects.toThrow('ENOENT')
    } finally {
      await store.close()
      await directory.remove()
    }
  })

  test('of a group too large to be joined in one piece, and of groups that are, are read as written', async () => {
    const directory = await temporaryDirectory()
    const { store } = await openStore({ path: directory.path, clock: seededClock(seededRandom(3)) })
    try {
      for (const bytes of [11, 4097, 200_001]) {
        const payloads = Array.from({ length: 8 }, (_, index) => patternBytes(index + bytes, bytes))
        const ids = await Promise.all(payloads.map((payload) => put(store, payload)))
        for (const [index, id] of ids.entries()) {
          expect((await get(store, id, 0, bytes)).equals(payloads[index] ?? Buffer.alloc(0))).toBe(true)
        }
      }
    } finally {
      await store.close()
      await directory.remove()
    }
  })

  test('are written whichever turn they come in, also as the writing of others ends', async () => {
    const waiting: number[] = []
    for (let turn = 0; turn < turnsOfOnePut; turn++) {
      const { store } = await openSimulated()
      const first = put(store, patternBytes(1, 100))
      for (let i = 0; i < turn; i++) await Promise.resolve()
      let isWritten = false
      const second = put(store, patternBytes(2, 100)).then(() => {
        isWritten = true
      })
      await first
      // Nothing here waits for anything but turns, and they have all passed then.
      await new Promise(setImmediate)
      if (!isWritten) waiting.push(turn)
      await Promise.all([put(store, patternBytes(3, 100)), second])
      await store.close()
    }
    expect(waiting).toEqual([])
  })

  test('that were acknowledged share no page with what is written later', async () => {
    const { store } = await openSimulated()
    for (let index = 0; index < 5; index++) {
      const [, , offset = ''] = (await put(store, patternBytes(index, 100 * index))).split('.')
      expect(Number.parseInt(offset, 36) % 4096).toBe(0)
    }
  })

  test('never make the file grow: the room is zeros on the disk before a group comes', async () => {
    const { store, fs } = await openSimulated()
    const id = await put(store, patternBytes(1, 10))
    const segment = `${path}/segments/${segmentOf(id)}`
    for (let index = 0; index < 14; index++) {
      const before = fs.content(segment).length
      const [, , offset = '', bytes = ''] = (await put(store, patternBytes(index, 2900))).split('.')
      expect(Number.parseInt(offset, 36) + Number.parseInt(bytes, 36)).toBeLessThanOrEqual(before)
    }
  })

  test('of a large group are written once: no room is prepared for them', async () => {
    const { store, fs } = await openSimulated()
    await put(store, patternBytes(0, 10))
    const from = fs.calls.length
    const [first, ...rest] = Array.from({ length: 9 }, (_, index) => put(store, patternBytes(index, 2900)))
    const ids = [await first, ...(await Promise.all(rest))]
    // One sync for the first alone, one for the others.
    expect(callsOf(fs, from, 'write')).toBeLessThanOrEqual(2)
    expect(callsOf(fs, from, 'datasync')).toBe(0)
    ids.push(await put(store, patternBytes(9, 2900)))
    for (const [index, id] of ids.entries()) {
      expect((await get(store, id ?? '', 0, 2900)).equals(patternBytes(index, 2900))).toBe(true)
    }
  })

  test('of a large group come to no harm by the room that is prepared meanwhile', async () => {
    const { store, fs } = await openSimulated()
    let holds = false
    let letGo = (): void => {}
    const released = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const open = fs.open.bind(fs)
    fs.open = async (at, mode) => {
      const file = await open(at, mode)
      if (mode !== 'write') return file
      // Preparing room opens the segment a second time.
      const write: FileHandle['write'] = async (buffers, position) => {
        if (holds) await released
        return file.write(buffers, position)
      }
      return { ...file, write }
    }
    await put(store, patternBytes(0, 2900))
    holds = true
    // More than half of the room is used now, so that more is prepared.
    const ids = [await put(store, patternBytes(1, 2900)), await put(store, patternBytes(2, 2900))]
    const large = Array.from({ length: 9 }, (_, index) => put(store, patternBytes(3 + index, 2900)))
    await new Promise(setImmediate)
    letGo()
    ids.push(...(await Promise.all(large)))
    for (const [index, id] of ids.entries()) {
      expect((await get(store, id, 0, 2900)).equals(patternBytes(1 + index, 2900))).toBe(true)
    }
  })

  test('go to a new segment when one is full, and the full one is cut to what it holds', async () => {
    const opened = await openSimulated()
    const ids = await fillSegment(opened, 40)
    await opened.store.close()
    const segments = opened.fs.files(`${path}/segments`)
    expect(segments).toHaveLength(3)
    expect(new Set(ids.map(segmentOf)).size).toBe(3)
    for (const segment of segments) {
      expect(opened.fs.content(segment).length).toBeLessThanOrEqual(tinySizes.segmentBytesMax)
      expect(opened.fs.content(segment).length % 4096).toBe(64)
    }
    expect(await listed(opened.store)).toHaveLength(40)
  })

  test('are not even read from their clients while too much is queued', async () => {
    const { fs, clock } = simulated(1)
    const { store } = await openStore({ path, fs, clock, ...tinySizes, segmentQueueBytesMax: 4000 })
    const segmentsReady = () =>
      fs.calls.some(({ name, path: at }) => name === 'syncDirectory' && at.endsWith('/segments'))
    const from = fs.calls.length
    const queued = [1, 2].map((seed) => put(store, patternBytes(seed, 2900)))
    while (fs.calls.length === from) await Promise.resolve()
    let readWhenReady: boolean | undefined
    const late = bytesSource(patternBytes(3, 2900))
    const read = async () => {
      readWhenReady = segmentsReady()
      return late.read()
    }
    expect(segmentsReady()).toBe(false)
    await Promise.all([...queued, store.put({ payload: { ...late, read }, describe: () => Buffer.alloc(0) })])
    expect(readWhenReady).toBe(true)
  })
})

describe('a segment that its process did not end', () => {
  test('is closed by the next first opener only, and loses its unused room when it is checked', async () => {
    const opened = await openSimulated()
    const { fs, clock } = opened
    const id = await put(opened.store, patternBytes(1, 1000))
    const segment = `${path}/segments/${segmentOf(id)}`
    const beside = await openStore({ path, fs, clock, ...tinySizes, firstOpener: false })
    expect(await beside.store.unchecked()).toMatchObject([{ closed: false }])
    clock.advance(1000)
    const next = await openStore({ path, fs, clock, ...tinySizes })
    const [batch] = await next.store.unchecked()
    expect(batch).toMatchObject({ closed: true, newestMs: clock.now() })
    expect(fs.content(segment).length).toBe(tinySizes.segmentGrowBytes)
    await next.store.markChecked(batch?.id ?? '')
    expect(fs.content(segment).length).toBeLessThan(4096)
    expect(await next.store.unchecked()).toEqual([])
    expect((await get(next.store, id, 0, 1000)).equals(patternBytes(1, 1000))).toBe(true)
  })

  test('may not be marked as checked while it is open', async () => {
    const { store } = await openSimulated()
    await put(store, patternBytes(1, 1000))
    const [batch] = await store.unchecked()
    await expect(store.markChecked(batch?.id ?? '')).rejects.toThrow('still being written')
  })

  test('costs nothing at start', async () => {
    const opened = await openSimulated()
    await fillSegment(opened, 40)
    const fs = opened.fs.afterCrash({ random: seededRandom(1) })
    await openStore({ path, fs, clock: opened.clock, ...tinySizes })
    expect(fs.calls.filter((call) => /segments.|files./.test(call.path))).toEqual([])
    expect(fs.calls.length).toBeLessThan(20)
  })
})
