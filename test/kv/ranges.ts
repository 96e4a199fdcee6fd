/** What an engine must do with ranges that fold, and with several at once: part of the suite of `suite.ts`. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Entry, Fold, Kv, RangeQuery } from '../../src/kv/kv.ts'
import { endOfPrefix, packKey, packTail, rangeStartingWith } from '../../src/kv/ordered-key.ts'
import { groupOf } from '../../src/rules/listing.ts'
import { bytes, put } from './text-entries.ts'

const head = 'table'
const textOfKey = ({ key }: Entry): string => key.toString()

/** Of each entry its key and value, taken while the engine lends them. */
const asText = ({ key, value }: Entry): string => `${key}=${value}`

/** How a text becomes a key, in either form, so that bytes that another form's escape could take for its own lie behind it. */
const forms: { text: Fold['text']; keyOf(text: string): Buffer; headKey: Buffer; all(prefix: string): RangeQuery }[] = [
  {
    text: 'tail',
    keyOf: (text) => packTail([head], text),
    headKey: packKey(head),
    all: (prefix) => {
      const start = packTail([head], prefix)
      return { start, end: endOfPrefix(start), limit: 99 }
    },
  },
  {
    text: 'element',
    keyOf: (text) => packKey(head, text, 0x2f2f2f2f2f2f),
    headKey: packKey(head),
    all: (prefix) => ({ ...rangeStartingWith([head], prefix), limit: 99 }),
  },
]

const unit = fc.constantFrom('a', 'a', 'b', '/', '/', '\0', '\u0001', 'é', '\uffff', '😀')
const shortText = (minLength: number, maxLength: number) => fc.string({ unit, minLength, maxLength })
const foldCases = fc.record({
  texts: fc.uniqueArray(shortText(1, 6), { maxLength: 30 }),
  prefix: shortText(0, 2),
  delimiter: shortText(1, 2),
  limit: fc.integer({ min: 1, max: 9 }),
})

/** Worked out the slow way. */
function folded(texts: readonly string[], prefix: string, delimiter: string): string[] {
  const seen = new Set<string>()
  return [...texts]
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .filter((text) => {
      if (!text.startsWith(prefix)) return false
      const group = groupOf(text, prefix, delimiter)
      if (group === undefined) return true
      const isFirst = !seen.has(group)
      seen.add(group)
      return isFirst
    })
}

let runs = 0

