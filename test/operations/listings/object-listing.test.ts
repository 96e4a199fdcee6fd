/** The encoding of listings, their entries, and walking one by markers and by tokens as clients do. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Operation } from '../../../src/contract/operation.ts'
import type { OperationContext } from '../../../src/operations/context.ts'
import { listObjectsOperation } from '../../../src/operations/listings/list-objects.ts'
import { listObjectsV2Operation } from '../../../src/operations/listings/list-objects-v2.ts'
import { contentsOf, pageSize, textEncoder } from '../../../src/operations/listings/object-listing.ts'
import { restoreStatusIn } from '../../../src/operations/objects/restore-status.ts'
import { run } from '../../../src/operations/run.ts'
import { startBehind } from '../../../src/rules/listing.ts'
import { storeWithBucket, type TestStore } from '../../objects/fixture.ts'
import { fill, listingCases, modelListing, textsOf } from '../../objects/listing-model.ts'
import { request } from '../fixture.ts'

describe('url encoding', () => {
  const encode = textEncoder('url')

  it.each([
    ['a/b', 'a/b'],
    ['a b', 'a%20b'],
    ['a+b', 'a%2Bb'],
    ['a%b', 'a%25b'],
    ['a&b=c?d#e', 'a%26b%3Dc%3Fd%23e'],
    ['-_.~*', '-_.~*'],
    ["!'()", '%21%27%28%29'],
    ['\0\n', '%00%0A'],
    ['größe', 'gr%C3%B6%C3%9Fe'],
    ['😀\uffff', '%F0%9F%98%80%EF%BF%BF'],
    ['', ''],
  ])('of %j is %s', (raw, expected) => {
    expect(encode(raw)).toBe(expected)
  })

  it('is ASCII that XML can hold, and decodes to what it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (raw) => {
        expect(encode(raw)).toMatch(/^[\w/.~*%-]*$/)
        expect(decodeURIComponent(encode(raw))).toBe(raw)
      }),
    )
  })

  it('changes nothing unless it is asked for', () => {
    expect(textEncoder(undefined)('a b/😀')).toBe('a b/😀')
  })
})

it.each([
  [undefined, 1000],
  [0, 0],
  [1, 1],
  [1000, 1000],
  [1001, 1000],
  [2 ** 31 - 1, 1000],
])('max-keys %s is a page of %i', (asked, expected) => {
  expect(pageSize(asked)).toBe(expected)
})

describe('an entry', () => {
  const listed = {
    kind: 'object' as const,
    versionId: 'null',
    size: 3,
    etag: 'e',
    modifiedMs: 5,
    sequence: 1,
    checksum: undefined,
  }

  it('says what the object is, and whose when asked', () => {
    const expected = { Key: 'a%20b', Size: 3, ETag: 'e', LastModified: 5, StorageClass: 'STANDARD' }
    expect(
      contentsOf([{ key: 'a b', object: listed }], textEncoder('url'), undefined, restoreStatusIn(undefined)),
    ).toEqual([expected])
    expect(
      contentsOf(
        [{ key: 'a b', object: listed }],
        textEncoder('url'),
        () => ({ ID: 'main', DisplayName: 'Main' }),
        restoreStatusIn(undefined),
      ),
    ).toEqual([{ ...expected, Owner: { ID: 'main', DisplayName: 'Main' } }])
  })

  it('names its checksum', () => {
    const object = { ...listed, checksum: { algorithm: 'SHA1' as const, type: 'COMPOSITE' as const } }
    expect(contentsOf([{ key: 'a b', object }], (raw) => raw, undefined, restoreStatusIn(undefined))[0]).toMatchObject({
      ChecksumAlgorithm: 'SHA1',
      ChecksumType: 'COMPOSITE',
    })
  })
})

interface ListingBody {
  Contents: { Key: string }[]
  CommonPrefixes: { Prefix: string }[]
  IsTruncated: boolean
  NextMarker?: string
  NextContinuationToken?: string
  KeyCount?: number
}

async function page(
  made: TestStore,
  operation: Operation<OperationContext>,
  input: Record<string, unknown>,
): Promise<ListingBody> {
  const { body } = await run(operation, request(made), input)
  return body as ListingBody
}

const pagesMax = 200

/** All pages, each asked for as the one before says. */
async function walk(
  made: TestStore,
  operation: Operation<OperationContext>,
  input: Record<string, unknown>,
): Promise<ListingBody[]> {
  const pages: ListingBody[] = []
  let next: Record<string, unknown> = {}
  while (pages.length < pagesMax) {
    const body = await page(made, operation, { ...input, ...next })
    pages.push(body)
    if (!body.IsTruncated) break
    next =
      body.NextMarker === undefined ? { continuationToken: body.NextContinuationToken } : { marker: body.NextMarker }
  }
  return pages
}

