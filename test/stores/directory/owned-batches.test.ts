import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { patternBytes } from '../../support/seeded.ts'
import { describeOwnedBatches, members, type SharedPlace, sharedClock } from '../batches/owned-batches.ts'
import { get, put } from '../suite.ts'
import { filesBelow, openStore, temporaryDirectory, tinySizes } from './opened-store.ts'

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
