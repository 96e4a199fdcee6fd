/** Recovery from shards that were written when they described themselves as text, among others that do so as bytes. */
import { afterEach, describe, expect, it } from 'vitest'
import { readLabel } from '../../src/blobs/blobs.ts'
import { changeBucket } from '../../src/objects/buckets.ts'
import { listVersions } from '../../src/objects/list-versions.ts'
import { readDescription } from '../../src/records/description-bytes.ts'
import type { FoundShard, ShardStore } from '../../src/stores/shard-store.ts'
import { begin, complete, put, read, scope, sendPart } from '../objects/fixture.ts'
import { patternBytes } from '../support/seeded.ts'
import { layouts, type RecoverableStore, recoverableStore } from './recover-fixture.ts'

let made: RecoverableStore
afterEach(() => made.dispose())

const large = patternBytes(1, 300_000)

async function versionsOf({ backend }: RecoverableStore): Promise<unknown> {
  const query = { prefix: '', delimiter: '', max: 1000, keyMarker: undefined, versionIdMarker: undefined }
  return (await listVersions(backend, scope, query)).page.entries
}

/** Attributes lay beside all other fields. */
function flat({ attributes, ...fields }: { kind?: string; attributes?: object; upload?: object }): object {
  return { ...fields, ...attributes, ...(fields.upload && { upload: flat(fields.upload) }) }
}

/** As every version before bytes wrote it. */
async function writeAsText(store: ShardStore, { id, description: raw, payloadBytes }: FoundShard): Promise<void> {
  const { description } = readLabel(raw)
  const label = raw.subarray(0, raw.length - description.length)
  const text = Buffer.from(JSON.stringify(flat(readDescription(raw) ?? {})))
  const payload = await store.get(id, { start: 0, end: payloadBytes })
  await store.put({ payload, describe: () => Buffer.concat([label, text]) })
  await store.delete([id])
}

describe.each(Object.entries(layouts))('with %s', (_, layout) => {
  it('what was described as text comes back as what is described as bytes does', async () => {
    made = await recoverableStore(layout)
    await put(made, 'null', 'null')
    made.clock.advance(1)
    await changeBucket(made.backend, scope, (bucket) => ({ ...bucket, versioning: 'enabled' }))
    for (const key of ['small', 'large', 'small']) {
      made.clock.advance(1)
      await put(made, key, key === 'large' ? large : key)
    }
    const upload = await begin(made, 'parts')
    await complete(made, upload, [await sendPart(made, upload, 1, large)])
    for (const store of made.disks.stores) {
      const shards: FoundShard[] = []
      for await (const shard of store.list()) shards.push(shard)
      for (const shard of shards) await writeAsText(store, shard)
    }
    made.clock.advance(1)
    await put(made, 'later', 'as bytes')

    const after = await made.recovered()
    expect(after.report).toMatchObject({ unreadable: 0, incomplete: 0, notRecovered: [], versionsFromShards: 6 })
    expect(await versionsOf(after)).toEqual(await versionsOf(made))
    expect((await read(after, 'large')).equals(large)).toBe(true)
    expect((await read(after, 'parts')).equals(large)).toBe(true)
    for (const key of ['null', 'small']) expect((await read(after, key)).toString()).toBe(key)
  })
})
