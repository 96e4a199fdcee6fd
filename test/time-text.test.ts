import fc from 'fast-check'
import { expect, test } from 'vitest'
import { httpDate, isoTime } from '../src/time-text.ts'

const anyMs = fc.oneof(
  fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 }),
  fc.date({ noInvalidDate: true }).map((date) => date.getTime()),
  fc.double({ min: 0, max: 4_102_444_800_000, noNaN: true }),
)

test('times read as the platform writes them, whatever was written before', () => {
  fc.assert(
    fc.property(fc.array(anyMs, { minLength: 1 }), (times) => {
      for (const ms of times) {
        expect(isoTime(ms)).toBe(new Date(ms).toISOString())
        expect(httpDate(ms)).toBe(new Date(ms).toUTCString())
      }
    }),
  )
})

test('what is no time is refused, also after one that is', () => {
  isoTime(0)
  for (const ms of [Number.NaN, Number.POSITIVE_INFINITY]) expect(() => isoTime(ms)).toThrow(RangeError)
})
