/** Listings of versions, page by page, against a model; and what they read for it. */
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { changeBucket } from '../../src/objects/buckets.ts'
import { findVersion } from '../../src/objects/find-version.ts'
import { listObjects } from '../../src/objects/list-objects.ts'
import { listVersions, type VersionPage, type VersionQuery } from '../../src/objects/list-versions.ts'
import { outcome, scope, scopeOf, storeWithBucket, type TestStore } from './fixture.ts'
import {
  asModel,
  filledVersionId,
  fillVersions,
  type Line,
  modelLines,
  takeSteps,
  versionCases,
} from './version-listing-model.ts'

const all: VersionQuery = { prefix: '', delimiter: '', max: 1000, keyMarker: undefined, versionIdMarker: undefined }

async function pageOf({ backend }: TestStore, query: Partial<VersionQuery>): Promise<VersionPage> {
  return (await listVersions(backend, scope, { ...all, ...query })).page
}

/** All pages, of these sizes in turn. */
async function walk(made: TestStore, query: Partial<VersionQuery>, sizes: readonly number[]): Promise<VersionPage[]> {
  const pages: VersionPage[] = []
  let markers: Partial<VersionQuery> = {}
  while (true) {
    const page = await pageOf(made, { ...query, ...markers, max: sizes[pages.length % sizes.length] ?? 1 })
    pages.push(page)
    if (page.next === undefined) return pages
    markers = page.next
  }
}

const entriesOf = (lines: readonly Line[]) => lines.flatMap((line) => ('entry' in line ? [line.entry] : []))
const groupsOf = (lines: readonly Line[]) => lines.flatMap((line) => ('group' in line ? [line.group] : []))

/** A page per size, and nothing else than the model's lines in their order. */
function expectPages(pages: readonly VersionPage[], lines: readonly Line[], sizes: readonly number[]): void {
  let at = 0
  for (const [i, page] of pages.entries()) {
    const size = sizes[i % sizes.length] ?? 1
    const expected = lines.slice(at, at + size)
    at += size
    expect(page.entries.map(asModel)).toEqual(entriesOf(expected))
    expect(page.groups).toEqual(groupsOf(expected))
    expect(page.next === undefined).toBe(at >= lines.length)
  }
}

/** Of two indexes, in each an entry for each line that is shown, and one to know that there is more; two of the key that a page goes on within. */
const readMax = (shown: number, pages: number): number => 2 * (shown + pages) + 2 * pages