export function itReadsRanges(kv: () => Kv): void {
  const ranges = async <T>(queries: readonly RangeQuery[], read: (entry: Entry, query: number) => T): Promise<T[][]> =>
    (await kv().view([], queries, read)).found

  describe('a range that folds', () => {
    const fold = { head: Buffer.alloc(0), text: 'tail', from: 0, delimiter: bytes('/') } as const
    const all = { start: bytes('a'), end: bytes('z'), limit: 99 }

    it.each<[string, Partial<RangeQuery>, Partial<Fold>, string[]]>([
      ['gives the first of each group, and what is in none', {}, {}, ['a', 'b/1', 'c', 'd//', 'e/f/1']],
      ['begins within a group', { start: bytes('b/2') }, {}, ['b/2', 'c', 'd//', 'e/f/1']],
      ['looks for the delimiter from a byte on', { start: bytes('e/') }, { from: 2 }, ['e/f/1', 'e/g/1', 'e/h']],
      ['does not count what it leaves out', { limit: 3 }, {}, ['a', 'b/1', 'c']],
      ['ends where the range does', { end: bytes('b/2') }, {}, ['a', 'b/1']],
      ['gives nothing for a limit of 0', { limit: 0 }, {}, []],
      [
        'takes a delimiter of several bytes',
        {},
        { delimiter: bytes('/f') },
        [...['a', 'b/1', 'b/2', 'b/3', 'c', 'd//', 'd//1', 'e/f/1', 'e/g/1', 'e/h']],
      ],
    ])('%s', async (_what, query, how, expected) => {
      const keys = ['a', 'b/1', 'b/2', 'b/3', 'c', 'd//', 'd//1', 'e/f/1', 'e/f/2', 'e/g/1', 'e/h']
      await kv().commit({ puts: keys.map((key) => put(key)) })
      const found = await kv().range({ ...all, ...query, fold: { ...fold, ...how } })
      expect(found.map(textOfKey)).toEqual(expected)
    })

    it.each(forms)('finds the groups of any texts, as $text', async ({ text, keyOf, headKey, all }) => {
      await fc.assert(
        fc.asyncProperty(foldCases, async ({ texts, prefix, delimiter, limit }) => {
          await clear(kv())
          const mark = String(++runs)
          await kv().commit({
            puts: [
              ...texts.map((each) => ({ key: keyOf(each), value: bytes(mark + each) })),
              // A neighbour behind the range, which a fold must not come to.
              { key: packKey(`${head}0`, 'a/'), value: bytes('neighbour') },
            ],
          })
          const how = { head: headKey, text, from: Buffer.byteLength(prefix), delimiter: Buffer.from(delimiter) }
          const range = all(prefix)
          const expected = folded(texts, prefix, delimiter).map((each) => mark + each)
          const [found, first] = await ranges(
            [
              { ...range, fold: how },
              { ...range, fold: how, limit },
            ],
            ({ value }) => value.toString(),
          )
          expect(found).toEqual(expected)
          expect(first).toEqual(expected.slice(0, limit))
        }),
        { numRuns: 150 },
      )
    })

    it('goes forward only, and not at nothing', async () => {
      await expect(kv().range({ ...all, fold, reverse: true })).rejects.toThrow('forward')
      await expect(kv().range({ ...all, fold: { ...fold, delimiter: Buffer.alloc(0) } })).rejects.toThrow('nothing')
    })
  })

  describe('several ranges at once', () => {
    it('are given each in its place, bound and order', async () => {
      await kv().commit({ puts: ['a', 'b', 'c', 'd'].map((key) => put(key, key.toUpperCase())) })
      const queries = [
        { start: bytes('b'), end: bytes('z'), limit: 2 },
        { start: bytes('x'), end: bytes('z'), limit: 9 },
        { start: bytes('a'), end: bytes('c'), limit: 9, reverse: true },
        { start: bytes('z'), end: bytes('a'), limit: 9 },
      ]
      const found = await ranges(queries, (entry, place) => `${place}: ${asText(entry)}`)
      expect(found).toEqual([['0: b=B', '0: c=C'], [], ['2: b=B', '2: a=A'], []])
      expect(await ranges([], asText)).toEqual([])
    })

    it('are given with the entries of keys, in their order', async () => {
      await kv().commit({ puts: ['a', 'b', 'c'].map((key) => put(key, key.toUpperCase())) })
      const keys = ['c', 'x', 'a'].map(bytes)
      const { entries, found } = await kv().view(keys, [{ start: bytes('a'), end: bytes('c'), limit: 9 }], asText)
      expect(entries).toEqual(await kv().get(keys))
      expect(entries.map((entry) => entry?.value.toString())).toEqual(['C', undefined, 'A'])
      expect(found).toEqual([['a=A', 'b=B']])
    })

    it('show entries of any size, one after the other, with the versions that get gives', async () => {
      const sizes = [0, 1, 3000, 4096, 4097, 2, 100_000, 1, 0]
      const puts = sizes.map((size, i) => ({ key: bytes(`k${'y'.repeat(i)}`), value: Buffer.alloc(size, `${i}`) }))
      await kv().commit({ puts })
      const query = { start: bytes('k'), end: bytes('l'), limit: 99 }
      const [seen] = await ranges([query], ({ key, value, version }) => ({
        key: Buffer.from(key),
        value: Buffer.from(value),
        version,
      }))
      const got = await kv().get(puts.map(({ key }) => key))
      expect(seen).toEqual(got.toSorted((a, b) => (a?.key.length ?? 0) - (b?.key.length ?? 0)))
      expect(seen?.map(({ value }) => value.length)).toEqual(sizes)
    })

    it('reject with what their reader throws, and the next ones are read', async () => {
      await kv().commit({ puts: [put('a', '1'), put('b', '2')] })
      const query = { start: bytes('a'), end: bytes('c'), limit: 9 }
      const refuse = ({ value }: Entry): string => {
        if (value.toString() === '2') throw new Error('not this one')
        return 'taken'
      }
      await expect(ranges([query], refuse)).rejects.toThrow('not this one')
      expect(await ranges([query, query], asText)).toEqual([
        ['a=1', 'b=2'],
        ['a=1', 'b=2'],
      ])
    })
  })
}

async function clear(kv: Kv): Promise<void> {
  const entries = await kv.range({ start: bytes('\0'), end: Buffer.from([0xff]), limit: 999 })
  await kv.commit({ deletes: entries.map(({ key }) => key) })
}
