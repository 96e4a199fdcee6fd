/** What every store that several hosts share must do with the batches of its members. Each kind of store's test says how to open it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ShardStore } from '../../../src/stores/shard-store.ts'
import { patternBytes, seededClock, seededRandom } from '../../support/seeded.ts'
import { listed, put } from '../suite.ts'

export const members = { one: '1'.repeat(32), two: '2'.repeat(32), three: '3'.repeat(32) }

/** A directory or bucket that several processes open as a store. */
export interface SharedPlace {
  open(member: string | undefined, firstOpener?: boolean): Promise<ShardStore>
  /** The names of the markers in it. */
  markers(): Promise<string[]>
  /** Puts a marker into it, as an older version would. */
  mark(name: string): Promise<void>
  dispose(): Promise<void>
}

export const sharedClock = seededClock(seededRandom(1))

/** `largeBytes`: the size of a shard that is kept apart from small ones. `unfinishedId`: a shard of a batch that an older version left. */
export function describeOwnedBatches(
  name: string,
  openPlace: () => Promise<SharedPlace>,
  { sizes, oldBatch }: { sizes: readonly number[]; oldBatch: string },
): void {
  describe(`${name} that several members share`, () => {
    let place: SharedPlace
    let stores: ShardStore[]
    const open = async (...how: Parameters<SharedPlace['open']>): Promise<ShardStore> => {
      const store = await place.open(...how)
      stores.push(store)
      return store
    }
    beforeEach(async () => {
      stores = []
      place = await openPlace()
    })
    afterEach(async () => {
      for (const store of stores) await store.close()
      await place.dispose()
    })
    const gone =
      (...ids: (string | undefined)[]) =>
      (member: string | undefined): boolean =>
        ids.includes(member)
    const states = async (store: ShardStore): Promise<boolean[]> =>
      (await store.unchecked()).map(({ closed }) => closed).sort()

    it('marks each open batch with the member that writes it', async () => {
      const store = await open(members.one)
      for (const size of sizes) await put(store, patternBytes(size, size))
      const markers = await place.markers()
      expect(markers).toHaveLength(sizes.length)
      for (const marker of markers) expect(marker).toMatch(new RegExp(`\\.open-${members.one}$`))
      await store.close()
      for (const marker of await place.markers()) expect(marker).toMatch(/\.closed-[0-9a-z]+$/)
    })

    it('closes only the batches of members that are gone, as of now', async () => {
      const [one, two, three] = [await open(members.one), await open(members.two), await open(members.three)]
      for (const store of [one, two, three]) for (const size of sizes) await put(store, patternBytes(size, size))
      expect(await three.closeAbandoned(gone(members.one))).toBe(sizes.length)
      const batches = await three.unchecked()
      const closed = batches.filter((batch) => batch.closed)
      expect(closed).toHaveLength(sizes.length)
      for (const { newestMs } of closed) expect(newestMs).toBe(sharedClock.now())
      expect(batches.filter((batch) => !batch.closed)).toHaveLength(2 * sizes.length)
      const markers = await place.markers()
      expect(markers.filter((marker) => marker.endsWith(`.open-${members.two}`))).toHaveLength(sizes.length)
      for (const { id } of closed) await three.markChecked(id)
      expect(await states(two)).toEqual(Array(2 * sizes.length).fill(false))
      expect(await listed(three)).toHaveLength(3 * sizes.length)
    })

    it('never closes a batch of this process, whatever is said of its member', async () => {
      const store = await open(members.one)
      for (const size of sizes) await put(store, patternBytes(size, size))
      expect(await store.closeAbandoned(() => true)).toBe(0)
      // This includes a batch of an earlier opening, which may still end its writes.
      const again = await open(members.one)
      expect(await again.closeAbandoned(() => true)).toBe(0)
      expect(await states(store)).toEqual(Array(sizes.length).fill(false))
    })

    it('asks about batches without an owner, which older versions left', async () => {
      const store = await open(members.one)
      await place.mark(`${oldBatch}.open`)
      const asked: unknown[] = []
      const isGone = (member: string | undefined): boolean => {
        asked.push(member)
        return false
      }
      expect(await store.closeAbandoned(isGone)).toBe(0)
      expect(asked).toEqual([undefined])
      expect(await store.unchecked()).toMatchObject([{ id: oldBatch, closed: false }])
      expect(await store.closeAbandoned(gone(undefined))).toBe(1)
      expect(await store.unchecked()).toEqual([{ id: oldBatch, newestMs: sharedClock.now(), closed: true }])
      await store.markChecked(oldBatch)
      expect(await place.markers()).toEqual([])
    })

    it('reads the closed batches of older versions', async () => {
      await place.mark(`${oldBatch}.closed-${(1000).toString(36)}`)
      const store = await open(undefined)
      expect(await store.unchecked()).toEqual([{ id: oldBatch, newestMs: 1000, closed: true }])
      await store.markChecked(oldBatch)
      expect(await place.markers()).toEqual([])
    })

    it('on one machine, leaves to the first opener what dead processes left', async () => {
      await place.mark(`${oldBatch}.open`)
      const later = await open(undefined, false)
      expect(await states(later)).toEqual([false])
      await open(undefined, true)
      expect(await states(later)).toEqual([true])
    })

    it('lets a member that wakes end its batches after the maintainer has closed and checked them', async () => {
      const [paused, maintainer] = [await open(members.one), await open(members.two)]
      for (const size of sizes) await put(paused, patternBytes(size, size))
      await maintainer.closeAbandoned(gone(members.one))
      for (const { id } of await maintainer.unchecked()) await maintainer.markChecked(id)
      await paused.close()
      for (const { closed } of await maintainer.unchecked()) expect(closed).toBe(true)
      expect(await listed(maintainer)).toHaveLength(sizes.length)
    })
  })
}
