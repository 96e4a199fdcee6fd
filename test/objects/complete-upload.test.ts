/** Completing an upload: once whatever is repeated, whole whatever races it, and refused without a trace. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { limits } from '../../src/limits.ts'
import { deleteBucket } from '../../src/objects/buckets.ts'
import { completeUpload } from '../../src/objects/complete-upload.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { findVersion } from '../../src/objects/find-version.ts'
import { partsOf } from '../../src/records/keyspace.ts'
import { patternBytes } from '../support/seeded.ts'
import {
  abort,
  begin,
  complete,
  elsewhere,
  garbageOf,
  listedPart,
  makeBucket,
  outcome,
  partNumbers,
  put,
  read,
  scope,
  sendPart,
  shardsOf,
  storeWithBucket,
} from './fixture.ts'

const big = patternBytes(1, limits.partBytesMin)

describe('completing an upload', () => {
  it('twice gives the same answer, also after the object has gone', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key', { algorithm: 'CRC32', type: 'FULL_OBJECT' })
    const part = await sendPart(made, upload, 1, 'data')
    const first = await complete(made, upload, [part])
    const { record } = await findVersion(made.backend, scope, 'key', undefined)
    expect(await complete(made, upload, [part])).toEqual(first)
    expect((await findVersion(made.backend, scope, 'key', undefined)).record).toEqual(record)
    await deleteObject(made.backend, scope, { key: 'key' })
    expect(await complete(made, upload, [part])).toEqual(first)
    expect(await outcome(read(made, 'key'))).toBe('NoSuchKey')
  })

  it('32 times at once makes one object', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'data')
    const results = await Promise.all(Array.from({ length: 32 }, () => complete(made, upload, [part])))
    expect(new Set(results.map(({ etag }) => etag)).size).toBe(1)
    expect((await findVersion(made.backend, scope, 'key', undefined)).record.sequence).toBe(1)
    expect(await garbageOf(made)).toEqual([])
    expect(await shardsOf(made)).toHaveLength(2)
  })

  it('leaves one note, also when two processes do it at once', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'data')
    made.kv.beforeNextCommit(() => complete(elsewhere(made), upload, [part]))
    await complete(made, upload, [part])
    expect(await shardsOf(made)).toHaveLength(2)
    expect((await read(made, 'key')).toString()).toBe('data')
  })

  it('ends it: no part, no list of parts, no abortion any more', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'data')
    await complete(made, upload, [part])
    expect(await outcome(sendPart(made, upload, 1, 'late'))).toBe('NoSuchUpload')
    expect(await outcome(partNumbers(made, upload))).toBe('NoSuchUpload')
    expect(await outcome(abort(made, upload))).toBe('NoSuchUpload')
    expect((await read(made, 'key')).toString()).toBe('data')
    // The part, and the note.
    expect(await shardsOf(made)).toHaveLength(2)
  })

  it('that is refused leaves it open', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'data')
    expect(await outcome(complete(made, upload, [{ number: 2, etag: part.etag }]))).toBe('InvalidPart')
    await put(made, 'key', 'first')
    expect(await outcome(complete(made, upload, [part], { ifNoneMatch: '*' }))).toBe('PreconditionFailed')
    expect(await outcome(complete(made, upload, [part], { ifMatch: '"other"' }))).toBe('PreconditionFailed')
    expect(await partNumbers(made, upload)).toEqual([1])
    await complete(made, upload, [part])
    expect((await read(made, 'key')).toString()).toBe('data')
  })

  it('with If-None-Match: * from 16 uploads at once has one winner', async () => {
    const made = await storeWithBucket()
    const works = Array.from({ length: 16 }, async (_, i) => {
      const upload = await begin(made, 'key')
      const part = await sendPart(made, upload, 1, `data ${i}`)
      return complete(made, upload, [part], { ifNoneMatch: '*' })
    })
    const outcomes = await Promise.all(works.map(outcome))
    expect(outcomes.filter((one) => one === 'ok')).toHaveLength(1)
    expect(outcomes.filter((one) => one === 'PreconditionFailed')).toHaveLength(15)
    expect((await read(made, 'key')).toString()).toBe(`data ${outcomes.indexOf('ok')}`)
  })

  it('over another object makes the old one garbage', async () => {
    const made = await storeWithBucket()
    await put(made, 'key', 'first')
    for (const data of ['second', 'third']) {
      const upload = await begin(made, 'key')
      await complete(made, upload, [await sendPart(made, upload, 1, data)])
    }
    expect((await garbageOf(made)).map(({ kind }) => kind).sort()).toEqual(['blob', 'parts'])
  })

  it('takes the part that was sent last, or refuses: never a part that it did not check', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'checked')
    made.kv.beforeNextCommit(() => sendPart(made, upload, 1, 'another'))
    expect(await outcome(complete(made, upload, [part]))).toBe('InvalidPart')
    expect(await outcome(read(made, 'key'))).toBe('NoSuchKey')
  })

  it('that is aborted while it decides leaves no note', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'data')
    made.kv.beforeNextCommit(() => abort(made, upload))
    expect(await outcome(complete(made, upload, [part]))).toBe('NoSuchUpload')
    // The part, which is garbage now.
    expect(await shardsOf(made)).toHaveLength(1)
  })

  it('in a bucket that is made again while it looks is refused', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'part')
    made.kv.beforeRead(1, () => deleteBucket(made.backend, scope).then(() => makeBucket(made)))
    expect(await outcome(complete(made, upload, [part]))).toBe('NoSuchUpload')
    expect(await outcome(read(made, 'key'))).toBe('NoSuchKey')
  })

  it('with an unknown outcome keeps its note: the commit may have happened', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'data')
    made.kv.beforeNextCommit(() => Promise.reject(new Error('the connection was lost')))
    await expect(complete(made, upload, [part])).rejects.toThrow('the connection was lost')
    expect(await shardsOf(made)).toHaveLength(2)
  })

  it('finds what is wrong before it writes anything', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'data')
    const write = () => Promise.reject(new Error('a blob was written'))
    const unwritable = { ...made, backend: { ...made.backend, blobs: { ...made.backend.blobs, write } } }
    expect(await outcome(complete(unwritable, upload, [{ ...part, etag: 'other' }]))).toBe('InvalidPart')
    expect(await outcome(complete(unwritable, upload, [part], { ifMatch: '*' }))).toBe('NoSuchKey')
    const completion = { ...upload, parts: [listedPart(part)], conditions: {}, expected: { size: 5 } }
    expect(await outcome(completeUpload(unwritable.backend, scope, completion))).toBe('InvalidRequest')
    await expect(complete(unwritable, upload, [part])).rejects.toThrow('a blob was written')
    await complete(made, upload, [part])
    expect((await complete(unwritable, upload, [part])).etag).toMatch(/-1$/)
  })

  it.each([
    ['before', 1],
    ['between', 3],
    ['behind', 9],
  ])('gives up a part that was stored while it decided, %s the listed ones', async (_where, number) => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const listed = [await sendPart(made, upload, 2, big), await sendPart(made, upload, 4, 'end')]
    made.kv.beforeNextCommit(() => sendPart(made, upload, number, 'late'))
    await complete(made, upload, listed)
    expect(await garbageOf(made)).toMatchObject([{ kind: 'blob', manifest: { size: 4 } }])
    expect(await made.kv.range({ ...partsOf(upload.uploadId), limit: 10 })).toHaveLength(2)
  })

  it.each([
    ['the size', { size: 4 }, 'ok'],
    ['another size', { size: 5 }, 'InvalidRequest'],
    ['the type', { type: 'FULL_OBJECT' as const }, 'ok'],
    ['another type', { type: 'COMPOSITE' as const }, 'InvalidRequest'],
    ['the checksum', { checksum: { algorithm: 'CRC32' as const, value: 'rfPzYw==' } }, 'ok'],
    ['another checksum', { checksum: { algorithm: 'CRC32' as const, value: 'AAAAAA==' } }, 'BadDigest'],
    ['a checksum of another kind', { checksum: { algorithm: 'CRC32C' as const, value: 'rfPzYw==' } }, 'BadDigest'],
  ])('expecting %s of the object: %s', async (_what, expected, answer) => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key', { algorithm: 'CRC32', type: 'FULL_OBJECT' })
    const parts = [listedPart(await sendPart(made, upload, 1, 'data'))]
    expect(await outcome(completeUpload(made.backend, scope, { ...upload, parts, conditions: {}, expected }))).toBe(
      answer,
    )
    expect(await outcome(read(made, 'key'))).toBe(answer === 'ok' ? 'ok' : 'NoSuchKey')
  })

  it('takes a composite checksum with and without the number of parts behind it', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key', { algorithm: 'SHA256', type: 'COMPOSITE' })
    const parts = [listedPart(await sendPart(made, upload, 1, 'data'))]
    const expecting = (value: string) =>
      completeUpload(made.backend, scope, {
        ...upload,
        parts,
        conditions: {},
        expected: { checksum: { algorithm: 'SHA256', value } },
      })
    expect(await outcome(expecting(`${'A'.repeat(43)}=`))).toBe('BadDigest')
    const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest()
    const bare = sha256(sha256('data')).toString('base64')
    expect(await outcome(expecting(bare))).toBe('ok')
    const { checksum } = await expecting(`${bare}-1`)
    expect(checksum).toEqual({ algorithm: 'SHA256', type: 'COMPOSITE', value: `${bare}-1` })
  })
})
