/** What a listing page shows of what was found, and where the next one starts. */
import { describe, expect, it } from 'vitest'
import { findsMax, groupOf, type ListingQuery, pageOf, startBehind } from '../../src/store/listing.ts'

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

/** A page as text: its entries as they are, its groups in brackets, and where the next one starts. */
function paged(query: ListingQuery, found: readonly string[]): string {
  const { entries, groups, next } = pageOf(
    query,
    found,
    (key) => key,
    (key, each) => `${key}=${each}`,
  )
  const start =
    next === undefined ? 'end' : 'afterKey' in next ? `after ${next.afterKey}` : `after [${next.afterGroup}]`
  return [...entries, ...groups.map((group) => `[${group}]`), start].join(' ')
}

describe('a page', () => {
  it.each([
    ['of nothing is the last', '', 2, '', 'end'],
    ['takes all there is', '', 2, 'a b', 'a=a b=b end'],
    ['takes entries until it is full', '', 2, 'a b c', 'a=a b=b after b'],
    ['counts a group once, however many of its keys were found', '/', 2, 'a/1 a/2 b c', 'b=b [a/] after b'],
    ['goes on behind its last group though it is full', '/', 1, 'a/1 a/2 b/1', '[a/] after [a/]'],
    ['is the last one when only its last group goes on', '/', 1, 'a/1 a/2', '[a/] end'],
    ['starts the next one behind an entry that came after a group', '/', 2, 'a/1 b c/1', 'b=b [a/] after b'],
    ['knows a group again behind an entry', '/', 9, 'a a/1 a/2 b b/', 'a=a b=b [a/] [b/] end'],
  ])('%s', (_what, delimiter, max, found, expected) => {
    expect(paged({ prefix: '', delimiter, max }, found.split(' ').filter(Boolean))).toBe(expected)
  })

  it('groups behind its prefix', () => {
    expect(paged({ prefix: 'a/', delimiter: '/', max: 9 }, ['a/', 'a/b', 'a/b/c', 'a/b/d'])).toBe(
      'a/=a/ a/b=a/b [a/b/] end',
    )
  })

  it('asks to show nothing beyond what it shows by itself', () => {
    const asked: string[] = []
    const found = ['a', 'b/1', 'b/2', 'c', 'd']
    pageOf({ prefix: '', delimiter: '/', max: 3 }, found, String, (key) => asked.push(key))
    expect(asked).toEqual(['a', 'c'])
    expect(findsMax({ prefix: '', delimiter: '/', max: 3 })).toBe(4)
  })
})

describe('a marker', () => {
  it.each([
    ['a/', '', '/', { afterGroup: 'a/' }],
    ['a/b', '', '/', { afterKey: 'a/b' }],
    ['a/b/', '', '/', { afterKey: 'a/b/' }],
    ['a/b/', 'a/', '/', { afterGroup: 'a/b/' }],
    ['a/', 'a/', '/', { afterKey: 'a/' }],
    ['a/', 'b', '/', { afterKey: 'a/' }],
    ['a/', '', '', { afterKey: 'a/' }],
  ])('%j behind prefix %j, folded at %j, is %j', (marker, prefix, delimiter, expected) => {
    expect(startBehind(marker, { prefix, delimiter })).toEqual(expected)
  })
})
