/** Parts of an upload: sent, sent again, listed, and refused when their upload is not open. */
import { describe, expect, it } from 'vitest'
import { limits } from '../../src/limits.ts'
import { abortUpload } from '../../src/objects/abort-upload.ts'
import { findVersion } from '../../src/objects/find-version.ts'
import { listParts } from '../../src/objects/upload-parts.ts'
import { partsOf } from '../../src/records/keyspace.ts'
import { patternBytes } from '../support/seeded.ts'
import {
  abort,
  begin,
  complete,
  garbageOf,
  makeBucket,
  outcome,
  partNumbers,
  read,
  scope,
  scopeOf,
  sendPart,
  shardsOf,
  storeWithBucket,
} from './fixture.ts'

const big = patternBytes(1, limits.partBytesMin)

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
    const { record } = await findVersion(made.backend, scope, 'key', undefined)
    expect(record).toMatchObject({ size: whole.length, etag, modifiedMs: made.clock.now() })
    expect((await read(made, 'key', [big.length - 2, big.length + 3])).equals(whole.subarray(-9, -4))).toBe(true)
  })

  it('sent again replace the one before, whose bytes become garbage', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const old = await sendPart(made, upload, 1, 'old')
    const again = await sendPart(made, upload, 1, 'new')
    expect(await garbageOf(made)).toMatchObject([{ kind: 'blob', manifest: old.manifest }])
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
    const garbage = await garbageOf(made)
    expect(garbage).toHaveLength(2)
    for (const { manifest } of left) expect(garbage).toContainEqual(expect.objectContaining({ kind: 'blob', manifest }))
    expect(await made.kv.range({ ...partsOf(upload.uploadId), limit: 10 })).toHaveLength(1)
  })

  it('need an open upload, of this key, in this bucket', async () => {
    const made = await storeWithBucket()
    await makeBucket(made, 'other')
    const upload = await begin(made, 'key')
    expect(await outcome(sendPart(made, { ...upload, key: 'other' }, 1, 'x'))).toBe('NoSuchUpload')
    expect(await outcome(sendPart(made, { ...upload, uploadId: 'nonsense' }, 1, 'x'))).toBe('NoSuchUpload')
    expect(await outcome(abortUpload(made.backend, scopeOf('other'), upload))).toBe('NoSuchUpload')
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
    const page = (afterNumber: number, max: number) => listParts(made.backend, scope, { ...upload, afterNumber, max })
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
