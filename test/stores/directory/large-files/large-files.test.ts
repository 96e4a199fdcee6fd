/** How large shards share directories, and when such a directory counts as complete. */
import { expect, test } from 'vitest'
import type { ByteSource } from '../../../../src/byte-source.ts'
import { patternBytes } from '../../../support/seeded.ts'
import { get, listed, put } from '../../suite.ts'
import { openStore, simulated, tinySizes } from '../opened-store.ts'

const path = '/store'

/** Its last byte comes when `finish` is called. */
function slowSource(bytes: Buffer): { source: ByteSource; finish: () => void } {
  let finish = (): void => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const source: ByteSource = {
    size: bytes.length,
    drain: async (sink) => {
      await sink(bytes.subarray(0, -1))
      await finished
      await sink(bytes.subarray(-1))
    },
    read: async () => bytes,
    cancel: () => {},
  }
  return { source, finish }
}

test('a full directory is complete only when the last of its writers has ended', async () => {
  const { fs, clock } = simulated(1)
  const { store } = await openStore({ path, fs, clock, ...tinySizes, batchFilesMax: 3 })
  const { source, finish } = slowSource(patternBytes(1, 9000))
  const slow = store.put({ payload: source, describe: () => Buffer.alloc(0) })
  while (!fs.files().some((file) => file.endsWith('.part'))) await Promise.resolve()
  const ids = await Promise.all([2, 3, 4].map((seed) => put(store, patternBytes(seed, 5000))))
  expect(new Set(ids.map((id) => id.split('.')[1])).size).toBe(2)
  expect((await store.unchecked()).map(({ closed }) => closed)).toEqual([false, false])
  finish()
  const id = await slow
  const closed = (await store.unchecked()).filter((batch) => batch.closed)
  expect(closed).toHaveLength(1)
  expect((await listed(store, closed[0]?.id)).map((shard) => shard.id)).toContain(id)
  expect((await get(store, id, 0, 9000)).equals(patternBytes(1, 9000))).toBe(true)
})

test('what a crashed writer left is removed when its directory is checked, and damage is not taken for it', async () => {
  const { fs, clock } = simulated(1)
  const { store } = await openStore({ path, fs, clock, ...tinySizes })
  const id = await put(store, patternBytes(1, 5000))
  const { source } = slowSource(patternBytes(2, 20_000))
  void store.put({ payload: source, describe: () => Buffer.alloc(0) })
  const unfinished = () => fs.files().filter((file) => file.endsWith('.part'))
  while (unfinished().length === 0) await Promise.resolve()
  const damaged = fs.files().find((file) => file.includes('/files/') && !file.endsWith('.part')) ?? ''
  fs.replace(damaged, Buffer.alloc(10))
  const next = await openStore({ path, fs, clock, ...tinySizes })
  expect(await listed(next.store)).toEqual([])
  for (const batch of await next.store.unchecked()) await next.store.markChecked(batch.id)
  expect(unfinished()).toEqual([])
  expect(fs.files()).toContain(damaged)
  await next.store.delete([id])
  expect(fs.files()).not.toContain(damaged)
})
