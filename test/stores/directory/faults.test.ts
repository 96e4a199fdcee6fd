/** Failing calls of the file system: never a false success, and the store goes on where it can. */
import { describe, expect, test } from 'vitest'
import { S3Error } from '../../../src/errors.ts'
import { StoreFull } from '../../../src/stores/shard-store.ts'
import { patternBytes, seededClock, seededRandom } from '../../support/seeded.ts'
import { type FsCall, SimulatedFs } from '../simulated-fs.ts'
import { get, listed, put } from '../suite.ts'
import { inPlaceSizes, type OpenedStore, openStore, simulated, tinySizes } from './opened-store.ts'
import { checkReferences, checkStore, Ledger, runWorkload } from './workload.ts'

const path = '/store'
const codes = ['EIO', 'ENOSPC', 'EMFILE']
/** As many as there are codes: each call fails with one of them. */
const step = Number(process.env.HOLDFAST_FAULT_STEP ?? codes.length)

/** Lives through the workload while one call fails, then loses power. Returns what was wrong, with what replays it. */
async function failOnce(
  at: number,
  code: string,
  sizes: typeof tinySizes,
): Promise<{ reached: boolean; violation?: string }> {
  const random = seededRandom(at)
  const ledger = new Ledger()
  const fault = ({ index }: FsCall): string | undefined => (index === at ? code : undefined)
  const fs = new SimulatedFs({ random, fault })
  try {
    const opened = await openStore({ path, fs, clock: seededClock(seededRandom(0)), ...sizes }).catch(() => undefined)
    if (opened !== undefined) {
      await runWorkload(opened.store, ledger).catch(rethrowUnless(code))
      await ledger.put(opened.store, 100).catch(() => {})
      fs.fault = undefined
      await checkReferences(opened.store, ledger)
      await opened.store.close()
    }
    const left = fs.afterCrash({ random })
    const { store } = await openStore({ path, fs: left, clock: seededClock(random), ...sizes })
    await checkStore(store, ledger)
  } catch (error) {
    const call = fs.calls[at]
    return { reached: true, violation: `${code} at call ${at} (${call?.name} ${call?.path}): ${error}` }
  }
  return { reached: fs.calls.length > at }
}

/** The workload may end early with the planted failure, in whatever dress, and with nothing else. */
function rethrowUnless(code: string): (error: unknown) => void {
  const dresses = [
    code,
    'no room left',
    'SlowDown',
    'reduce your request rate',
    'could not be synced',
    'the disk cannot read it',
  ]
  return (error) => {
    if (!dresses.some((dress) => String(error).includes(dress))) throw error
  }
}

describe.each([
  ['large shards in files of their own', tinySizes],
  ['shards written in place into segments', inPlaceSizes],
])('one failing call: %s', (_, sizes) => {
  test.each(codes)('%s at any file operation never makes a false success', async (code) => {
    for (let at = codes.indexOf(code) % step; ; at += step) {
      const { reached, violation } = await failOnce(at, code, sizes)
      expect(violation).toBeUndefined()
      if (!reached) break
    }
  })
})

