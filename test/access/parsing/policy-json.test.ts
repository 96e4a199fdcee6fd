import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Json, JsonNumber, parseJson } from '../../../src/access/parsing/policy-json.ts'

function plain(value: Json): unknown {
  if (value instanceof JsonNumber) return Number(value.text)
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, of]) => [name, plain(of)]))
  return Array.isArray(value) ? value.map(plain) : value
}

describe('JSON of a policy', () => {
  it('is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4, noUnicodeString: false }), (text) => {
        if (text.includes('__proto__')) return
        expect(plain(parseJson(text))).toEqual(JSON.parse(text))
      }),
      { numRuns: 500 },
    )
  })

  it('is refused where JSON.parse refuses it', () => {
    const broken = fc
      .tuple(fc.json({ maxDepth: 3 }), fc.nat(), fc.constantFrom('', '}', ',', '"', ':', '\\', '\u0001', '[', '0', 't'))
      .map(
        ([text, at, char]) => text.slice(0, at % (text.length + 1)) + char + text.slice((at % (text.length + 1)) + 1),
      )
    fc.assert(
      fc.property(broken, (text) => {
        try {
          JSON.parse(text)
        } catch {
          expect(() => parseJson(text)).toThrow('at character')
        }
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['{"a":1,"a":2}', '"a" is given twice'],
    ['{"a":1,"\\u0061":2}', '"a" is given twice'],
    [`${'['.repeat(10_000)}`, 'nested deeper than 8'],
    ['{"a":1} x', 'something follows its end'],
    ['01', 'something follows its end'],
    ['{"a":1,}', 'a name is missing'],
  ])('is refused: %j, because %s', (text, message) => {
    expect(() => parseJson(text)).toThrow(message)
  })
})
