/** What a listing page shows of what was found, and where the next one starts. */
import { describe, expect, it } from 'vitest'
import { findsMax, groupOf, pageOf, startBehind, startBehindGroup } from '../../src/rules/listing.ts'

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

/** A page as text: its keys as they are, its groups in brackets, and where the next one starts. */
function paged(max: number, found: string): string {
  const lines = found.split(' ').filter(Boolean)
  const { entries, groups, next } = pageOf(
    { max },
    lines.map((line) => (line.startsWith('[') ? line.slice(1, -1) : { key: line })),
  )
  const start =
    next === undefined ? 'end' : 'afterKey' in next ? `after ${next.afterKey}` : `after [${next.afterGroup}]`
  return [...entries.map(({ key }) => key), ...groups.map((group) => `[${group}]`), start].join(' ')
}

describe('a page', () => {
  it.each([
    ['of nothing is the last', 2, '', 'end'],
    ['takes all there is', 2, 'a b', 'a b end'],
    ['takes keys until it is full', 2, 'a b c', 'a b after b'],
    ['counts a group once, however often it was found', 2, '[a/] [a/] b c', 'b [a/] after b'],
    ['goes on behind its last group though it is full', 1, '[a/] [a/] [b/]', '[a/] after [a/]'],
    ['is the last one when only its last group goes on', 1, '[a/] [a/]', '[a/] end'],
    ['starts the next one behind a key that came after a group', 2, '[a/] b [c/]', 'b [a/] after b'],
    [
      'takes the last key that it showed for where the next one starts, also of several alike',
      2,
      'a a a',
      'a a after a',
    ],
  ])('%s', (_what, max, found, expected) => {
    expect(paged(max, found)).toBe(expected)
  })

  it('is filled by one line more than it shows', () => {
    expect(findsMax({ max: 3 })).toBe(4)
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

  it.each([
    ['a/', '', '/', { afterGroup: 'a/' }],
    ['a/b/', '', '/', { afterGroup: 'a/' }],
    ['a/b', 'a/', '/', { afterKey: 'a/b' }],
    ['a/b', 'b', '/', { afterKey: 'a/b' }],
    ['a/b', '', '', { afterKey: 'a/b' }],
  ])('%j of versions behind prefix %j, folded at %j, is %j', (marker, prefix, delimiter, expected) => {
    expect(startBehindGroup(marker, { prefix, delimiter })).toEqual(expected)
  })
})