describe('failures in a segment', () => {
  async function openSimulated(): Promise<OpenedStore & { fs: SimulatedFs }> {
    const { fs, clock } = simulated(1)
    return { ...(await openStore({ path, fs, clock, ...tinySizes })), fs }
  }

  function failNext(fs: SimulatedFs, name: FsCall['name'], at: RegExp, code: string): { path: string; index: number } {
    const failed = { path: '', index: Number.POSITIVE_INFINITY }
    fs.fault = (call) => {
      if (call.name !== name || !at.test(call.path) || failed.path !== '') return undefined
      Object.assign(failed, call)
      return code
    }
    return failed
  }

  test('a failed write rejects its group, and the segment is never written or synced again', async () => {
    const { store, fs, fatal } = await openSimulated()
    const kept = await put(store, patternBytes(1, 1000))
    const failed = failNext(fs, 'write', /segments/, 'EIO')
    const group = await Promise.allSettled([1, 2, 3].map((seed) => put(store, patternBytes(seed, 500))))
    expect(group.map(({ status }) => status)).toContain('rejected')
    const after = await put(store, patternBytes(4, 700))
    const touched = fs.calls.filter((call) => call.path === failed.path && call.index > failed.index)
    expect(touched.map(({ name }) => name).filter((name) => name !== 'close' && name !== 'read')).toEqual([])
    expect((await get(store, kept, 0, 1000)).equals(patternBytes(1, 1000))).toBe(true)
    expect((await get(store, after, 0, 700)).equals(patternBytes(4, 700))).toBe(true)
    expect(fatal).toEqual([])
  })

  test('a disk that is full answers StoreFull, and the store writes again when there is room', async () => {
    const { store, fs } = await openSimulated()
    const kept = await put(store, patternBytes(1, 1000))
    fs.fault = ({ name }) => (name === 'write' ? 'ENOSPC' : undefined)
    for (const size of [500, 5000]) await expect(put(store, patternBytes(2, size))).rejects.toThrow(StoreFull)
    const before = fs.files().filter((file) => file.includes('/files/'))
    expect(before).toEqual([])
    fs.fault = undefined
    const after = await put(store, patternBytes(3, 500))
    expect((await get(store, kept, 0, 1000)).equals(patternBytes(1, 1000))).toBe(true)
    expect((await get(store, after, 0, 500)).equals(patternBytes(3, 500))).toBe(true)
  })

  test('running out of descriptors answers SlowDown', async () => {
    const { store, fs } = await openSimulated()
    const ids = [await put(store, patternBytes(1, 1000)), await put(store, patternBytes(1, 5000))]
    fs.fault = ({ name }) => (name === 'open' ? 'EMFILE' : undefined)
    await expect(put(store, patternBytes(2, 5000))).rejects.toMatchObject({ code: 'SlowDown' })
    for (const id of ids) await expect(store.get(id, { start: 0, end: 10 })).rejects.toBeInstanceOf(S3Error)
    fs.fault = undefined
    for (const id of ids) expect((await get(store, id, 0, 10)).equals(patternBytes(1, 10))).toBe(true)
  })

  test('a directory that cannot be synced ends all writing, once and for all', async () => {
    const { store, fs, fatal } = await openSimulated()
    const kept = await put(store, patternBytes(1, 1000))
    failNext(fs, 'syncDirectory', /files/, 'EIO')
    await expect(put(store, patternBytes(2, 5000))).rejects.toThrow()
    for (const size of [10, 5000])
      await expect(put(store, patternBytes(2, size))).rejects.toThrow('could not be synced')
    await expect(store.delete([kept])).rejects.toThrow('could not be synced')
    expect((await get(store, kept, 0, 1000)).equals(patternBytes(1, 1000))).toBe(true)
    expect(fatal).toHaveLength(1)
  })

  test('a large shard whose close fails is not acknowledged and leaves no file', async () => {
    const { store, fs } = await openSimulated()
    failNext(fs, 'close', /\/files\//, 'EIO')
    await expect(put(store, patternBytes(2, 5000))).rejects.toThrow('EIO')
    expect(fs.files().filter((file) => file.includes('/files/'))).toEqual([])
    expect(fs.openHandles).toBe(0)
  })

  test.each([1, 2, 3, 4])(
    'a large shard of which write %i fails is not acknowledged and leaves no file',
    async (nth) => {
      const { store, fs } = await openSimulated()
      let writes = 0
      fs.fault = ({ name, path: at }) =>
        name === 'write' && at.includes('/files/') && ++writes === nth ? 'EIO' : undefined
      await expect(put(store, patternBytes(2, 3 * tinySizes.readChunkBytes + 5))).rejects.toThrow('EIO')
      expect(fs.files().filter((file) => file.includes('/files/'))).toEqual([])
    },
  )

  test('a segment whose growth has failed is never written again', async () => {
    const { store, fs } = await openSimulated()
    await put(store, patternBytes(1, 2900))
    await put(store, patternBytes(2, 2900))
    const failed = { path: '', index: Number.POSITIVE_INFINITY }
    let writes = 0
    fs.fault = (call) => {
      // The first write is the group that leaves too little room, the second one is the growth.
      if (call.name !== 'write' || ++writes !== 2) return undefined
      Object.assign(failed, call)
      return 'EIO'
    }
    const ids = await Promise.allSettled([3, 4, 5].map((seed) => put(store, patternBytes(seed, 2900))))
    await Promise.allSettled([6, 7].map((seed) => put(store, patternBytes(seed, 100))))
    const later = await put(store, patternBytes(8, 100))
    expect(failed.path).toMatch(/segments/)
    expect(later).not.toContain(failed.path.slice(-32))
    const touched = fs.calls.filter(({ path: at, index }) => at === failed.path && index > failed.index)
    expect(touched.filter(({ name }) => name !== 'close' && name !== 'datasync')).toEqual([])
    for (const [index, result] of ids.entries()) {
      if (result.status === 'rejected') continue
      expect((await get(store, result.value, 0, 2900)).equals(patternBytes(index + 3, 2900))).toBe(true)
    }
  })

  test.each(['write', 'datasync', 'close'] as const)(
    'a log of tombstones whose %s fails is never used again',
    async (name) => {
      const { store, fs } = await openSimulated()
      const ids = [
        await put(store, patternBytes(1, 100)),
        await put(store, patternBytes(2, 100)),
        await put(store, patternBytes(3, 100)),
      ]
      await store.delete(ids.slice(0, 1))
      const failed = failNext(fs, name, /dead/, 'EIO')
      await expect(store.delete(ids.slice(1))).rejects.toThrow('EIO')
      await store.delete(ids.slice(1))
      expect(fs.calls.filter(({ path: at, index }) => at === failed.path && index > failed.index + 1)).toEqual([])
      expect(await listed(store)).toEqual([])
    },
  )
})
