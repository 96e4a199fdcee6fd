/** Multipart uploads from beginning to end: parts, completion, abortion, and each racing the other. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { limits } from '../../src/limits.ts'
import { deleteBucket } from '../../src/store/buckets.ts'
import { completeUpload } from '../../src/store/complete-upload.ts'
import { deleteObject } from '../../src/store/delete-object.ts'
import { partsOf } from '../../src/store/keyspace.ts'
import { findObject, openObject } from '../../src/store/read-object.ts'
import { listParts } from '../../src/store/upload-parts.ts'
import { abortUpload, listUploads, type UploadAddress, type UploadQuery } from '../../src/store/uploads.ts'
import { patternBytes } from '../shards/seeded.ts'
import {
  begin,
  complete,
  garbageOf,
  listedPart,
  makeBucket,
  outcome,
  put,
  read,
  scope,
  scopeOf,
  sendPart,
  shardsOf,
  storeWithBucket,
  type TestStore,
} from './fixture.ts'

const big = patternBytes(1, limits.partBytesMin)

const abort = ({ store }: TestStore, address: UploadAddress) => abortUpload(store, scope, address)

async function partNumbers({ store }: TestStore, address: UploadAddress): Promise<number[]> {
  const page = await listParts(store, scope, { ...address, afterNumber: 0, max: 1000 })
  return page.parts.map(({ number }) => number)
}

describe('parts', () => {
  it('become the object, in order of their numbers, however they were sent', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const last = await sendPart(made, upload, 7, 'the end')
    const first = await sendPart(made, upload, 2, big)
    expect(await outcome(read(made, 'key'))).toBe('NoSuchKey')
    const { etag } = await complete(made, upload, [first, last])
    expect(etag).toMatch(/^[0-9a-f]{32}-2$/)
    const whole = Buffer.concat([big, Buffer.from('the end')])
    expect((await read(made, 'key')).equals(whole)).toBe(true)
    const { record } = await findObject(made.store, scope, 'key')
    expect(record).toMatchObject({ size: whole.length, etag, modifiedMs: made.clock.now() })
    expect((await read(made, 'key', [big.length - 2, big.length + 3])).equals(whole.subarray(-9, -4))).toBe(true)
  })

  it('sent again replace the one before, whose bytes become garbage', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const old = await sendPart(made, upload, 1, 'old')
    const again = await sendPart(made, upload, 1, 'new')
    expect(await garbageOf(made)).toEqual([{ kind: 'blob', manifest: old.manifest }])
    expect(await outcome(complete(made, upload, [old]))).toBe('InvalidPart')
    await complete(made, upload, [again])
    expect((await read(made, 'key')).toString()).toBe('new')
  })

  it('sent 32 times at once leave one, and garbage for the others', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const sent = await Promise.all(Array.from({ length: 32 }, (_, i) => sendPart(made, upload, 1, `data ${i}`)))
    expect(await garbageOf(made)).toHaveLength(31)
    const outcomes = await Promise.all(sent.map((part) => outcome(complete(made, upload, [part]))))
    expect(outcomes.filter((one) => one === 'ok').length).toBeGreaterThan(0)
    expect((await read(made, 'key')).toString()).toMatch(/^data \d+$/)
  })

  it('that are not listed become garbage', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const kept = await sendPart(made, upload, 2, 'kept')
    const left = [await sendPart(made, upload, 1, 'left'), await sendPart(made, upload, 3, 'left too')]
    await complete(made, upload, [kept])
    expect(await garbageOf(made)).toEqual(left.map(({ manifest }) => ({ kind: 'blob', manifest })))
    expect(await made.kv.range({ ...partsOf(upload.uploadId), limit: 10 })).toHaveLength(1)
  })

  it('need an open upload, of this key, in this bucket', async () => {
    const made = await storeWithBucket()
    await makeBucket(made, 'other')
    const upload = await begin(made, 'key')
    expect(await outcome(sendPart(made, { ...upload, key: 'other' }, 1, 'x'))).toBe('NoSuchUpload')
    expect(await outcome(sendPart(made, { ...upload, uploadId: 'nonsense' }, 1, 'x'))).toBe('NoSuchUpload')
    expect(await outcome(abortUpload(made.store, scopeOf('other'), upload))).toBe('NoSuchUpload')
    expect(await shardsOf(made)).toHaveLength(0)
  })

  it.each([
    ['nothing', ''],
    ['text longer than a key may be', 'u'.repeat(5000)],
    ['a NUL', '\0'],
    ["another table's key", 'b'],
  ])('of an upload that is named by %s are NoSuchUpload', async (_what, uploadId) => {
    const made = await storeWithBucket()
    const address = { key: 'key', uploadId }
    expect(await outcome(sendPart(made, address, 1, 'x'))).toBe('NoSuchUpload')
    expect(await outcome(complete(made, address, [{ number: 1, etag: '' }]))).toBe('NoSuchUpload')
    expect(await outcome(abort(made, address))).toBe('NoSuchUpload')
    expect(await outcome(partNumbers(made, address))).toBe('NoSuchUpload')
  })

  it('are listed in order of number, page by page', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    for (const number of [10_000, 3, 1, 2]) await sendPart(made, upload, number, `part ${number}`)
    const page = (afterNumber: number, max: number) => listParts(made.store, scope, { ...upload, afterNumber, max })
    const numbers = async (afterNumber: number, max: number) => {
      const { parts, truncated } = await page(afterNumber, max)
      return [parts.map(({ number }) => number), truncated]
    }
    expect(await numbers(0, 2)).toEqual([[1, 2], true])
    expect(await numbers(2, 2)).toEqual([[3, 10_000], false])
    expect(await numbers(10_000, 2)).toEqual([[], false])
    expect(await numbers(0, 0)).toEqual([[], true])
    expect((await page(0, 1)).parts[0]).toMatchObject({ size: 6, etag: expect.stringMatching(/^[0-9a-f]{32}$/) })
  })

  it('lose to the end of the upload while they were on the way, and leave no shard', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    made.kv.beforeNextCommit(() => abort(made, upload))
    expect(await outcome(sendPart(made, upload, 1, 'data'))).toBe('NoSuchUpload')
    expect(await shardsOf(made)).toHaveLength(0)
  })
})

describe('completing an upload', () => {
  it('twice gives the same answer, also after the object has gone', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key', { algorithm: 'CRC32', type: 'FULL_OBJECT' })
    const part = await sendPart(made, upload, 1, 'data')
    const first = await complete(made, upload, [part])
    const { record } = await findObject(made.store, scope, 'key')
    expect(await complete(made, upload, [part])).toEqual(first)
    expect((await findObject(made.store, scope, 'key')).record).toEqual(record)
    await deleteObject(made.store, scope, 'key', {})
    expect(await complete(made, upload, [part])).toEqual(first)
    expect(await outcome(read(made, 'key'))).toBe('NoSuchKey')
  })

  it('32 times at once makes one object', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'data')
    const results = await Promise.all(Array.from({ length: 32 }, () => complete(made, upload, [part])))
    expect(new Set(results.map(({ etag }) => etag)).size).toBe(1)
    expect((await findObject(made.store, scope, 'key')).record.sequence).toBe(1)
    expect(await garbageOf(made)).toEqual([])
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
    expect(await shardsOf(made)).toHaveLength(1)
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
    expect(await outcome(completeUpload(made.store, scope, { ...upload, parts, conditions: {}, expected }))).toBe(
      answer,
    )
    expect(await outcome(read(made, 'key'))).toBe(answer === 'ok' ? 'ok' : 'NoSuchKey')
  })

  it('takes a composite checksum with and without the number of parts behind it', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key', { algorithm: 'SHA256', type: 'COMPOSITE' })
    const parts = [listedPart(await sendPart(made, upload, 1, 'data'))]
    const expecting = (value: string) =>
      completeUpload(made.store, scope, {
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

describe('abortion', () => {
  it('gives up the parts, once', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    await sendPart(made, upload, 1, 'data')
    await abort(made, upload)
    expect(await outcome(abort(made, upload))).toBe('NoSuchUpload')
    expect(await outcome(partNumbers(made, upload))).toBe('NoSuchUpload')
    expect(await garbageOf(made)).toEqual([{ kind: 'parts', uploadId: upload.uploadId }])
  })

  it.each(['complete', 'abort'] as const)('against completion has one winner: %s comes in between', async (sooner) => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'data')
    const works = { complete: () => complete(made, upload, [part]), abort: () => abort(made, upload) }
    const later = sooner === 'complete' ? 'abort' : 'complete'
    made.kv.beforeNextCommit(works[sooner])
    expect(await outcome(works[later]())).toBe('NoSuchUpload')
    expect(await outcome(read(made, 'key'))).toBe(sooner === 'complete' ? 'ok' : 'NoSuchKey')
    expect(await garbageOf(made)).toHaveLength(sooner === 'complete' ? 0 : 1)
  })
})

describe('an object of parts', () => {
  it('gives any range, whatever the parts', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const data = [patternBytes(1, limits.partBytesMin), patternBytes(2, limits.partBytesMin), patternBytes(3, 1000)]
    const parts = await Promise.all(data.map((bytes, i) => sendPart(made, upload, i + 1, bytes)))
    await complete(made, upload, parts)
    const whole = Buffer.concat(data)
    const border = fc.constantFrom(0, limits.partBytesMin, 2 * limits.partBytesMin, whole.length)
    const at = fc
      .oneof(
        fc.nat(whole.length),
        fc.tuple(border, fc.integer({ min: -2, max: 2 })).map(([near, by]) => near + by),
      )
      .map((offset) => Math.min(whole.length, Math.max(0, offset)))
    await fc.assert(
      fc.asyncProperty(at, at, async (a, b) => {
        const [start, end] = [Math.min(a, b), Math.max(a, b)]
        expect((await read(made, 'key', [start, end])).equals(whole.subarray(start, end))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('that is cancelled while its next part is being opened gives no more', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const parts = [await sendPart(made, upload, 1, big), await sendPart(made, upload, 2, 'end')]
    await complete(made, upload, parts)
    const { body } = await openObject(made.store, scope, 'key', ({ size }) => ({ range: { start: 0, end: size } }))
    let given = 0
    made.kv.beforeRead(0, async () => body.cancel())
    const drained = body.drain((chunk) => {
      given += chunk.length
    })
    await expect(drained).rejects.toThrow('cancelled')
    expect(given).toBe(big.length)
  })
})

const anyUpload: UploadQuery = { prefix: '', delimiter: '', max: 1000, keyMarker: undefined, uploadIdMarker: undefined }

describe('listing uploads', () => {
  const unit = fc.constantFrom('a', 'b', '/', '\0', '\uffff', '😀')
  const text = (minLength: number, maxLength: number) => fc.string({ unit, minLength, maxLength })

  it('shows each open upload once, by key and then by age, folded by delimiter, over all pages', async () => {
    const cases = fc.record({
      keys: fc.array(text(1, 4), { maxLength: 15 }),
      prefix: text(0, 1),
      delimiter: fc.oneof(fc.constantFrom('', '/', '\0'), text(1, 2)),
      max: fc.integer({ min: 1, max: 5 }),
    })
    await fc.assert(
      fc.asyncProperty(cases, async ({ keys, prefix, delimiter, max }) => {
        const made = await storeWithBucket()
        const addresses: UploadAddress[] = []
        for (const key of keys) {
          made.clock.advance(1)
          addresses.push(await begin(made, key))
        }
        const expected = expectedLines(addresses, prefix, delimiter)
        const listed: string[] = []
        let query: UploadQuery = { ...anyUpload, prefix, delimiter, max }
        for (let pages = 0; pages < 100; pages++) {
          const { page } = await listUploads(made.store, scope, query)
          const lines = [...page.entries.map(({ key, uploadId }) => `${key} ${uploadId}`), ...page.groups]
          expect(lines.length).toBeLessThanOrEqual(max)
          listed.push(...lines)
          if (page.next === undefined) break
          expect(lines).toHaveLength(max)
          const isKey = 'afterKey' in page.next
          query = {
            ...query,
            keyMarker: 'afterKey' in page.next ? page.next.afterKey : page.next.afterGroup,
            uploadIdMarker: isKey ? page.entries.at(-1)?.uploadId : undefined,
          }
        }
        expect(listed.sort()).toEqual(expected.sort())
        expect(new Set(listed).size).toBe(listed.length)
      }),
      { numRuns: 150 },
    )
  })

  function expectedLines(addresses: readonly UploadAddress[], prefix: string, delimiter: string): string[] {
    const lines = addresses
      .filter(({ key }) => key.startsWith(prefix))
      .map(({ key, uploadId }) => {
        const rest = key.slice(prefix.length)
        const at = delimiter === '' ? -1 : rest.indexOf(delimiter)
        return at < 0 ? `${key} ${uploadId}` : prefix + rest.slice(0, at) + delimiter
      })
    return [...new Set(lines)]
  }

  it('shows those of one key by age, and of each what it was begun with', async () => {
    const made = await storeWithBucket()
    const first = await begin(made, 'key')
    made.clock.advance(1)
    const second = await begin(made, 'key', { algorithm: 'CRC32', type: 'COMPOSITE' })
    const { page } = await listUploads(made.store, scope, anyUpload)
    expect(page.entries.map(({ uploadId }) => uploadId)).toEqual([first.uploadId, second.uploadId])
    expect(page.entries[1]?.upload).toMatchObject({
      initiatedMs: made.clock.now(),
      checksum: { algorithm: 'CRC32', type: 'COMPOSITE' },
    })
    const behind = await listUploads(made.store, scope, {
      ...anyUpload,
      keyMarker: 'key',
      uploadIdMarker: first.uploadId,
    })
    expect(behind.page.entries.map(({ uploadId }) => uploadId)).toEqual([second.uploadId])
    const behindAll = await listUploads(made.store, scope, { ...anyUpload, keyMarker: 'key' })
    expect(behindAll.page.entries).toEqual([])
  })

  it('shows none that ended, none of another bucket, and none for a page of nothing', async () => {
    const made = await storeWithBucket()
    await makeBucket(made, 'other')
    const done = await begin(made, 'done')
    await complete(made, done, [await sendPart(made, done, 1, 'data')])
    await abort(made, await begin(made, 'aborted'))
    const open = await begin(made, 'open')
    expect((await listUploads(made.store, scope, anyUpload)).page.entries.map(({ key }) => key)).toEqual(['open'])
    expect((await listUploads(made.store, scopeOf('other'), anyUpload)).page.entries).toEqual([])
    expect((await listUploads(made.store, scope, { ...anyUpload, max: 0 })).page.entries).toEqual([])
    await abort(made, open)
    await deleteObject(made.store, scope, 'done', {})
    await deleteBucket(made.store, scope)
    expect(await outcome(listUploads(made.store, scope, anyUpload))).toBe('NoSuchBucket')
  })
})
