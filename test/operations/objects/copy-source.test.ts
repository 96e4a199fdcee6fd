/** The source of a copy by rows: how it is spelled, and the range taken from it. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { copyConditions, copyRange, parseCopySource } from '../../../src/operations/objects/copy-source.ts'
import { outcomeOf } from '../../objects/fixture.ts'

/** A header as it arrives: one character a byte. */
const asHeader = (text: string): string => Buffer.from(text).toString('latin1')

describe('a copy source', () => {
  it.each([
    ['bucket/key', 'bucket', 'key'],
    ['/bucket/key', 'bucket', 'key'],
    ['bucket/a/b/', 'bucket', 'a/b/'],
    ['bucket//key', 'bucket', '/key'],
    ['/bucket//', 'bucket', '/'],
    ['bucket%2Fkey', 'bucket', 'key'],
    ['%2Fbucket/key', 'bucket', 'key'],
    ['bucket/a%2Fb', 'bucket', 'a/b'],
    // Go Cloud encodes it so, and a recording of S3 copies that source.
    ['bucket%2Fa+b%2B', 'bucket', 'a b+'],
    ['bucket/a+b', 'bucket', 'a b'],
    ['bucket/a%20b%2Bc', 'bucket', 'a b+c'],
    ['bucket/a%252Fb', 'bucket', 'a%2Fb'],
    ['bucket/%3F', 'bucket', '?'],
    ['bucket/..', 'bucket', '..'],
    ['bucket/%00', 'bucket', '\0'],
    ['bucket/%F0%9F%98%80', 'bucket', '😀'],
    ['bucket/key?versionId=null', 'bucket', 'key'],
    ['bucket/key?versionId=%6Eull', 'bucket', 'key'],
    [asHeader('bucket/größe'), 'bucket', 'größe'],
    [`bucket/${'k'.repeat(1024)}`, 'bucket', 'k'.repeat(1024)],
  ])('%j', (header, bucket, key) => {
    expect(parseCopySource(header)).toMatchObject({ bucket, key })
  })

  it.each([
    ['', 'InvalidArgument'],
    ['/', 'InvalidArgument'],
    ['bucket', 'InvalidArgument'],
    ['bucket/', 'InvalidArgument'],
    ['/bucket/', 'InvalidArgument'],
    ['//key', 'InvalidArgument'],
    ['bucket/%', 'InvalidArgument'],
    ['bucket/%zz', 'InvalidArgument'],
    ['bucket/%ff', 'InvalidArgument'],
    ['bucket/%c0%af', 'InvalidArgument'],
    ['bucket/%ED%A0%80', 'InvalidArgument'],
    ['bucket/\xff', 'InvalidArgument'],
    ['bucket/key?', 'InvalidArgument'],
    ['bucket/key?x=y', 'InvalidArgument'],
    ['bucket/key?versionId=', 'InvalidArgument'],
    ['bucket/key?versionId=abc', 'InvalidArgument'],
    ['bucket/key?versionId=nul%6', 'InvalidArgument'],
    [`bucket/${'k'.repeat(1025)}`, 'KeyTooLongError'],
    [`bucket/${'%C3%A9'.repeat(513)}`, 'KeyTooLongError'],
  ])('%j: %s', (header, expected) => {
    expect(outcomeOf(() => parseCopySource(header))).toBe(expected)
  })

  it('names any bucket and key that a client encodes', () => {
    const bucket = fc.stringMatching(/^[a-z0-9.-]{1,20}$/)
    const key = fc.string({ unit: 'binary', minLength: 1, maxLength: 50 })
    fc.assert(
      fc.property(bucket, key, (name, text) => {
        const path = `${name}/${encodeURIComponent(text)}`
        expect(parseCopySource(path)).toEqual({ bucket: name, key: text, versionId: undefined })
        expect(parseCopySource(`/${path}?versionId=null`)).toEqual({ bucket: name, key: text, versionId: 'null' })
      }),
    )
  })

  it('has the conditions of its own headers', () => {
    const input = {
      copySourceIfMatch: 'a',
      copySourceIfNoneMatch: 'b',
      copySourceIfModifiedSince: 1,
      copySourceIfUnmodifiedSince: 2,
    }
    const expected = { ifMatch: 'a', ifNoneMatch: 'b', ifModifiedSinceMs: 1, ifUnmodifiedSinceMs: 2 }
    expect(copyConditions(input)).toEqual(expected)
  })
})

describe('the range of a copy', () => {
  it.each([
    [undefined, 10, { start: 0, end: 10 }],
    [undefined, 0, { start: 0, end: 0 }],
    ['bytes=0-0', 10, { start: 0, end: 1 }],
    ['bytes=0-9', 10, { start: 0, end: 10 }],
    ['bytes=9-9', 10, { start: 9, end: 10 }],
  ])('%s of %i bytes', (header, size, expected) => {
    expect(copyRange(header, size)).toEqual(expected)
  })

  it.each([
    ['bytes=0-10', 10],
    ['bytes=0-99999999999999999999', 10],
    ['bytes=5-4', 10],
    ['bytes=5-', 10],
    ['bytes=-5', 10],
    ['bytes=0-1,3-4', 10],
    ['0-1', 10],
    ['', 10],
    ['bytes=0-1\n', 10],
  ])('%j of %i bytes is refused', (header, size) => {
    expect(outcomeOf(() => copyRange(header, size))).toBe('InvalidArgument')
  })

  it.each([
    ['bytes=10-10', 10],
    ['bytes=11-99', 10],
    ['bytes=0-0', 0],
  ])('%j of %i bytes begins beyond them', (header, size) => {
    expect(outcomeOf(() => copyRange(header, size))).toBe('InvalidRequest')
  })
})
