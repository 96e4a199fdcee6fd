import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type KeyPair, pairedKeys, planCurrent, planHistory } from '../../src/imports/compare.ts'
import type { ListedKey, ListedVersion } from '../../src/imports/listing.ts'
import { compareUtf8 } from '../../src/rules/utf8-order.ts'

const importedMs = 1_000
const object = (etag: string, modifiedMs = 0, size = 1): ListedVersion => ({
  isMarker: false,
  versionId: undefined,
  size,
  etag,
  modifiedMs,
})
const marker: ListedVersion = { isMarker: true, versionId: 'm', size: 0, etag: '', modifiedMs: 0 }
const strict = { overwrite: false, ignoreEtags: false }

describe('the plan for the newest object of a key', () => {
  const rows: [string, ListedVersion | undefined, ListedVersion | undefined, Partial<typeof strict>, string][] = [
    ['not here', object('a'), undefined, {}, 'copy'],
    ['not there', undefined, object('a'), {}, 'same'],
    ['the same', object('a'), object('a', importedMs), {}, 'same'],
    ['the same, which seems to be older here', object('a', importedMs), object('a'), {}, 'same'],
    ['changed there since', object('b', importedMs + 1), object('a', importedMs), {}, 'copy'],
    ['changed there in the same second', object('b', importedMs), object('a', importedMs), {}, 'copy'],
    ['changed here since', object('a'), object('b', importedMs), {}, 'newer here'],
    ['changed here since, but to be overwritten', object('a'), object('b', importedMs), { overwrite: true }, 'copy'],
    ['the same, to be overwritten', object('a'), object('a', importedMs), { overwrite: true }, 'same'],
    ['the same ETag of another size', object('a', 5_000, 2), object('a', importedMs), {}, 'copy'],
    ['of parts that the source does not tell', object('a-2'), object('b-3', importedMs), {}, 'same'],
    ['of such parts, and changed since', object('a-2', 5_000), object('b-3', importedMs), {}, 'copy'],
    ['another ETag, which counts for nothing', object('a'), object('b', importedMs), { ignoreEtags: true }, 'same'],
    ['changed since, whatever ETags say', object('a', 5_000), object('b', importedMs), { ignoreEtags: true }, 'copy'],
  ]
  it.each(rows)('%s', (_, source, target, how, kind) => {
    expect(planCurrent(source, target, { ...strict, ...how })).toMatchObject({ kind })
  })
})

describe('the plan for all versions of a key', () => {
  /** One letter a version, the oldest first. A dash is a delete marker. */
  const history = (text: string, modifiedMs = 0): ListedVersion[] =>
    [...text].map((letter) => (letter === '-' ? marker : object(letter, modifiedMs)))
  const written = (versions: readonly ListedVersion[]): string =>
    versions.map(({ isMarker, etag }) => (isMarker ? '-' : etag)).join('')
  const planned = (source: string, target: string): string => {
    const plan = planHistory(history(source), history(target, importedMs), strict)
    return plan.kind === 'copy' ? written(plan.versions) : plan.kind
  }
  it.each([
    ['abc', '', 'abc'],
    ['abc', 'abc', 'same'],
    ['abc', 'a', 'bc'],
    ['ab-c', 'ab', '-c'],
    ['ab-', 'ab-', 'same'],
    ['--', '-', '-'],
    ['aaa', 'aa', 'a'],
    // Its oldest were removed there since.
    ['cd', 'abc', 'd'],
    ['c', 'abc', 'same'],
    ['', 'abc', 'same'],
    // Written here since, or removed there in the middle.
    ['abc', 'abcx', 'diverged'],
    ['abc', 'x', 'diverged'],
    ['acd', 'abc', 'diverged'],
    ['ab', 'a-', 'diverged'],
  ])('%s there, %s here: %s', (source, target, expected) => {
    expect(planned(source, target)).toBe(expected)
  })

  it('an import that was broken off anywhere is completed by the next, however often versions repeat', () => {
    const texts = fc.array(fc.constantFrom('a', 'b', '-'), { minLength: 1, maxLength: 12 }).map((all) => all.join(''))
    fc.assert(
      fc.property(texts, fc.nat(), (source, cut) => {
        const here = source.slice(0, cut % (source.length + 1))
        const plan = planned(source, here)
        expect(plan === 'same' ? '' : plan).toBe(source.slice(here.length))
      }),
    )
  })
})

describe('two listings at once', () => {
  async function* listing(keys: readonly string[]): AsyncGenerator<ListedKey> {
    for (const key of keys) yield { key, versions: [] }
  }
  const all = async (pairs: AsyncIterable<KeyPair>): Promise<KeyPair[]> => {
    const found: KeyPair[] = []
    for await (const pair of pairs) found.push(pair)
    return found
  }
  const inOrder = (keys: readonly string[]): string[] => [...new Set(keys)].sort(compareUtf8)
  const keysOf = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }), { maxLength: 20 }).map(inOrder)

  it('meet at every key that both have, and name every other one once', async () => {
    await fc.assert(
      fc.asyncProperty(keysOf, keysOf, async (left, right) => {
        const pairs = await all(pairedKeys(listing(left), listing(right)))
        expect(pairs.map(({ key }) => key)).toEqual(inOrder([...left, ...right]))
        expect(pairs.flatMap(({ source }) => source?.key ?? [])).toEqual(left)
        expect(pairs.flatMap(({ target }) => target?.key ?? [])).toEqual(right)
        for (const { key, source, target } of pairs) {
          for (const side of [source, target]) expect(side?.key ?? key).toBe(key)
        }
      }),
    )
  })

  it('fail when one is in another order, in which nothing could be found', async () => {
    const pairs = pairedKeys(listing(['b', 'a']), listing([]))
    await expect(all(pairs)).rejects.toThrow(/names 'b' before 'a', which is not S3's order/)
  })
})
