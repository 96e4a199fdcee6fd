/** What every kind of shard store must do. Each store's test file names it and says how to open one. */
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ByteSource, bytesSource } from '../../src/byte-source.ts'
import { limits } from '../../src/limits.ts'
import {
  type FoundShard,
  type ShardId,
  ShardMissing,
  type ShardStore,
  StoreFull,
} from '../../src/stores/shard-store.ts'
import { patternBytes, type TestClock } from '../support/seeded.ts'

export interface StoreUnderTest {
  store: ShardStore
  /** Makes the store answer `StoreFull` from now on, and undoes it. */
  fill(): Promise<void>
  empty(): Promise<void>
  /** Files that the store holds open, where that can be told. */
  openFiles?(): number
  /** Names of all files, where there are any. */
  fileNames?(): Promise<string[]>
  clock: TestClock
  dispose(): Promise<void>
}

const block = limits.checksumBlockBytes
const small = limits.smallShardBytesMax
const chunk = limits.readChunkBytes
const sizes = [
  0,
  1,
  511,
  4096,
  block - 1,
  block,
  block + 1,
  small - 1,
  small,
  small + 1,
  chunk - 1,
  chunk,
  chunk + 1,
  3 * chunk + 17,
]

export function put(store: ShardStore, payload: Buffer, description = ''): Promise<ShardId> {
  return store.put({ payload: bytesSource(payload), describe: () => Buffer.from(description) })
}

export async function get(store: ShardStore, id: ShardId, start: number, end: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  const source = await store.get(id, { start, end })
  await source.drain(async (bytes) => {
    // A slow sink: a store that reuses its buffer before the sink is done must not go unnoticed.
    await new Promise((resolve) => setImmediate(resolve))
    chunks.push(Buffer.from(bytes))
  })
  return Buffer.concat(chunks)
}

export async function listed(store: ShardStore, batchId?: string): Promise<FoundShard[]> {
  const found: FoundShard[] = []
  for await (const shard of store.list(batchId)) found.push(shard)
  return found
}

/** Gives its bytes in uneven pieces, and fails after `failAfter` of them. */
function unevenSource(bytes: Buffer, pieceBytes: number, failAfter = Number.POSITIVE_INFINITY): ByteSource {
  return {
    size: bytes.length,
    async drain(sink) {
      for (let at = 0, step = pieceBytes; at < bytes.length; at += step, step = (step * 7) % 100_003 || 1) {
        if (at >= failAfter) throw new Error('the client went away')
        // The source reuses its buffer, as sockets do.
        const lent = Buffer.from(bytes.subarray(at, at + step))
        await sink(lent)
        lent.fill(0xee)
      }
    },
    read: async () => {
      if (bytes.length > failAfter) throw new Error('the client went away')
      return Buffer.from(bytes)
    },
    cancel: () => {},
  }
}

