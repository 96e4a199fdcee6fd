/** Wrapping objects' keys anew: everything reads before, after, and wherever it was interrupted. */
import { beforeEach, describe, expect, it } from 'vitest'
import { type Backend, unsharedKeys } from '../../src/commits/backend.ts'
import { ObjectKeyLost } from '../../src/commits/encryption.ts'
import { type KeyRing, withNewKey } from '../../src/encryption/key-ring.ts'
import { rewrapKeys } from '../../src/jobs/rewrap.ts'
import { changeBucket } from '../../src/objects/buckets.ts'
import { setTags } from '../../src/objects/change-version.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { objectKey } from '../../src/records/keyspace.ts'
import { objectCodec } from '../../src/records/record-codecs.ts'
import {
  type At,
  beginEncrypted,
  modeNames,
  putEncrypted,
  putInParts,
  readEncrypted,
  sendEncrypted,
} from '../objects/encrypted.ts'
import {
  complete,
  makeBucket,
  put,
  scope,
  scopeOf,
  storeWithBucket,
  type TestStore,
  testKeys,
} from '../objects/fixture.ts'
import { patternBytes } from '../support/seeded.ts'

const data = (seed: number): Buffer => patternBytes(seed, 100)
const other = scopeOf('other')

let made: TestStore
/** The same store with a newer key of each name. */
let rotated: Backend
/** What must read, as what. */
let written: { at: At & { versionId?: string }; bytes: Buffer }[]

beforeEach(async () => {
  made = await storeWithBucket()
  await makeBucket(made, 'other')
  await changeBucket(made.backend, scope, (bucket) => ({ ...bucket, versioning: 'enabled' }))
  written = []
  for (const [i, mode] of modeNames.entries()) {
    for (const bucket of [scope, other]) {
      const at = { key: `${mode}/object`, mode, in: bucket }
      await putEncrypted(made.backend, at, data(i))
      written.push({ at: { ...at, versionId: await versionOf(at) }, bytes: data(i) })
    }
    const again = { key: `${mode}/object`, mode }
    await putEncrypted(made.backend, again, data(i + 100))
    const parts = { key: `${mode}/parts`, mode }
    await putInParts(made.backend, parts, [data(i + 200)])
    written.push({ at: again, bytes: data(i + 100) }, { at: parts, bytes: data(i + 200) })
  }
  const names = ['sse-s3', 'aws/s3', 'invoices']
  const ring = names.reduce<KeyRing>(
    (ring, name) => withNewKey(ring, name, (bytes) => patternBytes(5, bytes)),
    testKeys,
  )
  rotated = { ...made.backend, keys: unsharedKeys(ring) }
})

async function versionOf({ key, in: bucket = scope }: At): Promise<string> {
  const packed = objectKey(bucket.name, key)
  const [entry] = await made.kv.get([packed])
  return entry === undefined ? '' : objectCodec.decode(packed, entry.value).versionId
}

async function expectAll(backend: Backend): Promise<void> {
  for (const { at, bytes } of written) {
    expect((await readEncrypted(backend, at)).equals(bytes), JSON.stringify(at)).toBe(true)
  }
}

/** A store that has the newest key of each name only. */
const withoutOld = (backend: Backend): Backend => ({
  ...backend,
  keys: {
    ...backend.keys,
    find: (name, id) => (backend.keys.newest(name)?.id === id ? backend.keys.newest(name) : undefined),
  },
})

/** Of each mode but SSE-C: two objects, a version of one, and one in parts. */
const ringed = (modeNames.length - 1) * 4

describe('wrapping keys anew', () => {
  it('leaves everything readable, and nothing that needs an older key', async () => {
    await expectAll(rotated)
    await expect(expectAll(withoutOld(rotated))).rejects.toThrow(ObjectKeyLost)
    expect(await rewrapKeys(rotated)).toMatchObject({ encrypted: ringed, rewrapped: ringed })
    await expectAll(rotated)
    await expectAll(withoutOld(rotated))
    expect(await rewrapKeys(rotated)).toMatchObject({ encrypted: ringed, rewrapped: 0 })
  })

  it('interrupted anywhere leaves everything readable, and goes on when repeated', async () => {
    let interrupted = 0
    for (let commits = 0; ; commits++) {
      made.kv.failAfterCommits(commits)
      const outcome = await rewrapKeys(rotated).then(
        () => 'done',
        (error: Error) => error.message,
      )
      made.kv.failAfterCommits(undefined)
      await expectAll(rotated)
      if (outcome === 'done') break
      expect(outcome).toBe('killed')
      interrupted++
    }
    expect(interrupted).toBeGreaterThanOrEqual(1)
    await expectAll(withoutOld(rotated))
  })

  it('is done for open uploads too, which are then completed', async () => {
    for (const mode of modeNames) {
      const at = { key: `${mode}/open`, mode }
      const uploadId = await beginEncrypted(made.backend, at)
      const first = await sendEncrypted(made.backend, at, uploadId, 1, patternBytes(1, 5 * 1024 * 1024))
      await rewrapKeys(rotated)
      const backend = withoutOld(rotated)
      const second = await sendEncrypted(backend, at, uploadId, 2, data(2))
      await complete({ ...made, backend }, { ...at, uploadId }, [first, second])
      const bytes = Buffer.concat([patternBytes(1, 5 * 1024 * 1024), data(2)])
      expect((await readEncrypted(backend, at)).equals(bytes)).toBe(true)
    }
  })

  it('takes what a client changes at that moment as it is then', async () => {
    const at = { key: 'SSE-S3/object', mode: 'SSE-S3' as const }
    made.kv.beforeNextCommit(() => setTags(rotated, scope, { key: at.key }, [{ key: 'a', value: 'b' }]))
    await rewrapKeys(rotated)
    await expectAll(withoutOld(rotated))
  })

  it('meets what a client brings back from the history', async () => {
    const at = { key: 'a', mode: 'SSE-S3' as const }
    await putEncrypted(made.backend, at, data(1))
    const last = await put(made, 'a', 'not encrypted')
    made.kv.beforeNextCommit(() => deleteObject(rotated, scope, { key: 'a', versionId: last.versionId }))
    await rewrapKeys(rotated)
    expect((await readEncrypted(withoutOld(rotated), at)).equals(data(1))).toBe(true)
    await expectAll(withoutOld(rotated))
  })

  it('goes through more objects than one page holds', async () => {
    const count = 1100
    for (let i = 0; i < count; i++) await putEncrypted(made.backend, { key: `many/${i}`, mode: 'SSE-S3' }, data(1))
    expect(await rewrapKeys(rotated)).toMatchObject({ encrypted: ringed + count, rewrapped: ringed + count })
    expect(await rewrapKeys(rotated)).toMatchObject({ encrypted: ringed + count, rewrapped: 0 })
  })

  it('stops at a key that does not open, rather than leave it behind unsaid', async () => {
    const packed = objectKey('other', 'SSE-S3/object')
    const [entry] = await made.kv.get([packed])
    if (entry === undefined) throw new Error('it is not there')
    const record = objectCodec.decode(packed, entry.value)
    const altered = { ...record, encryption: record.encryption && { ...record.encryption, context: 'e30=' } }
    await made.kv.commit({ puts: [{ key: packed, value: objectCodec.encode(packed, altered) }] })
    await expect(rewrapKeys(rotated)).rejects.toThrow(ObjectKeyLost)
    const readable = written.filter(({ at }) => !(at.in === other && at.mode === 'SSE-S3'))
    written = readable
    await expectAll(rotated)
  })
})
