/** Records put where they don't belong: what is encrypted opens in its own place only, and never gives another's bytes. */
import { beforeEach, describe, expect, it } from 'vitest'
import { ObjectKeyLost } from '../../src/commits/encryption.ts'
import { SegmentDamaged } from '../../src/encryption/segments.ts'
import type { Key } from '../../src/kv/kv.ts'
import { changeBucket } from '../../src/objects/buckets.ts'
import { historyOf, objectKey, partKey, uploadKey } from '../../src/records/keyspace.ts'
import { objectCodec, partCodec, uploadCodec, versionCodec } from '../../src/records/record-codecs.ts'
import type { ObjectRecord, OpenUpload, PartRecord } from '../../src/records/records.ts'
import { patternBytes } from '../support/seeded.ts'
import {
  beginEncrypted,
  type Mode,
  modeNames,
  putEncrypted,
  putInParts,
  readEncrypted,
  sendEncrypted,
} from './encrypted.ts'
import { complete, makeBucket, outcome, scope, scopeOf, storeWithBucket, type TestStore } from './fixture.ts'

const data = (seed: number): Buffer => patternBytes(seed, 1000)

let made: TestStore

beforeEach(async () => {
  made = await storeWithBucket()
})

interface Codec<T> {
  encode(key: Key, record: T): Buffer
  decode(key: Key, bytes: Buffer): T
}

async function recordAt<T>(codec: Codec<T>, key: Key): Promise<T> {
  const [entry] = await made.kv.get([key])
  if (entry === undefined) throw new Error('there is no such record')
  return codec.decode(key, entry.value)
}

async function place<T>(codec: Codec<T>, key: Key, record: T): Promise<void> {
  await made.kv.commit({ puts: [{ key, value: codec.encode(key, record) }] })
}

const at = (key: string, bucket = 'bucket'): Promise<ObjectRecord> => recordAt(objectCodec, objectKey(bucket, key))
const placeAt = (key: string, record: ObjectRecord, bucket = 'bucket'): Promise<void> =>
  place(objectCodec, objectKey(bucket, key), record)

/** How a read ends that must not succeed. */
async function refusal(reading: Promise<Buffer>): Promise<string> {
  try {
    return `gave ${(await reading).length} bytes`
  } catch (error) {
    if (error instanceof ObjectKeyLost) return 'lost'
    if (error instanceof SegmentDamaged) return 'damaged'
    return outcome(Promise.reject(error))
  }
}

const refusedAs = (mode: Mode): string => (mode === 'SSE-C' ? 'AccessDenied' : 'lost')