export function describeShardStore(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${name} as a shard store`, () => {
    let under: StoreUnderTest
    let store: ShardStore
    beforeEach(async () => {
      under = await open()
      store = under.store
    })
    afterEach(() => under.dispose())

    describe('reading', () => {
      test.each(sizes)('gives back %i bytes, whole and in every way of reading', async (size) => {
        const payload = patternBytes(size, size)
        const id = await put(store, payload)
        expect(payload.equals(await get(store, id, 0, size))).toBe(true)
        expect(payload.equals(await (await store.get(id, { start: 0, end: size })).read())).toBe(true)
        expect(await get(store, id, size, size)).toHaveLength(0)
      })

      test.each([10, small + 1])('gives the description of %i bytes as it was stored', async (size) => {
        const id = await put(store, patternBytes(1, size), 'what it is')
        expect((await store.description(id)).toString()).toBe('what it is')
      })

      test('gives ranges on and around the borders of blocks and chunks', async () => {
        const payload = patternBytes(1, 3 * chunk + 17)
        const id = await put(store, payload)
        const marks = [
          0,
          1,
          block - 1,
          block,
          block + 1,
          small,
          small + 1,
          chunk - 1,
          chunk,
          chunk + block,
          3 * chunk,
          payload.length,
        ]
        for (const start of marks) {
          for (const end of marks.filter((mark) => mark >= start)) {
            expect(payload.subarray(start, end).equals(await get(store, id, start, end)), `${start} to ${end}`).toBe(
              true,
            )
          }
        }
      })

      test('gives any range of any size, however the payload arrived', async () => {
        const cases = fc.record({
          size: fc.oneof(fc.integer({ min: 0, max: small }), fc.integer({ min: 0, max: 3 * chunk })),
          piece: fc.integer({ min: 1, max: 200_000 }),
          from: fc.double({ min: 0, max: 1, noNaN: true }),
          to: fc.double({ min: 0, max: 1, noNaN: true }),
        })
        await fc.assert(
          fc.asyncProperty(cases, async ({ size, piece, from, to }) => {
            const payload = patternBytes(piece, size)
            const id = await store.put({ payload: unevenSource(payload, piece), describe: () => Buffer.alloc(0) })
            const start = Math.floor(Math.min(from, to) * size)
            const end = Math.ceil(Math.max(from, to) * size)
            const read = await get(store, id, start, end)
            expect(read.equals(payload.subarray(start, end))).toBe(true)
          }),
          { numRuns: 40 },
        )
      })

      test('refuses a range that the shard does not have', async () => {
        for (const size of [10, small + 10]) {
          const id = await put(store, patternBytes(2, size))
          await expect(store.get(id, { start: 0, end: size + 1 })).rejects.toThrow(RangeError)
        }
      })

      test('answers ShardMissing for ids that it never gave', async () => {
        for (const id of [
          '',
          'nonsense',
          '../../etc/passwd',
          `s.${'0'.repeat(32)}.0.1s`,
          `f.${'0'.repeat(32)}.${'1'.repeat(32)}.6bk`,
        ]) {
          await expect(store.get(id, { start: 0, end: 0 })).rejects.toThrow(ShardMissing)
        }
      })

      test('a reader that scribbles in what it was given changes nothing', async () => {
        const payload = patternBytes(3, 1000)
        const id = await put(store, payload)
        const bytes = await (await store.get(id, { start: 0, end: 1000 })).read()
        bytes.fill(0)
        expect(payload.equals(await get(store, id, 0, 1000))).toBe(true)
      })

      test('waits for its sink before it gives the next chunk', async () => {
        const id = await put(store, patternBytes(4, 3 * chunk))
        let inSink = 0
        await (await store.get(id, { start: 0, end: 3 * chunk })).drain(async () => {
          expect(++inSink).toBe(1)
          await new Promise((resolve) => setImmediate(resolve))
          inSink--
        })
      })

      test('rejects with what its sink throws, and lets go of its file', async () => {
        const before = under.openFiles?.()
        const id = await put(store, patternBytes(5, 3 * chunk))
        const source = await store.get(id, { start: 0, end: 3 * chunk })
        const gone = source.drain(() => {
          throw new Error('the client went away')
        })
        await expect(gone).rejects.toThrow('the client went away')
        // What no reader holds is closed at once when it is deleted.
        await store.delete([id])
        await expect.poll(() => under.openFiles?.()).toBe(before)
      })

      test('cancelled sources let go of their files, whether they were drained or not', async () => {
        const before = under.openFiles?.()
        const id = await put(store, patternBytes(6, 3 * chunk))
        for (let round = 0; round < 20; round++) {
          const source = await store.get(id, { start: round, end: 3 * chunk })
          source.cancel()
          source.cancel()
          const cut = await store.get(id, { start: round, end: 3 * chunk })
          await expect(cut.drain(() => cut.cancel())).rejects.toThrow('cancelled')
        }
        await store.delete([id])
        await expect.poll(() => under.openFiles?.()).toBe(before)
      })
    })

    describe('writing', () => {
      test('keeps 64 shards that were written at once apart', async () => {
        const payloads = Array.from({ length: 64 }, (_, index) => patternBytes(index, 4000 + 7 * index))
        const ids = await Promise.all(payloads.map((payload, index) => put(store, payload, `shard ${index}`)))
        expect(new Set(ids).size).toBe(64)
        for (const [index, id] of ids.entries()) {
          const payload = payloads[index] ?? Buffer.alloc(0)
          expect(payload.equals(await get(store, id, 0, payload.length))).toBe(true)
        }
      })

      test('asks for the description once, and only after the payload was read', async () => {
        for (const size of [10, small + 10]) {
          const steps: string[] = []
          const payload: ByteSource = {
            ...bytesSource(patternBytes(7, size)),
            read: async () => {
              steps.push('read')
              return patternBytes(7, size)
            },
            drain: async (sink) => {
              await sink(patternBytes(7, size))
              steps.push('read')
            },
          }
          await store.put({
            payload,
            describe: () => {
              steps.push('describe')
              return Buffer.from('x')
            },
          })
          expect(steps).toEqual(['read', 'describe'])
        }
      })

      test.each([100, small + 100, 2 * chunk])(
        'a payload of %i bytes that fails leaves nothing behind',
        async (size) => {
          await put(store, patternBytes(8, size))
          const before = await under.fileNames?.()
          const openBefore = under.openFiles?.()
          const payload = unevenSource(patternBytes(8, size), 64, size / 2)
          await expect(store.put({ payload, describe: () => Buffer.alloc(0) })).rejects.toThrow('the client went away')
          expect(await listed(store)).toHaveLength(1)
          expect(await under.fileNames?.()).toEqual(before)
          expect(under.openFiles?.()).toBe(openBefore)
        },
      )

      test.each([100, small + 100])('a payload that is not the %i bytes it said is refused', async (size) => {
        for (const actual of [size - 1, size + 1]) {
          const payload = { ...bytesSource(patternBytes(9, actual)), size }
          await expect(store.put({ payload, describe: () => Buffer.alloc(0) })).rejects.toThrow('payload')
        }
        expect(await listed(store)).toHaveLength(0)
      })

      test('a full store answers StoreFull, still deletes, and writes again when there is room', async () => {
        const id = await put(store, patternBytes(10, 100))
        await under.fill()
        for (const size of [100, small + 100])
          await expect(put(store, patternBytes(10, size))).rejects.toThrow(StoreFull)
        await store.delete([id])
        expect((await listed(store)).filter((shard) => shard.id === id)).toEqual([])
        await under.empty()
        await put(store, patternBytes(10, 100))
      })

      test('a closed store refuses to write', async () => {
        await store.close()
        await expect(put(store, patternBytes(11, 10))).rejects.toThrow('closed')
      })
    })

    describe('listing and deleting', () => {
      test('lists what is alive, each with its description and size', async () => {
        const longest = 'd'.repeat(limits.shardDescriptionBytesMax)
        const given = [
          { size: 0, text: '' },
          { size: 5000, text: 'small' },
          { size: small, text: longest },
          { size: small + 1, text: 'large' },
          { size: chunk + 1, text: longest },
        ]
        const expected: FoundShard[] = []
        for (const { size, text } of given) {
          const id = await put(store, patternBytes(12, size), text)
          expected.push({ id, description: Buffer.from(text), payloadBytes: size })
        }
        const byId = (a: FoundShard, b: FoundShard) => (a.id < b.id ? -1 : 1)
        expect((await listed(store)).sort(byId)).toEqual(expected.sort(byId))
      })

      test('refuses a description that is too long', async () => {
        for (const size of [10, small + 10]) {
          const tooLong = 'd'.repeat(limits.shardDescriptionBytesMax + 1)
          await expect(put(store, patternBytes(13, size), tooLong)).rejects.toThrow(RangeError)
        }
      })

      test('a deleted shard is listed no more, and deleting it again is no error', async () => {
        const ids = await Promise.all(
          [10, 20, small + 10, small + 20].map((size) => put(store, patternBytes(14, size))),
        )
        const [first = '', second = '', third = '', fourth = ''] = ids
        await store.delete([first, third])
        await store.delete([first, third, 'nonsense'])
        await store.delete([])
        expect((await listed(store)).map(({ id }) => id).sort()).toEqual([second, fourth].sort())
        expect((await get(store, second, 0, 20)).equals(patternBytes(14, 20))).toBe(true)
      })

      test('a reader keeps its shard while it is deleted and compacted away', async () => {
        const payload = patternBytes(15, 2 * chunk)
        const id = await put(store, payload)
        const source = await store.get(id, { start: 0, end: payload.length })
        await store.delete([id])
        await store.compact({ graceMs: 0, move: async () => false })
        expect(payload.equals(await source.read())).toBe(true)
        await expect(store.get(id, { start: 0, end: 1 })).rejects.toThrow(ShardMissing)
      })
    })

    describe('checking for orphans', () => {
      test('every new shard is in an unchecked batch, as young as its newest shard', async () => {
        under.clock.advance(1000)
        const ids = await Promise.all([10, small + 10].map((size) => put(store, patternBytes(16, size))))
        const batches = await store.unchecked()
        const found: string[] = []
        for (const batch of batches) {
          expect(batch.newestMs).toBe(under.clock.now())
          found.push(...(await listed(store, batch.id)).map(({ id }) => id))
        }
        expect(found.sort()).toEqual(ids.sort())
        expect(await listed(store, 'nonsense')).toEqual([])
      })

      test('says when the newest shard of a closed batch was written', async () => {
        await Promise.all([10, small + 10].map((size) => put(store, patternBytes(17, size))))
        const writtenMs = under.clock.now()
        under.clock.advance(5000)
        await store.close()
        const batches = await store.unchecked()
        expect(batches.length).toBeGreaterThan(0)
        for (const { newestMs, closed } of batches)
          expect({ newestMs, closed }).toEqual({ newestMs: writtenMs, closed: true })
      })
    })
  })
}
