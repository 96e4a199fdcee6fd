/** Tag sets by rows: S3's limits and characters, and the header's spelling of them. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { limits } from '../../src/limits.ts'
import type { Tag } from '../../src/records/object-attributes.ts'
import { checkTags, parseTaggingHeader } from '../../src/rules/tag-set.ts'
import { outcomeOf } from '../objects/fixture.ts'

const tag = (key: string, value = 'v'): Tag => ({ key, value })
const tags = (count: number): Tag[] => Array.from({ length: count }, (_, i) => tag(`key-${i}`))

describe('a tag set', () => {
  it.each([
    ['nothing', [], 'ok'],
    ['an empty value', [tag('k', '')], 'ok'],
    ['every character that S3 allows', [tag('aZ09 +-=._:/@', 'aZ09 +-=._:/@')], 'ok'],
    ['letters, marks and digits of other scripts', [tag('Größe', 'हिन्दी ٣ 漢字')], 'ok'],
    ['letters beyond U+FFFF', [tag('𐐀', '𠀀')], 'ok'],
    ['keys that differ by case', [tag('a'), tag('A')], 'ok'],
    ['one value twice', [tag('a', 'v'), tag('b', 'v')], 'ok'],
    ['a key of 128 characters', [tag('k'.repeat(128))], 'ok'],
    ['a value of 256 characters', [tag('k', 'v'.repeat(256))], 'ok'],
    ['aws: inside a key', [tag('my-aws:key', 'aws:value')], 'ok'],
    ['an empty key', [tag('')], 'InvalidTag'],
    ['a key of 129 characters', [tag('k'.repeat(129))], 'InvalidTag'],
    ['a value of 257 characters', [tag('k', 'v'.repeat(257))], 'InvalidTag'],
    ['a key that S3 keeps for itself', [tag('aws:created')], 'InvalidTag'],
    ['the same in capitals', [tag('AWS:created')], 'InvalidTag'],
    ['a key twice', [tag('a', '1'), tag('a', '2')], 'InvalidTag'],
    ['a control character in a key', [tag('a\u0001')], 'InvalidTag'],
    ['a line feed behind a key', [tag('a\n')], 'InvalidTag'],
    ['a line feed in a value', [tag('a', 'b\nc')], 'InvalidTag'],
    ['NUL', [tag('a', '\0')], 'InvalidTag'],
    ['markup', [tag('<a>')], 'InvalidTag'],
    ['an ampersand', [tag('a', 'b&c')], 'InvalidTag'],
    ['a symbol', [tag('a', '😀')], 'InvalidTag'],
    ['a lone surrogate', [tag('a', '\ud800')], 'InvalidTag'],
  ])('with %s: %s', (_what, set, expected) => {
    expect(outcomeOf(() => checkTags(set as Tag[], 'object'))).toBe(expected)
    expect(outcomeOf(() => checkTags(set as Tag[], 'bucket'))).toBe(expected)
  })

  it.each([
    ['object', limits.objectTagsMax],
    ['bucket', limits.bucketTagsMax],
  ] as const)('of %s has at most %i tags', (of, max) => {
    expect(checkTags(tags(max), of)).toEqual(tags(max))
    expect(outcomeOf(() => checkTags(tags(max + 1), of))).toBe('BadRequest')
  })

  it('names the tag that is wrong', () => {
    expect(() => checkTags([tag('fine'), tag('not\0fine')], 'object')).toThrow(
      expect.objectContaining({ details: { TagKey: 'not\0fine' } }),
    )
    expect(() => checkTags([tag('key', 'not\0fine')], 'object')).toThrow(
      expect.objectContaining({ details: { TagKey: 'key', TagValue: 'not\0fine' } }),
    )
  })
})

describe('a tagging header', () => {
  it.each([
    ['', []],
    ['a=b', [tag('a', 'b')]],
    ['a=b&c=d', [tag('a', 'b'), tag('c', 'd')]],
    ['a', [tag('a', '')]],
    ['a=', [tag('a', '')]],
    ['a=b=c', [tag('a', 'b=c')]],
    ['a+b=c%20d', [tag('a b', 'c d')]],
    ['a%2Bb=c%3Dd', [tag('a+b', 'c=d')]],
    ['Gr%C3%B6%C3%9Fe=%F0%A0%80%80', [tag('Größe', '𠀀')]],
    ['a=b&', [{ key: 'a', value: 'b' }]],
    [
      '&a=b&&c=d',
      [
        { key: 'a', value: 'b' },
        { key: 'c', value: 'd' },
      ],
    ],
    ['&', []],
  ])('%s', (header, expected) => {
    expect(parseTaggingHeader(header)).toEqual(expected)
  })

  it.each([
    ['a=%', 'InvalidArgument'],
    ['a=%zz', 'InvalidArgument'],
    ['%ff=b', 'InvalidArgument'],
    ['a=%ED%A0%80', 'InvalidArgument'],
    ['=b', 'InvalidTag'],
    ['a=b&=c', 'InvalidTag'],
    ['a=1&a=2', 'InvalidArgument'],
    ['a=1&%61=2', 'InvalidArgument'],
    ['a=%00', 'InvalidArgument'],
    ['a=1,b=2', 'InvalidArgument'],
    ['aws:mine=1', 'InvalidTag'],
    [`${'k'.repeat(129)}=v`, 'InvalidTag'],
    [
      tags(limits.objectTagsMax + 1)
        .map(({ key }) => `${key}=v`)
        .join('&'),
      'BadRequest',
    ],
  ])('%s: %s', (header, expected) => {
    expect(outcomeOf(() => parseTaggingHeader(header))).toBe(expected)
  })

  it('gives back any tag set that a client encodes', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'Z', '0', ' ', '+', '-', '=', '.', '_', ':', '/', '@', 'ß', '漢', '𠀀'),
      maxLength: 20,
    })
    const sets = fc.uniqueArray(
      fc.record({ key: text.filter((key) => key !== '' && !key.startsWith('aws:')), value: text }),
      {
        maxLength: limits.objectTagsMax,
        selector: ({ key }) => key,
      },
    )
    fc.assert(
      fc.property(sets, (set) => {
        const header = set.map(({ key, value }) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&')
        expect(parseTaggingHeader(header)).toEqual(set)
        expect(
          parseTaggingHeader(
            new URLSearchParams(set.map(({ key, value }): [string, string] => [key, value])).toString(),
          ),
        ).toEqual(set)
      }),
    )
  })
})
