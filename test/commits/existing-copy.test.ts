/** Copies of versions of another bucket that are sent again, when others have been copied since: they change nothing. */
import { beforeEach, expect, it } from 'vitest'
import { bytesSource } from '../../src/byte-source.ts'
import { reclaimGarbage } from '../../src/jobs/reclaim.ts'
import { limits } from '../../src/limits.ts'
import { changeBucket } from '../../src/objects/buckets.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { listVersions } from '../../src/objects/list-versions.ts'
import { createUpload } from '../../src/objects/uploads.ts'
import { writeObject } from '../../src/objects/write-object.ts'
import { complete, plain, scope, sendPart, shardsOf, storeWithBucket, type TestStore } from '../objects/fixture.ts'

let made: TestStore
beforeEach(async () => {
  made = await storeWithBucket()
  await changeBucket(made.backend, scope, (bucket) => ({ ...bucket, versioning: 'enabled' }))
})

async function copy(of: string): Promise<string> {
  const attributes = { ...plain, replication: { status: 'REPLICA', of } as const }
  const data = { body: bytesSource(Buffer.from(of)) }
  const { record } = await writeObject(made.backend, scope, { key: 'key', attributes, data, conditions: {} })
  return record.versionId
}

/** Two parts, the first as large as it must be. */
async function copyInParts(of: string): Promise<string> {
  const attributes = { ...plain, replication: { status: 'REPLICA', of } as const }
  const { uploadId } = await createUpload(made.backend, scope, { key: 'key', attributes, checksum: undefined })
  const address = { key: 'key', uploadId }
  const parts = [
    await sendPart(made, address, 1, Buffer.alloc(limits.partBytesMin, of)),
    await sendPart(made, address, 2, of),
  ]
  const { versionId = '' } = await complete(made, address, parts)
  expect(await complete(made, address, parts)).toMatchObject({ versionId })
  return versionId
}

const hide = async (replicaOf: string): Promise<string | undefined> =>
  (await deleteObject(made.backend, scope, { key: 'key', replicaOf })).versionId

async function versions(): Promise<(string | undefined)[]> {
  const query = { prefix: '', delimiter: '', max: 1000, keyMarker: undefined, versionIdMarker: undefined }
  const { page } = await listVersions(made.backend, scope, query)
  return page.entries.map(({ version }) => version.versionId)
}

it.each([
  ['an object', copy],
  ['an object in parts', copyInParts],
  ['a delete marker', hide],
])('%s that comes late does not come back over what was copied since', async (_, again) => {
  const first = await again('first')
  const later = [await copy('second'), await hide('third'), await copy('fourth'), await hide('fifth')]
  const before = await versions()
  const shards = await shardsOf(made)
  expect(await again('first')).toBe(first)
  expect(await versions()).toEqual([...later, first].sort().reverse())
  expect(await versions()).toEqual(before)
  await reclaimGarbage(made.backend, { graceMs: 0 })
  expect(await shardsOf(made)).toEqual(shards)
})

it('a copy of another version of the same bytes is made', async () => {
  const first = await copy('first')
  await hide('second')
  expect(await copy('third')).not.toBe(first)
  expect(await versions()).toHaveLength(3)
})