describe('a listing of versions', () => {
  it('shows over all its pages what the model shows, whatever was put, deleted, removed and suspended', async () => {
    await fc.assert(
      fc.asyncProperty(versionCases, async ({ steps, prefix, delimiter, pageSizes }) => {
        const made = await storeWithBucket()
        const model = await takeSteps(made, steps)
        // Neighbours on both sides, whose keys no listing of this bucket may reach.
        for (const name of ['bucke', 'bucket-', 'bucket0']) {
          await fillVersions(made.backend.kv, name, [
            ['a', 'om'],
            ['/', 'mo'],
            ['\uffff', 'o'],
          ])
        }
        const lines = modelLines(model, { ...all, prefix, delimiter })
        made.kv.entriesRead = 0
        const pages = await walk(made, { prefix, delimiter }, pageSizes)
        expectPages(pages, lines, pageSizes)
        expect(made.kv.entriesRead).toBeLessThanOrEqual(readMax(lines.length, pages.length))
      }),
      { numRuns: 1000 },
    )
  })

  it('begins behind any markers, also those that no page ever gave', async () => {
    await fc.assert(
      fc.asyncProperty(versionCases, async ({ steps, prefix, delimiter, max, keyMarker, versionPlace }) => {
        const made = await storeWithBucket()
        const model = await takeSteps(made, steps)
        const versions = model.get(keyMarker ?? '') ?? []
        const versionIdMarker =
          versionPlace === undefined ? undefined : versions[versionPlace % Math.max(1, versions.length)]?.versionId
        const query = { prefix, delimiter, keyMarker, versionIdMarker }
        expectPages([await pageOf(made, { ...query, max })], modelLines(model, query).slice(0, max + 1), [max])
      }),
      { numRuns: 1000 },
    )
  })

  it('of no versions is an empty last page, whatever the bucket holds', async () => {
    const made = await storeWithBucket()
    await fillVersions(made.backend.kv, 'bucket', [['a', 'omo']])
    expect(await pageOf(made, { max: 0 })).toEqual({ entries: [], groups: [], next: undefined })
  })

  it.each([
    ['a key marker longer than any key', { keyMarker: 'k'.repeat(5000) }, ['l']],
    ['a key marker before the prefix', { prefix: 'l', keyMarker: 'a' }, ['l']],
    ['a key marker behind the prefix', { prefix: 'k', keyMarker: 'l' }, []],
    ['a prefix longer than any key', { prefix: 'k'.repeat(5000) }, []],
    ['a delimiter longer than any key', { delimiter: '/'.repeat(5000) }, ['k', 'l']],
    ['a version of another key', { keyMarker: 'k', versionIdMarker: filledVersionId(9) }, ['k', 'l']],
    [
      'a null version that has gone, so that what lay behind it is not missed',
      { keyMarker: 'k', versionIdMarker: 'null' },
      ['k', 'l'],
    ],
  ] satisfies [string, Partial<VersionQuery>, string[]][])('takes %s', async (_what, query, expected) => {
    const made = await storeWithBucket()
    await fillVersions(made.backend.kv, 'bucket', [
      ['k', 'm'],
      ['l', 'o'],
    ])
    const page = await pageOf(made, query)
    expect(page.entries.map(({ key }) => key)).toEqual(expected)
    expect(page.next).toBeUndefined()
  })

  it('leaves out the group that the marker lies in, as the group sorts before it', async () => {
    const made = await storeWithBucket()
    await fillVersions(made.backend.kv, 'bucket', [
      ['a/b/c', 'o'],
      ['b/c', 'o'],
    ])
    for (const keyMarker of ['a/', 'a/b', 'a/b/', 'a/c'])
      expect(await pageOf(made, { delimiter: '/', keyMarker })).toMatchObject({ groups: ['b/'] })
    expect(await pageOf(made, { delimiter: '/', keyMarker: 'a' })).toMatchObject({ groups: ['a/', 'b/'] })
  })

  it('of a bucket that is not there is NoSuchBucket, also of no versions', async () => {
    const { backend } = await storeWithBucket()
    expect(await outcome(listVersions(backend, scopeOf('other'), all))).toBe('NoSuchBucket')
    expect(await outcome(listVersions(backend, scopeOf('other'), { ...all, max: 0 }))).toBe('NoSuchBucket')
  })
})

const many = 10_000
const digits = (value: number, width = 5): string => String(value).padStart(width, '0')
/** To know that there is more may cost an entry in each of the two indexes; to go on within a key, its current object and its newest version. */
const extra = 4

describe('of 10,000 versions of one key, with others before and behind', () => {
  let made: TestStore
  beforeAll(async () => {
    made = await storeWithBucket()
    const kinds = Array.from({ length: many }, (_, at) => (at % 10 === 3 ? 'm' : 'o')).join('')
    await fillVersions(made.backend.kv, 'bucket', [
      ['a', 'oo'],
      ['key', kinds],
      ['z', 'oo'],
    ])
  })

  /** The sequences of the key, from the newest. */
  const sequences = Array.from({ length: many }, (_, at) => filledVersionId(many - at))
  const ofKey = (pages: readonly VersionPage[]): string[] =>
    pages.flatMap(({ entries }) => entries.filter(({ key }) => key === 'key').map(({ version }) => version.versionId))

  it.each([
    ['one by one', [1]],
    ['in pages of 1,000', [1000]],
    ['in pages of many sizes', [7, 1, 333, 2, 1000, 64, 999]],
  ])('all are listed once, in order, %s, and each page reads what it shows', async (_how, sizes) => {
    made.kv.entriesRead = 0
    const pages = await walk(made, {}, sizes)
    expect(ofKey(pages)).toEqual(sequences)
    const shown = pages.reduce((sum, { entries }) => sum + entries.length, 0)
    expect(shown).toBe(many + 4)
    expect(made.kv.entriesRead).toBeLessThanOrEqual(shown + extra * pages.length + sizes.length)
  })

  it('a page deep among them reads no more than the first', async () => {
    made.kv.entriesRead = 0
    const page = await pageOf(made, { max: 100, keyMarker: 'key', versionIdMarker: filledVersionId(500) })
    expect(page.entries[0]?.version.versionId).toBe(filledVersionId(499))
    expect(page.entries.every(({ latest }) => !latest)).toBe(true)
    expect(made.kv.entriesRead).toBeLessThanOrEqual(100 + extra)
  })

  it('those behind them are reached without reading them', async () => {
    made.kv.entriesRead = 0
    const page = await pageOf(made, { keyMarker: 'key' })
    expect(page.entries.map(({ key }) => key)).toEqual(['z', 'z'])
    expect(made.kv.entriesRead).toBe(2)
  })
})

