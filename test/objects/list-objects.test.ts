/** Listings of real buckets, page by page, against a model; and what they read for it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { type ListedKey, listObjects, type ObjectQuery } from '../../src/objects/list-objects.ts'
import type { Page, PageStart } from '../../src/rules/listing.ts'
import { outcome, put, scope, scopeOf, storeWithBucket, type TestStore } from './fixture.ts'
import { fill, inByteOrder, listingCases, modelListing, textsOf } from './listing-model.ts'

const pagesMax = 1000

async function walk({ backend }: TestStore, query: ObjectQuery): Promise<Page<ListedKey>[]> {
  const pages: Page<ListedKey>[] = []
  let start: PageStart | undefined = query.start
  do {
    const { page } = await listObjects(backend, scope, { ...query, start })
    pages.push(page)
    start = page.next
  } while (start !== undefined && pages.length < pagesMax)
  return pages
}

const all: ObjectQuery = { prefix: '', delimiter: '', max: 1000, start: undefined }

describe('a listing', () => {
  it('shows over all its pages what the model shows, page by page, and reads one entry more for each page but the last', async () => {
    await fc.assert(
      fc.asyncProperty(listingCases, async ({ keys, prefix, delimiter, max, afterKey }) => {
        const made = await storeWithBucket()
        await fill(made.backend.kv, 'bucket', keys)
        // Neighbours on both sides, whose keys no listing of this bucket may reach.
        for (const name of ['bucke', 'bucket-', 'bucket0']) await fill(made.backend.kv, name, ['a', '/', '\uffff'])
        const lines = modelListing(keys, { prefix, delimiter, afterKey })

        made.kv.entriesRead = 0
        const pages = await walk(made, {
          prefix,
          delimiter,
          max,
          start: afterKey === undefined ? undefined : { afterKey },
        })
        expect(pages).toHaveLength(Math.max(1, Math.ceil(lines.length / max)))
        for (const [i, page] of pages.entries()) {
          const expected = lines.slice(i * max, (i + 1) * max)
          expect(page.entries.map(({ key }) => key)).toEqual(textsOf(expected, 'entry'))
          expect(page.groups).toEqual(textsOf(expected, 'group'))
        }
        expect(made.kv.entriesRead).toBe(lines.length + pages.length - 1)
      }),
      { numRuns: 300 },
    )
  })

  it('is in order of UTF-8 bytes, which is not the order of strings', async () => {
    const made = await storeWithBucket()
    const keys = ['\uffff', '😀', 'z', 'Z', 'é', '\0', 'a\0', 'a', 'a\u0001', '\u{10ffff}']
    for (const key of keys) await put(made, key)
    const [page] = await walk(made, all)
    const listed = page?.entries.map(({ key }) => key)
    expect(listed).toEqual(inByteOrder(keys))
    expect(listed?.indexOf('\uffff')).toBeLessThan(listed?.indexOf('😀') ?? 0)
  })

  it('shows of each object what it is', async () => {
    const made = await storeWithBucket()
    const record = await put(made, 'key', 'data')
    const { page } = await listObjects(made.backend, scope, all)
    const { kind, versionId, size, etag, modifiedMs, sequence } = record
    const entry = { key: 'key', object: { kind, versionId, size, etag, modifiedMs, sequence } }
    expect(page).toEqual({ entries: [entry], groups: [], next: undefined })
  })

  it('of no keys is an empty last page, whatever the bucket holds', async () => {
    const made = await storeWithBucket()
    await put(made, 'key')
    const { page } = await listObjects(made.backend, scope, { ...all, max: 0 })
    expect(page).toEqual({ entries: [], groups: [], next: undefined })
  })

  it.each([
    ['a start behind everything', { start: { afterKey: '\u{10ffff}' } }, []],
    ['a start longer than any key', { start: { afterKey: 'k'.repeat(5000) } }, ['l']],
    ['a start before the prefix', { prefix: 'l', start: { afterKey: 'a' } }, ['l']],
    ['a start behind the prefix', { prefix: 'k', start: { afterKey: 'l' } }, []],
    ['a prefix longer than any key', { prefix: 'k'.repeat(5000) }, []],
    ['a delimiter longer than any key', { delimiter: '/'.repeat(5000) }, ['k', 'l']],
    ['an empty start', { start: { afterKey: '' } }, ['k', 'l']],
  ] satisfies [string, Partial<ObjectQuery>, string[]][])('takes %s', async (_what, query, expected) => {
    const made = await storeWithBucket()
    await put(made, 'k')
    await put(made, 'l')
    const { page } = await listObjects(made.backend, scope, { ...all, ...query })
    expect(page.entries.map(({ key }) => key)).toEqual(expected)
    expect(page.next).toBeUndefined()
  })

  it('sees every object whose write has ended, and none whose deletion has', async () => {
    const made = await storeWithBucket()
    await Promise.all(Array.from({ length: 50 }, (_, i) => put(made, `k${i}`)))
    await Promise.all(Array.from({ length: 20 }, (_, i) => deleteObject(made.backend, scope, { key: `k${i}` })))
    const { page } = await listObjects(made.backend, scope, all)
    expect(page.entries.map(({ key }) => key)).toEqual(Array.from({ length: 30 }, (_, i) => `k${i + 20}`))
  })

  it('of a bucket that is not there is NoSuchBucket, also of no keys', async () => {
    const { backend } = await storeWithBucket()
    expect(await outcome(listObjects(backend, scopeOf('other'), all))).toBe('NoSuchBucket')
    expect(await outcome(listObjects(backend, scopeOf('other'), { ...all, max: 0 }))).toBe('NoSuchBucket')
  })
})
