/** What clients set on an object: defaults, what is not stored, and how much metadata there may be. */
import { describe, expect, it } from 'vitest'
import { limits } from '../../../src/limits.ts'
import { objectAttributes } from '../../../src/operations/objects/object-attributes.ts'
import { outcomeOf } from '../../objects/fixture.ts'

const max = limits.userMetadataBytesMax

describe('attributes', () => {
  it('are kept as they came', () => {
    const headers = {
      contentType: 'text/plain; charset=utf-8',
      contentEncoding: 'gzip',
      contentLanguage: 'de, en',
      contentDisposition: 'attachment; filename="a"',
      cacheControl: 'no-cache',
      expires: 'not even a date',
    }
    expect(objectAttributes({ ...headers, metadata: { Name: 'value' }, tagging: 'a=b' })).toEqual({
      headers,
      metadata: { Name: 'value' },
      tags: [{ key: 'a', value: 'b' }],
    })
  })

  it('of an object that nothing was said about', () => {
    expect(objectAttributes({ metadata: {} })).toEqual({
      headers: { contentType: 'binary/octet-stream' },
      metadata: {},
      tags: [],
    })
  })

  it.each([
    ['aws-chunked', undefined],
    ['aws-chunked,gzip', 'gzip'],
    ['gzip,aws-chunked', 'gzip'],
    ['gzip, aws-chunked, br', 'gzip, br'],
    ['AWS-Chunked', undefined],
    ['gzip', 'gzip'],
    ['gzip,br', 'gzip,br'],
    ['', undefined],
    ['gzip , br', 'gzip , br'],
    ['x-aws-chunked', 'x-aws-chunked'],
  ])('store of the content encoding %j what the object has: %s', (sent, stored) => {
    expect(objectAttributes({ contentEncoding: sent, metadata: {} }).headers.contentEncoding).toBe(stored)
  })

  it.each([
    ['one value of the most', { a: 'v'.repeat(max - 1) }, 'ok'],
    ['one byte more', { a: 'v'.repeat(max) }, 'MetadataTooLarge'],
    ['a name of the most', { ['n'.repeat(max)]: '' }, 'ok'],
    ['a name that is too long', { ['n'.repeat(max)]: 'v' }, 'MetadataTooLarge'],
    ['many', Object.fromEntries(Array.from({ length: max / 4 }, (_, i) => [`${1000 + i}`, ''])), 'ok'],
    [
      'too many',
      Object.fromEntries(Array.from({ length: max / 4 + 1 }, (_, i) => [`${1000 + i}`, ''])),
      'MetadataTooLarge',
    ],
  ])('hold metadata of %s: %s', (_what, metadata, expected) => {
    expect(outcomeOf(() => objectAttributes({ metadata }))).toBe(expected)
  })

  it.each([
    ['one of the most', 'ok', { cacheControl: 'v'.repeat(max - 13) }],
    ['one byte more', 'MetadataTooLarge', { cacheControl: 'v'.repeat(max - 12) }],
    ['a location under its name in AWS', 'ok', { websiteRedirectLocation: 'v'.repeat(max - 31) }],
    ['a location of one byte more', 'MetadataTooLarge', { websiteRedirectLocation: 'v'.repeat(max - 30) }],
    [
      'each, which together are too many',
      'MetadataTooLarge',
      {
        contentType: 'v'.repeat(400),
        contentEncoding: 'v'.repeat(400),
        contentLanguage: 'v'.repeat(400),
        contentDisposition: 'v'.repeat(400),
        expires: 'v'.repeat(400),
      },
    ],
  ])('hold headers of %s: %s', (_what, expected, headers) => {
    expect(outcomeOf(() => objectAttributes({ metadata: {}, ...headers }))).toBe(expected)
  })

  it('refuse tags that are none', () => {
    expect(outcomeOf(() => objectAttributes({ metadata: {}, tagging: 'a=1&a=2' }))).toBe('InvalidArgument')
    expect(outcomeOf(() => objectAttributes({ metadata: {}, tagging: '%' }))).toBe('InvalidArgument')
    expect(objectAttributes({ metadata: {}, tagging: '' }).tags).toEqual([])
  })
})