describe.each([
  ['ListObjects by markers', listObjectsOperation, 'marker'],
  ['ListObjectsV2 by tokens', listObjectsV2Operation, 'startAfter'],
] as const)('%s', (_name, operation, startName) => {
  it('shows each key and each prefix once, in order, in full pages', async () => {
    await fc.assert(
      fc.asyncProperty(listingCases, async ({ keys, prefix, delimiter, max, afterKey }) => {
        const made = await storeWithBucket()
        await fill(made.backend.kv, 'bucket', keys)
        // A start that names a common prefix means all keys under it, and a marker often does: the model begins there with no start.
        const isGroup = afterKey !== undefined && 'afterGroup' in startBehind(afterKey, { prefix, delimiter })
        const start = operation === listObjectsOperation || isGroup ? undefined : afterKey
        const lines = modelListing(keys, { prefix, delimiter, afterKey: start })
        const pages = await walk(made, operation, { prefix, delimiter, maxKeys: max, [startName]: start })
        expect(pages.flatMap(({ Contents }) => Contents.map(({ Key }) => Key))).toEqual(textsOf(lines, 'entry'))
        const prefixes = pages.flatMap(({ CommonPrefixes }) => CommonPrefixes.map(({ Prefix }) => Prefix))
        expect(prefixes).toEqual(textsOf(lines, 'group'))
        for (const body of pages.slice(0, -1)) expect(body.Contents.length + body.CommonPrefixes.length).toBe(max)
      }),
      { numRuns: 200 },
    )
  })

  it('of no keys is an empty page that is not truncated', async () => {
    const made = await storeWithBucket()
    await fill(made.backend.kv, 'bucket', ['a'])
    const body = await page(made, operation, { maxKeys: 0 })
    expect(body).toMatchObject({ Contents: [], CommonPrefixes: [], IsTruncated: false, MaxKeys: 0 })
  })
})

describe('a marker', () => {
  it.each([
    ['a/', '/', '', ['b', 'b/', 'c']],
    ['a/1', '/', '', ['a/', 'b', 'b/', 'c']],
    ['a', '/', '', ['a/', 'b', 'b/', 'c']],
    ['b', '/', '', ['b/', 'c']],
    ['a/', '', '', ['a/1', 'a/2', 'b', 'b/1', 'c']],
    ['a/', '/', 'a/', ['a/1', 'a/2']],
    // No marker of one character ends in a delimiter of two.
    ['a', '/x', '', ['a/1', 'a/2', 'b', 'b/1', 'c']],
    ['b', '1b', '', ['b/1', 'c']],
  ])('of %s with delimiter %j and prefix %j goes on with %j', async (marker, delimiter, prefix, expected) => {
    const made = await storeWithBucket()
    await fill(made.backend.kv, 'bucket', ['a', 'a/1', 'a/2', 'b', 'b/1', 'c'])
    const body = await page(made, listObjectsOperation, { marker, delimiter, prefix })
    const lines = [...body.Contents.map(({ Key }) => Key), ...body.CommonPrefixes.map(({ Prefix }) => Prefix)]
    expect(lines.sort()).toEqual(expected)
  })
})

describe('a continuation token', () => {
  it('counts more than start-after, which clients repeat', async () => {
    const made = await storeWithBucket()
    await fill(made.backend.kv, 'bucket', ['a', 'b', 'c', 'd'])
    const first = await page(made, listObjectsV2Operation, { startAfter: 'a', maxKeys: 1 })
    expect(first).toMatchObject({ KeyCount: 1, StartAfter: 'a', IsTruncated: true })
    const second = await page(made, listObjectsV2Operation, {
      startAfter: 'a',
      continuationToken: first.NextContinuationToken,
    })
    expect(second.Contents.map(({ Key }) => Key)).toEqual(['c', 'd'])
  })
})
