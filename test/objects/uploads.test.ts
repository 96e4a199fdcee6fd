/** Uploads as such: aborted, and listed by key and age, page by page. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deleteBucket } from '../../src/objects/buckets.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { listUploads, type UploadAddress, type UploadQuery } from '../../src/objects/uploads.ts'
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
  storeWithBucket,
} from './fixture.ts'

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
          const { page } = await listUploads(made.backend, scope, query)
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
    const { page } = await listUploads(made.backend, scope, anyUpload)
    expect(page.entries.map(({ uploadId }) => uploadId)).toEqual([first.uploadId, second.uploadId])
    expect(page.entries[1]?.upload).toMatchObject({
      initiatedMs: made.clock.now(),
      checksum: { algorithm: 'CRC32', type: 'COMPOSITE' },
    })
    const behind = await listUploads(made.backend, scope, {
      ...anyUpload,
      keyMarker: 'key',
      uploadIdMarker: first.uploadId,
    })
    expect(behind.page.entries.map(({ uploadId }) => uploadId)).toEqual([second.uploadId])
    const behindAll = await listUploads(made.backend, scope, { ...anyUpload, keyMarker: 'key' })
    expect(behindAll.page.entries).toEqual([])
  })

  it.each([
    ['a marker longer than a key may be', { keyMarker: 'k'.repeat(5000) }, ['l']],
    ['an upload marker of any length', { keyMarker: 'k', uploadIdMarker: 'u'.repeat(5000) }, ['l']],
    ['an upload marker that no upload has', { keyMarker: 'k', uploadIdMarker: '0' }, ['k', 'l']],
    ['a prefix longer than a key may be', { prefix: 'k'.repeat(5000) }, []],
    ['a marker before the prefix', { prefix: 'l', keyMarker: 'k' }, ['l']],
  ] satisfies [string, Partial<UploadQuery>, string[]][])('takes %s', async (_what, query, expected) => {
    const made = await storeWithBucket()
    await begin(made, 'k')
    await begin(made, 'l')
    const { page } = await listUploads(made.backend, scope, { ...anyUpload, ...query })
    expect(page.entries.map(({ key }) => key)).toEqual(expected)
  })

  it('shows none that ended, none of another bucket, and none for a page of nothing', async () => {
    const made = await storeWithBucket()
    await makeBucket(made, 'other')
    const done = await begin(made, 'done')
    await complete(made, done, [await sendPart(made, done, 1, 'data')])
    await abort(made, await begin(made, 'aborted'))
    const open = await begin(made, 'open')
    expect((await listUploads(made.backend, scope, anyUpload)).page.entries.map(({ key }) => key)).toEqual(['open'])
    expect((await listUploads(made.backend, scopeOf('other'), anyUpload)).page.entries).toEqual([])
    expect((await listUploads(made.backend, scope, { ...anyUpload, max: 0 })).page.entries).toEqual([])
    await abort(made, open)
    await deleteObject(made.backend, scope, { key: 'done' })
    await deleteBucket(made.backend, scope)
    expect(await outcome(listUploads(made.backend, scope, anyUpload))).toBe('NoSuchBucket')
  })
})
