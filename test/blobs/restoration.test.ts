/** InspectOptions at shards: what lies on the disk now counts, not what a reader before learned of it. */
import { expect, it } from 'vitest'
import { openBlobs } from '../../src/blobs/blobs.ts'
import { bytesSource } from '../../src/byte-source.ts'
import { openStore, simulated, tinySizes } from '../stores/directory/opened-store.ts'
import { patternBytes } from '../support/seeded.ts'

it('finds a large file damaged whose description rots while its readers keep it open', async () => {
  const { fs, clock } = simulated(1)
  const opened = ['/one', '/two'].map((path) => openStore({ path, fs, clock, ...tinySizes }))
  const stores = (await Promise.all(opened)).map(({ store }) => store)
  const blobs = openBlobs([{ name: 'pair', version: 1, scheme: 'replica', copies: 2, stores }], { clock })
  const payload = patternBytes(1, 30_000)
  const manifest = await blobs.write('pair', {
    payload: bytesSource(payload),
    describe: () => Buffer.from('described'),
  })
  const read = async (at: number): Promise<Buffer> => {
    const { storeId, id = '' } = manifest.shards[at] ?? {}
    const store = stores.find((one) => one.storeId === storeId)
    if (store === undefined) throw new Error('no such store')
    return (await store.get(id, { start: 0, end: payload.length })).read()
  }
  const states = async (): Promise<string[]> => (await blobs.inspect(manifest)).map(({ state }) => state)
  expect(await states()).toEqual(['good', 'good'])

  const rotten = manifest.shards.findIndex(({ storeId }) => storeId === stores[0]?.storeId)
  const file = fs.files('/one').find((name) => name.includes('/files/')) ?? ''
  const content = fs.content(file)
  const place = content.indexOf('described')
  content.writeUInt8(content.readUInt8(place) ^ 1, place)
  // Its block checksums are known, and its data is right.
  expect((await read(rotten)).equals(payload)).toBe(true)
  expect(await states()).toEqual(manifest.shards.map((_, at) => (at === rotten ? 'bad' : 'good')))
  expect((await blobs.restore(manifest)).outcome).toBe('restored')
})
