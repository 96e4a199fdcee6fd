import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ElementKind,
  endOfPrefix,
  type KeyElement,
  keyAfter,
  packKey,
  packTail,
  rangeOf,
  rangeStartingWith,
  unpackKey,
} from '../../src/kv/ordered-key.ts'
import { limits } from '../../src/limits.ts'

// Bytes that matter to the escape are common here, and runs of NULs longer than one count holds.
const hostileBytes = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(0, 1, 0x7f, 0x80, 0x81, 0xff).map((byte) => Buffer.from([byte])) },
      { weight: 1, arbitrary: fc.constantFrom(126, 127, 128, 254, 255, 300).map((run) => Buffer.alloc(run)) },
    ),
    { maxLength: 6 },
  )
  .map((pieces) => Buffer.concat(pieces))

const hostileText = fc
  .array(fc.constantFrom('\0', '\x01', 'a', '/', '\u007f', '\u00e9', '\ud7ff', '\uffff', '\u{10000}', '\u{10ffff}'), {
    maxLength: 5,
  })
  .map((characters) => characters.join(''))

const number48 = fc.oneof(fc.constantFrom(0, 1, 255, 256, 2 ** 32, 2 ** 48 - 1), fc.nat({ max: 2 ** 48 - 1 }))

/** Pairs of tuples of the same kinds. They often share their first elements: that is where order goes wrong. */
const tuplePair = fc
  .array(fc.constantFrom<ElementKind>('string', 'bytes', 'number'), { minLength: 1, maxLength: 4 })
  .chain((kinds) => {
    const tuple = fc.tuple(
      ...kinds.map((kind): fc.Arbitrary<KeyElement> => {
        if (kind === 'number') return number48
        return kind === 'string' ? hostileText : hostileBytes
      }),
    )
    return fc
      .tuple(tuple, tuple, fc.nat({ max: kinds.length }), fc.nat({ max: kinds.length }))
      .map(([a, other, shared, length]) => ({
        kinds,
        a,
        b: [...a.slice(0, shared), ...other.slice(shared)].slice(0, length),
      }))
  })

function bytesOf(element: KeyElement): Buffer {
  if (typeof element !== 'number') return Buffer.from(element)
  const bytes = Buffer.alloc(6)
  bytes.writeUIntBE(element, 0, 6)
  return bytes
}

function compareTuples(a: readonly KeyElement[], b: readonly KeyElement[]): number {
  for (const [i, element] of a.entries()) {
    const other = b[i]
    if (other === undefined) return 1
    const order = Buffer.compare(bytesOf(element), bytesOf(other))
    if (order !== 0) return order
  }
  return a.length - b.length
}

const inRange = (key: Buffer, range: { start: Buffer; end: Buffer }): boolean =>
  Buffer.compare(range.start, key) <= 0 && Buffer.compare(key, range.end) < 0