describe.each(modeNames)('%s', (mode) => {
  const read = (key: string, more = {}): Promise<Buffer> => readEncrypted(made.backend, { key, mode, ...more })

  it('an object under the name of another does not open', async () => {
    await putEncrypted(made.backend, { key: 'a', mode }, data(1))
    await putEncrypted(made.backend, { key: 'b', mode }, data(2))
    expect((await read('a')).equals(data(1))).toBe(true)
    await placeAt('a', await at('b'))
    expect(await refusal(read('a'))).toBe(refusedAs(mode))
    expect((await read('b')).equals(data(2))).toBe(true)
  })

  it('an object in another bucket of the same key does not open', async () => {
    await makeBucket(made, 'other')
    await putEncrypted(made.backend, { key: 'a', mode }, data(1))
    await putEncrypted(made.backend, { key: 'a', mode, in: scopeOf('other') }, data(2))
    await placeAt('a', await at('a', 'other'))
    expect(await refusal(read('a'))).toBe(refusedAs(mode))
  })

  it('a version in the place of another does not open', async () => {
    await changeBucket(made.backend, scope, (bucket) => ({ ...bucket, versioning: 'enabled' }))
    await putEncrypted(made.backend, { key: 'a', mode }, data(1))
    const { versionId } = await at('a')
    await putEncrypted(made.backend, { key: 'a', mode }, data(2))
    const [older] = await made.kv.range({ ...historyOf('bucket', 'a'), limit: 10 })
    if (older === undefined) throw new Error('there is no older version')
    const [first, second] = [versionCodec.decode(older.key, older.value), await at('a')]
    expect((await read('a', { versionId })).equals(data(1))).toBe(true)
    if (first.kind === 'marker') throw new Error('a marker')
    await placeAt('a', { ...second, encryption: first.encryption, data: first.data })
    await place(versionCodec, older.key, { ...first, encryption: second.encryption, data: second.data })
    expect(await refusal(read('a'))).toBe(refusedAs(mode))
    expect(await refusal(read('a', { versionId }))).toBe(refusedAs(mode))
  })

  it('the bytes of another object are not given out', async () => {
    await putEncrypted(made.backend, { key: 'a', mode }, data(1))
    await putEncrypted(made.backend, { key: 'b', mode }, data(2))
    await placeAt('a', { ...(await at('a')), data: (await at('b')).data })
    expect(await refusal(read('a'))).toBe('damaged')
  })

  it.each<[what: string, change: (record: ObjectRecord) => Partial<ObjectRecord>]>([
    ['another size', ({ size }) => ({ size: size - 1 })],
    [
      'bytes that are said to be parts',
      ({ size }) => ({ data: { kind: 'parts', uploadId: '0'.repeat(32), runs: [{ first: 1, count: 1, size }] } }),
    ],
    [
      'another context',
      ({ encryption }) => ({ encryption: encryption && { ...encryption, context: btoa('{"for":"others"}') } }),
    ],
    [
      'another wrapping key',
      ({ encryption }) => ({
        encryption: encryption && { ...encryption, by: 'store', wrappedBy: { name: 'sse-s3', id: 'unknown' } },
      }),
    ],
  ])('%s is not believed', async (_what, change) => {
    await putEncrypted(made.backend, { key: 'a', mode }, data(1))
    const record = await at('a')
    await placeAt('a', { ...record, ...change(record) })
    expect(await refusal(read('a'))).not.toMatch(/^gave/)
  })

  describe('parts', () => {
    const big = (seed: number): Buffer => patternBytes(seed, 5 * 1024 * 1024)
    const part = (uploadId: string, number: number): Promise<PartRecord> =>
      recordAt(partCodec, partKey(uploadId, number))
    const placePart = (uploadId: string, record: PartRecord): Promise<void> =>
      place(partCodec, partKey(uploadId, record.number), record)

    it('exchanged within an object are not given out', async () => {
      const id = await putInParts(made.backend, { key: 'a', mode }, [big(1), big(2)])
      expect((await read('a')).equals(Buffer.concat([big(1), big(2)]))).toBe(true)
      const [first, second] = [await part(id, 1), await part(id, 2)]
      await placePart(id, { ...second, number: 1 })
      await placePart(id, { ...first, number: 2 })
      expect(await refusal(read('a'))).toBe('damaged')
      expect(await refusal(read('a', { range: [6_000_000, 6_000_001] }))).toBe('damaged')
    })

    it('of another object are not given out, nor does an upload open under the name of another', async () => {
      const one = await putInParts(made.backend, { key: 'a', mode }, [data(1)])
      const other = await putInParts(made.backend, { key: 'b', mode }, [data(2)])
      await placePart(one, await part(other, 1))
      expect(await refusal(read('a'))).toBe('damaged')
      await placeAt('a', { ...(await at('a')), data: (await at('b')).data })
      expect(await refusal(read('a'))).toBe(refusedAs(mode))
    })

    it('sent again under the same number read as the newer, and never as the older', async () => {
      const uploadId = await beginEncrypted(made.backend, { key: 'a', mode })
      await sendEncrypted(made.backend, { key: 'a', mode }, uploadId, 1, data(1))
      const older = await part(uploadId, 1)
      const newer = await sendEncrypted(made.backend, { key: 'a', mode }, uploadId, 1, data(2))
      await complete(made, { key: 'a', uploadId }, [newer])
      expect((await read('a')).equals(data(2))).toBe(true)
      await placePart(uploadId, { ...newer, manifest: older.manifest })
      expect(await refusal(read('a'))).toBe('damaged')
    })

    it('are not taken by an upload whose key was exchanged', async () => {
      const one = await beginEncrypted(made.backend, { key: 'a', mode })
      const other = await beginEncrypted(made.backend, { key: 'a', mode })
      const [mine, others] = [
        await recordAt(uploadCodec, uploadKey(one)),
        await recordAt(uploadCodec, uploadKey(other)),
      ]
      await place(uploadCodec, uploadKey(one), {
        ...(mine as OpenUpload),
        encryption: (others as OpenUpload).encryption,
      })
      const sending = sendEncrypted(made.backend, { key: 'a', mode }, one, 1, data(1)).then(() => Buffer.alloc(0))
      expect(await refusal(sending)).toBe(mode === 'SSE-C' ? 'InvalidRequest' : 'lost')
    })
  })
})
