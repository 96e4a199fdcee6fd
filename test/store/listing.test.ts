/** What a listing page shows, key by key, and how far it reads ahead. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { groupOf, ListingPage, type ListingQuery, ReadAhead } from '../../src/store/listing.ts'

describe('the group of a key', () => {
  it.each([
    ['a/b', '', '/', 'a/'],
    ['a/b/c', '', '/', 'a/'],
    ['a/b/c', 'a/', '/', 'a/b/'],
    ['a/b/c', 'a', '/', 'a/'],
    ['a/', '', '/', 'a/'],
    ['a/', 'a/', '/', undefined],
    ['a//b', 'a/', '/', 'a//'],
    ['/', '', '/', '/'],
    ['/a', '', '/', '/'],
    ['a', '', '/', undefined],
    ['a/b', '', '', undefined],
    ['a/b', 'a/b', '/', undefined],
    ['aXXb', '', 'XX', 'aXX'],
    ['aXXXb', '', 'XX', 'aXX'],
    ['aXXXb', 'aX', 'XX', 'aXXX'],
    ['aXb', '', 'XX', undefined],
    ['a\0b', '', '\0', 'a\0'],
    ['a😀b', '', '😀', 'a😀'],
    ['aaa', '', 'a', 'a'],
    ['aaa', 'a', 'a', 'aa'],
  ])('%j behind prefix %j, folded at %j, is %j', (key, prefix, delimiter, expected) => {
    expect(groupOf(key, prefix, delimiter)).toBe(expected)
  })
})

function judged(query: ListingQuery, keys: string[]): string[] {
  const page = new ListingPage(query)
  return keys.map((key) => {
    const verdict = page.judge(key)
    return verdict.kind === 'group' ? `${verdict.fresh ? 'group' : 'again'} ${verdict.group}` : verdict.kind
  })
}

describe('a page', () => {
  it('takes entries until it is full', () => {
    expect(judged({ prefix: '', delimiter: '', max: 2 }, ['a', 'b', 'c'])).toEqual(['entry', 'entry', 'full'])
  })

  it('counts a group once, however many keys it has', () => {
    const query = { prefix: '', delimiter: '/', max: 2 }
    expect(judged(query, ['a/1', 'a/2', 'b', 'c'])).toEqual(['group a/', 'again a/', 'entry', 'full'])
  })

  it('goes on behind its last group though it is full', () => {
    const query = { prefix: '', delimiter: '/', max: 1 }
    expect(judged(query, ['a/1', 'a/2', 'b/1'])).toEqual(['group a/', 'again a/', 'full'])
  })

  it('neither shows nor counts the group that the page before showed', () => {
    const query = { prefix: '', delimiter: '/', max: 1, shownGroup: 'a/' }
    expect(judged(query, ['a/2', 'b/1', 'c'])).toEqual(['again a/', 'group b/', 'full'])
  })

  it('says what room it has left', () => {
    const page = new ListingPage({ prefix: '', delimiter: '/', max: 2 })
    page.judge('a/1')
    page.judge('a/2')
    expect(page.room).toBe(1)
    page.judge('b')
    expect(page.room).toBe(0)
  })
})

describe('reading ahead', () => {
  it('without grouping takes all that the page can show, and one to know whether there is more', () => {
    expect(new ReadAhead(false).take(1000)).toBe(1001)
    expect(new ReadAhead(false).take(0)).toBe(1)
  })

  it('with grouping starts small, doubles, and starts again at each group', () => {
    const ahead = new ReadAhead(true)
    expect([1000, 999, 997, 993].map((room) => ahead.take(room))).toEqual([1, 2, 4, 8])
    ahead.reset()
    expect([900, 899].map((room) => ahead.take(room))).toEqual([1, 2])
  })

  it('never takes more than the page can use', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(fc.tuple(fc.nat(50), fc.boolean())), (grouping, steps) => {
        const ahead = new ReadAhead(grouping)
        for (const [room, isGroup] of steps) {
          const taken = ahead.take(room)
          expect(taken).toBeGreaterThan(0)
          expect(taken).toBeLessThanOrEqual(room + 1)
          if (isGroup) ahead.reset()
        }
      }),
    )
  })
})
