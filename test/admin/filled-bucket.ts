/** Fills a bucket with a few versions. */
import { bytesSource } from '../../src/byte-source.ts'
import type { Backend } from '../../src/commits/backend.ts'
import { changeBucket } from '../../src/objects/buckets.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { writeObject } from '../../src/objects/write-object.ts'
import { plain } from '../objects/fixture.ts'

/** Two current objects of 20 bytes together, four versions of 27, and one delete marker. */
export async function putVersions(backend: Backend, name: string): Promise<void> {
  const scope = { name, admit: () => {} }
  await changeBucket(backend, scope, (bucket) => ({ ...bucket, versioning: 'enabled' }))
  const put = (key: string, text: string) =>
    writeObject(backend, scope, {
      key,
      attributes: plain,
      data: { body: bytesSource(Buffer.from(text)) },
      conditions: {},
    })
  await put('a', 'seven b')
  await put('a', 'x'.repeat(12))
  await put('b', 'eight by')
  await put('gone', '')
  await deleteObject(backend, scope, { key: 'gone', versionId: undefined })
}