/** By the last digit of a key: one version; a deleted one; a delete marker alone; two versions; two, deleted and put again; two delete markers. */
const mixtures = ['o', 'mo', 'm', 'oo', 'omoo', 'mm'] as const
const mixed = (i: number): string => mixtures[i % mixtures.length] ?? ''

describe('of 10,000 keys with versions and delete markers, ten to a folder', () => {
  const keyName = (i: number): string => `f${digits(Math.floor(i / 10), 4)}/${i % 10}`
  const keys = Array.from({ length: many }, (_, i) => keyName(i))
  const lines = keys.flatMap((key, i) =>
    [...mixed(i)].map((kind, at, kinds) => ({
      key,
      latest: at === 0,
      versionId: filledVersionId(kinds.length - at),
      kind: kind === 'm' ? 'marker' : 'object',
    })),
  )
  let made: TestStore
  beforeAll(async () => {
    made = await storeWithBucket()
    await fillVersions(
      made.backend.kv,
      'bucket',
      keys.map((key, i) => [key, mixed(i)]),
    )
  })

  it.each([
    ['in pages of 1,000', [1000]],
    ['in pages of many sizes', [13, 1, 500, 2, 77, 1000]],
  ])(
    'all versions are listed once, in order, %s, and each page reads twice what it shows at most',
    async (_how, sizes) => {
      made.kv.entriesRead = 0
      const pages = await walk(made, {}, sizes)
      expect(pages.flatMap(({ entries }) => entries.map(asModel))).toEqual(lines)
      expect(made.kv.entriesRead).toBeLessThanOrEqual(2 * lines.length + extra * pages.length)
    },
  )

  it('all folders are listed once, in order, and what they fold is skipped', async () => {
    made.kv.entriesRead = 0
    const pages = await walk(made, { delimiter: '/' }, [100])
    expect(pages.flatMap(({ groups }) => groups)).toEqual([...new Set(keys.map((key) => key.slice(0, 6)))])
    expect(pages.flatMap(({ entries }) => entries)).toEqual([])
    const folders = many / 10
    expect(made.kv.entriesRead).toBeLessThanOrEqual(readMax(folders, pages.length))
  })

  it.each([
    ['the first', undefined],
    ['a deep one', keyName(8765)],
  ])('a page of objects, %s, reads no delete marker and no old version', async (_which, afterKey) => {
    made.kv.entriesRead = 0
    const start = afterKey === undefined ? undefined : { afterKey }
    const { page } = await listObjects(made.backend, scope, { prefix: '', delimiter: '', max: 100, start })
    expect(page.entries).toHaveLength(100)
    expect(made.kv.entriesRead).toBe(101)
  })
})

const markers = 1_000_000

describe('of a million delete markers in front of one live key', () => {
  let made: TestStore
  beforeAll(async () => {
    made = await storeWithBucket()
    await fillVersions(made.backend.kv, 'bucket', deletedKeys())
  })
  function* deletedKeys(): Generator<[string, string]> {
    for (let i = 0; i < markers; i++) yield [`deleted/${digits(i, 7)}`, 'm']
    yield ['live', 'o']
  }

  it('a listing of objects reads the live key alone', async () => {
    made.kv.entriesRead = 0
    const { page } = await listObjects(made.backend, scope, { prefix: '', delimiter: '', max: 1000, start: undefined })
    expect(page.entries.map(({ key }) => key)).toEqual(['live'])
    expect(made.kv.entriesRead).toBe(1)
  })

  it('a listing of versions reads a page of them, and only a few when it folds them', async () => {
    made.kv.entriesRead = 0
    expect((await pageOf(made, {})).entries).toHaveLength(1000)
    expect(made.kv.entriesRead).toBeLessThanOrEqual(1000 + extra)
    made.kv.entriesRead = 0
    expect(await pageOf(made, { delimiter: '/' })).toMatchObject({ entries: [{ key: 'live' }], groups: ['deleted/'] })
    expect(made.kv.entriesRead).toBeLessThanOrEqual(readMax(2, 1))
  })

  it('a lookup of a deleted key reads its newest delete marker, and the two neighbours of where it would be', async () => {
    made.kv.entriesRead = 0
    await changeBucket(made.backend, scope, (bucket) => ({ ...bucket, versioning: 'enabled' }))
    expect(await outcome(findVersion(made.backend, scope, `deleted/${digits(4711, 7)}`, undefined))).toBe('NoSuchKey')
    expect(made.kv.entriesRead).toBe(3)
  })
})
