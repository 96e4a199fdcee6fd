import { expect, test } from 'vitest'
import { bytesSource } from '../../src/byte-source.ts'
import { packKey } from '../../src/kv/ordered-key.ts'
import { openMemoryData } from '../../src/opening/open-memory.ts'
import { emptyStore } from '../../src/opening/placement/empty-store.ts'

test('every table is emptied but those of the server itself and of identities, and every shard is gone', async () => {
  const { backend, close } = openMemoryData()
  const value = Buffer.from('value')
  const tables = ['a', 'b', 'r', 's', 't', 'z']
  const keys = tables.flatMap((table) => Array.from({ length: 1500 }, (_, i) => packKey(table, i)))
  await backend.kv.commit({ puts: keys.map((key) => ({ key, value })) })
  for (const size of [0, 1, 1_000_000]) {
    await backend.blobs.write('default', { payload: bytesSource(Buffer.alloc(size)), describe: () => value })
  }
  await emptyStore(backend)
  const left = await backend.kv.range({ start: Buffer.alloc(0), end: Buffer.from([0xff]), limit: 10_000 })
  expect(left.map((entry) => entry.key)).toEqual(
    ['a', 's'].flatMap((table) => Array.from({ length: 1500 }, (_, i) => packKey(table, i))),
  )
  for (const shards of backend.blobs.stores) {
    for await (const shard of shards.list()) expect.fail(`shard ${shard.id} is left`)
  }
  await close()
})