describe('packKey', () => {
  it('keeps the order of tuples', () => {
    fc.assert(
      fc.property(tuplePair, ({ a, b }) => {
        expect(Math.sign(Buffer.compare(packKey(...a), packKey(...b)))).toBe(Math.sign(compareTuples(a, b)))
      }),
      { numRuns: 5000 },
    )
  })

  it('keeps the order of every string of four hostile bytes', () => {
    const alphabet = [0, 1, 0x80, 0xff]
    const strings = [Buffer.alloc(0)]
    for (const string of strings) {
      if (string.length < 4) strings.push(...alphabet.map((byte) => Buffer.concat([string, Buffer.from([byte])])))
    }
    strings.sort(Buffer.compare)
    const packed = strings.map((string) => packKey(string, 'behind'))
    expect(packed.toSorted(Buffer.compare)).toEqual(packed)
  })

  it('keeps the order of runs of NULs, whatever follows them', () => {
    const strings = Array.from({ length: 400 }, (_, run) => [
      Buffer.alloc(run),
      Buffer.concat([Buffer.alloc(run), Buffer.from([1])]),
    ])
      .flat()
      .sort(Buffer.compare)
    const packed = strings.map((string) => packKey(string, 7))
    expect(packed.toSorted(Buffer.compare)).toEqual(packed)
  })

  it('gives back what it packed', () => {
    fc.assert(
      fc.property(tuplePair, ({ kinds, a }) => {
        expect(unpackKey(packKey(...a), kinds)).toEqual(a)
      }),
      { numRuns: 2000 },
    )
  })

  it('sorts above U+FFFF as UTF-8 does, not as JavaScript does', () => {
    expect('\u{10000}' < '\uffff').toBe(true)
    expect(Buffer.compare(packKey('\uffff'), packKey('\u{10000}'))).toBe(-1)
  })

  it('gives the prefix of all longer tuples, and of no other', () => {
    fc.assert(
      fc.property(tuplePair, ({ a, b }) => {
        const longer = compareTuples(a.slice(0, b.length), b) === 0
        expect(inRange(packKey(...a), rangeOf(...b))).toBe(longer)
      }),
      { numRuns: 2000 },
    )
  })

  it('needs at most one and a half times the bytes of the worst element, and two', () => {
    fc.assert(
      fc.property(hostileBytes, (bytes) => {
        expect(packKey(bytes).length).toBeLessThanOrEqual(1.5 * bytes.length + 2)
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['NULs only', (_: number) => 0],
    ['a NUL at every other place', (i: number) => i % 2],
    ['a NUL at every other place, from the second', (i: number) => (i + 1) % 2],
    ['0xff only', () => 0xff],
  ])('fits the longest object key with %s into a key of the store', (_name, byteAt) => {
    const objectKey = Buffer.from(Array.from({ length: limits.keyBytesMax }, (_, i) => byteAt(i)))
    const key = packKey('v', 'b'.repeat(63), objectKey, 2 ** 48 - 1, '0123456789abcdef0123456789abcdef')
    expect(key.length).toBeLessThanOrEqual(limits.kvKeyBytesMax)
    expect(unpackKey(key, ['string', 'string', 'bytes', 'number', 'string'])[2]).toEqual(objectKey)
  })

  it('takes elements larger than any key, as bounds of ranges may be', () => {
    const long = `${'\0x'.repeat(40_000)}\u{10ffff}`
    expect(unpackKey(packKey('a', long, 1), ['string', 'string', 'number'])).toEqual(['a', long, 1])
  })

  it.each([-1, 1.5, 2 ** 48, Number.NaN])('refuses the number %d', (number) => {
    expect(() => packKey(number)).toThrow('48-bit')
  })

  it.each(['\ud800', 'a\udc00b', '\udc00\ud800'])(
    'refuses a lone surrogate, which UTF-8 would make another key',
    (text) => {
      expect(() => packKey(text)).toThrow('surrogate')
      expect(() => packTail(['c'], text)).toThrow('surrogate')
    },
  )
})

describe('rangeStartingWith', () => {
  it('holds the tuples whose next element starts with the prefix, and no other', () => {
    const pair = fc.oneof(
      fc.tuple(hostileBytes, hostileBytes),
      fc.tuple(hostileBytes, hostileBytes).map(([prefix, rest]) => [prefix, Buffer.concat([prefix, rest])] as const),
    )
    fc.assert(
      fc.property(pair, hostileText, ([prefix, element], suffix) => {
        const starts = element.subarray(0, prefix.length).equals(prefix)
        expect(inRange(packKey('u', element, suffix), rangeStartingWith(['u'], prefix))).toBe(starts)
        expect(inRange(packKey('u', element), rangeStartingWith(['u'], prefix))).toBe(starts)
      }),
      { numRuns: 5000 },
    )
  })

  it('tells runs of NULs apart by their length', () => {
    for (let run = 0; run < 300; run++) {
      const range = rangeStartingWith(['u'], Buffer.alloc(run))
      for (const length of [0, 1, run - 1, run, run + 1, run + 127, run + 128].filter((n) => n >= 0)) {
        expect(inRange(packKey('u', Buffer.alloc(length), 1), range)).toBe(length >= run)
        expect(inRange(packKey('u', Buffer.concat([Buffer.alloc(length), Buffer.from('x')])), range)).toBe(
          length >= run,
        )
      }
    }
  })

  it('does not reach other heads', () => {
    const range = rangeStartingWith(['u', 'id'], '')
    expect(inRange(packKey('u', 'id', 'a'), range)).toBe(true)
    expect(inRange(packKey('u', 'ie', 'a'), range)).toBe(false)
    expect(inRange(packKey('u', 'id\0', 'a'), range)).toBe(false)
  })
})

describe('packTail', () => {
  it('orders by the raw tail, and its prefixes are prefixes', () => {
    fc.assert(
      fc.property(hostileBytes, hostileBytes, (a, b) => {
        const [packedA, packedB] = [packTail(['c', 'bucket'], a), packTail(['c', 'bucket'], b)]
        expect(Buffer.compare(packedA, packedB)).toBe(Buffer.compare(a, b))
        const range = { start: packedB, end: endOfPrefix(packedB) }
        expect(inRange(packedA, range)).toBe(a.subarray(0, b.length).equals(b))
      }),
      { numRuns: 2000 },
    )
  })

  it('gives back what it packed', () => {
    fc.assert(
      fc.property(hostileText, hostileText, hostileBytes, (bucket, text, bytes) => {
        expect(unpackKey(packTail(['c', bucket], text), ['string', 'string', 'string-tail'])).toEqual([
          'c',
          bucket,
          text,
        ])
        expect(unpackKey(packTail([7, bucket], bytes), ['number', 'string', 'bytes-tail'])).toEqual([7, bucket, bytes])
      }),
    )
  })

  it('has the key of the head as its prefix', () => {
    const range = rangeOf('c', 'bucket')
    expect(inRange(packTail(['c', 'bucket'], '\uffff'), range)).toBe(true)
    expect(inRange(packTail(['c', 'bucket2'], ''), range)).toBe(false)
  })
})

describe('unpackKey', () => {
  it.each([
    ['more elements', packKey('a', 'b'), ['string']],
    ['fewer elements', packKey('a'), ['string', 'string']],
    ['a number cut short', packKey(1).subarray(0, 5), ['number']],
    ['a string without end', Buffer.from('ab'), ['string']],
    ['a string that ends inside its escape', Buffer.from([97, 0]), ['string']],
  ] as [string, Buffer, ElementKind[]][])('refuses a key with %s', (_name, key, kinds) => {
    expect(() => unpackKey(key, kinds)).toThrow()
  })
})

describe('bounds', () => {
  it('endOfPrefix is the first key behind all keys with the prefix', () => {
    fc.assert(
      fc.property(hostileBytes, hostileBytes, (prefix, key) => {
        fc.pre(key.length > 0)
        const behind = !key.subarray(0, prefix.length).equals(prefix) && Buffer.compare(key, prefix) > 0
        expect(Buffer.compare(key, endOfPrefix(prefix)) >= 0).toBe(behind)
      }),
      { numRuns: 2000 },
    )
  })

  it('keyAfter leaves no room between', () => {
    const key = packKey('a', 'b')
    expect(keyAfter(key)).toEqual(Buffer.concat([key, Buffer.from([0])]))
  })
})
