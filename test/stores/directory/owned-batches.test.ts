import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { patternBytes } from '../../support/seeded.ts'
import { describeOwnedBatches, members, type SharedPlace, sharedClock } from '../batches/owned-batches.ts'
import { get, put } from '../suite.ts'
import { filesBelow, openStore, simulated, temporaryDirectory, tinySizes } from './opened-store.ts'

async function openPlace(): Promise<SharedPlace> {
  const { path, remove } = await temporaryDirectory()
  const open: SharedPlace['open'] = async (member, firstOpener = false) =>
    (await openStore({ path, clock: sharedClock, ...tinySizes, firstOpener, member })).store
  await (await open(undefined)).close()
  return {
    open,
    markers: () => readdir(join(path, 'pending')),
    mark: (name) => writeFile(join(path, 'pending', name), ''),
    dispose: remove,
  }
}

describeOwnedBatches('a directory', openPlace, {
  sizes: [1000, 10_000],
  oldBatch: `segment-0192f0${'0'.repeat(26)}`,
})

describe('a directory that two members have open', () => {
  it('takes what each writes into files of its own, and is read by both', async () => {
    const { path, remove } = await temporaryDirectory()
    const open = async (member: string) =>
      (await openStore({ path, clock: sharedClock, ...tinySizes, firstOpener: false, member })).store
    const [one, two] = [await open(members.one), await open(members.two)]
    const written = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const payload = patternBytes(i, i % 4 === 0 ? 5000 : 100 + i)
        const [store, other] = i % 2 === 0 ? [one, two] : [two, one]
        return { store, other, payload, id: await put(store, payload) }
      }),
    )
    for (const { store, other, payload, id } of written) {
      for (const reader of [store, other]) expect(payload.equals(await get(reader, id, 0, payload.length))).toBe(true)
    }
    const segmentsOf = (store: unknown): Set<string> =>
      new Set(written.filter((each) => each.store === store).flatMap(({ id }) => /[0-9a-f]{32}/.exec(id) ?? []))
    expect([...segmentsOf(one)].filter((segment) => segmentsOf(two).has(segment))).toEqual([])
    await one.close()
    await two.close()
    await remove()
  })

  it('refuses a small shard of a member whose segment the maintainer has closed', async () => {
    const { path, remove } = await temporaryDirectory()
    const open = async (member: string) =>
      (await openStore({ path, clock: sharedClock, ...tinySizes, firstOpener: false, member })).store
    const [paused, maintainer] = [await open(members.one), await open(members.two)]
    const id = await put(paused, patternBytes(1, 1000))
    await maintainer.closeAbandoned((member) => member === members.one)
    for (const batch of await maintainer.unchecked()) await maintainer.markChecked(batch.id)
    await expect(put(paused, patternBytes(2, 1000))).rejects.toThrow('ENOENT')
    expect((await get(maintainer, id, 0, 1000)).equals(patternBytes(1, 1000))).toBe(true)
    await paused.close()
    await maintainer.close()
    expect((await filesBelow(join(path, 'segments'))).length).toBe(1)
    await remove()
  })
})

describe('a batch whose marker could not be closed', () => {
  const path = '/mnt/store'
  const opened = async (size: number) => {
    const { fs, clock } = simulated(1)
    const leftOpen = new Map<string, number>()
    const how = { path, clock, fs, ...tinySizes, firstOpener: false, leftOpen }
    const { store, warnings } = await openStore({ ...how, batchIdleMs: 1000 })
    await put(store, patternBytes(1, size))
    const wroteMs = clock.now()
    clock.advance(5000)
    fs.fault = ({ name, path: at }) => (name === 'rename' && at.includes('/pending/') ? 'EIO' : undefined)
    return { fs, clock, leftOpen, how, store, warnings, wroteMs }
  }

  it.each([1000, 10_000])('is closed by the next sweep that can: a shard of %i bytes', async (size) => {
    vi.useFakeTimers({ toFake: ['setInterval'] })
    const { fs, store, warnings, wroteMs } = await opened(size)
    vi.advanceTimersByTime(30_000)
    await expect.poll(() => warnings.length).toBe(1)
    expect(warnings).toEqual([expect.stringContaining('could not be ended yet')])
    expect(await store.unchecked()).toMatchObject([{ closed: false }])
    fs.fault = undefined
    vi.advanceTimersByTime(30_000)
    await expect.poll(() => store.unchecked()).toMatchObject([{ closed: true, newestMs: wroteMs }])
    await store.close()
    vi.useRealTimers()
  })

  it.each([1000, 10_000])(
    'is closed when the process has opened the store again: a shard of %i bytes',
    async (size) => {
      const { fs, leftOpen, how, store, wroteMs } = await opened(size)
      await store.close()
      expect(leftOpen.size).toBe(1)
      fs.fault = undefined
      const again = await openStore(how)
      await again.store.close()
      expect(leftOpen.size).toBe(0)
      const after = await openStore({ ...how, leftOpen: new Map() })
      expect(await after.store.unchecked()).toMatchObject([{ closed: true, newestMs: wroteMs }])
      await after.store.close()
    },
  )
})
