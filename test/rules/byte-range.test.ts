/** The Range header by rows, and against every valid range of small objects. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ByteRange, resolveRange } from '../../src/rules/byte-range.ts'
import { outcomeOf } from '../objects/fixture.ts'

const range = (start: number, end: number): ByteRange => ({ start, end })

describe('a range header', () => {
  it.each([
    ['bytes=0-0', 10, range(0, 1)],
    ['bytes=0-9', 10, range(0, 10)],
    ['bytes=0-10', 10, range(0, 10)],
    ['bytes=0-99999999999999999999', 10, range(0, 10)],
    ['bytes=9-', 10, range(9, 10)],
    ['bytes=0-', 10, range(0, 10)],
    ['bytes=-1', 10, range(9, 10)],
    ['bytes=-10', 10, range(0, 10)],
    ['bytes=-11', 10, range(0, 10)],
    ['bytes=-99999999999999999999', 10, range(0, 10)],
    ['BYTES=1-2', 10, range(1, 3)],
    ['bytes=0001-0002', 10, range(1, 3)],
  ])('%s of %i bytes', (header, size, expected) => {
    expect(resolveRange(header, size)).toEqual(expected)
  })

  it.each([
    ['bytes=10-', 10],
    ['bytes=10-10', 10],
    ['bytes=99999999999999999999-', 10],
    ['bytes=-0', 10],
    ['bytes=0-', 0],
    ['bytes=0-0', 0],
    ['bytes=-0', 0],
  ])('%s of %i bytes cannot be satisfied, and the answer says what could', (header, size) => {
    expect(outcomeOf(() => resolveRange(header, size))).toBe('InvalidRange')
    expect(() => resolveRange(header, size)).toThrow(
      expect.objectContaining({
        status: 416,
        headers: { 'Content-Range': `bytes */${size}` },
        details: { RangeRequested: header, ActualObjectSize: String(size) },
      }),
    )
  })

  it.each([
    'bytes=-',
    'bytes=',
    'bytes',
    '',
    'bytes=5-4',
    'bytes=a-b',
    'bytes=1-2,4-5',
    'bytes=0-0,',
    'items=0-1',
    'bytes=1.5-2',
    'bytes=--1',
    'bytes=1--2',
    'bytes=+1-2',
    'bytes 0-1',
    'bytes=0x1-2',
    'bytes= -1',
    'bytes=0 -1',
    'bytes=0- 1',
    'bytes =0-1',
    ' bytes=0-1',
  ])('%s is no single range, and is ignored', (header) => {
    expect(resolveRange(header, 10)).toBeUndefined()
  })

  it.each(['bytes=-1', 'bytes=-99999999999999999999'])('%s of an empty object is all of it', (header) => {
    expect(resolveRange(header, 0)).toBeUndefined()
  })

  it('gives what slicing gives, for any bounds', () => {
    const bound = fc.option(fc.nat(40), { nil: undefined })
    fc.assert(
      fc.property(bound, bound, fc.integer({ min: 1, max: 30 }), (first, last, size) => {
        const bytes = Array.from({ length: size }, (_, i) => i)
        const header = `bytes=${first ?? ''}-${last ?? ''}`
        const expected =
          first === undefined
            ? last === undefined
              ? bytes
              : last === 0
                ? []
                : bytes.slice(-last)
            : bytes.slice(first, last === undefined ? size : last + 1)
        if (first !== undefined && last !== undefined && last < first) {
          expect(resolveRange(header, size)).toBeUndefined()
        } else if (expected.length === 0) {
          expect(outcomeOf(() => resolveRange(header, size))).toBe('InvalidRange')
        } else {
          const found = resolveRange(header, size) ?? range(0, size)
          expect(bytes.slice(found.start, found.end)).toEqual(expected)
        }
      }),
    )
  })
})
