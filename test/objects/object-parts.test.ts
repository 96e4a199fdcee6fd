/** Where parts lie in an object: runs, places, and ranges that any list of parts covers exactly. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { locatePart, partsCount, partsWithin, toRuns } from '../../src/objects/object-parts.ts'

const parts = (...pairs: [number: number, size: number][]) => pairs.map(([number, size]) => ({ number, size }))

describe('runs of parts', () => {
  it.each([
    ['nothing', [], []],
    ['one part', parts([1, 5]), [{ first: 1, count: 1, size: 5 }]],
    ['equal parts in a row', parts([1, 5], [2, 5], [3, 5]), [{ first: 1, count: 3, size: 5 }]],
    [
      'a short last part',
      parts([1, 5], [2, 5], [3, 2]),
      [
        { first: 1, count: 2, size: 5 },
        { first: 3, count: 1, size: 2 },
      ],
    ],
    [
      'a gap in the numbers',
      parts([1, 5], [3, 5]),
      [
        { first: 1, count: 1, size: 5 },
        { first: 3, count: 1, size: 5 },
      ],
    ],
    ['an empty part', parts([7, 0]), [{ first: 7, count: 1, size: 0 }]],
  ])('of %s', (_name, given, expected) => {
    expect(toRuns(given)).toEqual(expected)
  })

  it('ten thousand equal parts are one run', () => {
    const all = Array.from({ length: 10_000 }, (_, i) => ({ number: i + 1, size: 8 }))
    expect(toRuns(all)).toEqual([{ first: 1, count: 10_000, size: 8 }])
    expect(partsCount(toRuns(all))).toBe(10_000)
  })
})

/** Parts with rising numbers; sizes repeat often, so that there are runs. */
const partLists = fc
  .array(fc.record({ step: fc.integer({ min: 1, max: 3 }), size: fc.constantFrom(0, 1, 4, 4, 4, 5, 9) }), {
    minLength: 1,
    maxLength: 30,
  })
  .map((steps) => {
    let number = 0
    return steps.map(({ step, size }) => {
      number += step
      return { number, size }
    })
  })

describe('places of parts', () => {
  it('are those of laying the parts one behind the other', () => {
    fc.assert(
      fc.property(partLists, (list) => {
        const runs = toRuns(list)
        expect(partsCount(runs)).toBe(list.length)
        let start = 0
        for (const { number, size } of list) {
          expect(locatePart(runs, number)).toEqual({ number, range: { start, end: start + size } })
          start += size
        }
        const numbers = new Set(list.map(({ number }) => number))
        for (let number = 0; number <= 100; number++) {
          if (!numbers.has(number)) expect(locatePart(runs, number)).toBeUndefined()
        }
      }),
    )
  })

  it('within a range are the parts that hold bytes of it, and cover it exactly', () => {
    fc.assert(
      fc.property(partLists, fc.nat(), fc.nat(), (list, a, b) => {
        const size = list.reduce((sum, part) => sum + part.size, 0)
        fc.pre(size > 0)
        const start = a % size
        const end = start + 1 + (b % (size - start))
        const runs = toRuns(list)
        const places = partsWithin(runs, { start, end })

        const bytesOf = places.flatMap(({ range }) =>
          Array.from({ length: range.end - range.start }, (_, i) => range.start + i),
        )
        const covered = bytesOf.filter((byte) => byte >= start && byte < end)
        expect(covered).toEqual(Array.from({ length: end - start }, (_, i) => start + i))
        for (const place of places) {
          expect(place).toEqual(locatePart(runs, place.number))
          expect(place.range.start).toBeLessThan(end)
          expect(place.range.end).toBeGreaterThan(start)
        }
      }),
      { numRuns: 500 },
    )
  })
})
