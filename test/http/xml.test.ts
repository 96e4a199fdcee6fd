import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  attribute,
  boolean,
  integer,
  list,
  optional,
  refusedElement,
  type Shape,
  string,
  struct,
  timestamp,
} from '../../src/contract/shapes.ts'
import { S3Error } from '../../src/errors.ts'
import { compileXmlReader } from '../../src/http/xml/xml-read.ts'
import { compileXmlWriter, xmlDeclaration } from '../../src/http/xml/xml-write.ts'
import { limits } from '../../src/limits.ts'

const shape = struct({
  Name: string,
  Size: optional(integer),
  When: optional(timestamp),
  Quiet: optional(boolean),
  Owner: optional(struct({ ID: string })),
  Tag: list(struct({ Key: string, Value: optional(string) })),
  Word: list(string),
})
/** A writer of a document's element, as text. */
function compileText(...shape: Parameters<typeof compileXmlWriter>): (value: unknown) => string {
  const writer = compileXmlWriter(...shape)
  return (value) => writer.element(value).toString()
}

const write = compileText('Root', shape, 'with S3 namespace')
const read = compileXmlReader('Root', shape)
const readText = (document: string): unknown => read(Buffer.from(document))

/** Text that XML can hold at all: no NUL, no lone surrogates, not the two code points that no document may hold. */
const anyText = fc
  .array(fc.string({ unit: 'binary', maxLength: 1 }))
  .map((units) => Buffer.from(units.filter((unit) => !['\0', '\ufffe', '\uffff'].includes(unit)).join('')).toString())
const anyValue = fc.record(
  {
    Name: anyText,
    Size: fc.maxSafeInteger().filter((n) => Math.abs(n) < 1e15),
    When: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-01-01') }).map((date) => date.getTime()),
    Quiet: fc.boolean(),
    Owner: fc.record({ ID: anyText }),
    Tag: fc.array(fc.record({ Key: anyText, Value: anyText }, { requiredKeys: ['Key'] })),
    Word: fc.array(anyText),
  },
  { requiredKeys: ['Name', 'Tag', 'Word'] },
)

describe('XML', () => {
  it('is read as it was written, control characters and all', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(readText(xmlDeclaration + write(value))).toEqual(value)
      }),
      { numRuns: 500 },
    )
  })

  it('carries every character of a key that XML can name', () => {
    for (let code = 1; code < 0x3000; code++) {
      const Name = `a${String.fromCharCode(code)}b`
      expect(readText(write({ Name, Tag: [], Word: [] })), code.toString(16)).toMatchObject({ Name })
    }
  })

  it.each([
    [
      'control characters as references beside raw ones that XML 1.1 would change',
      '<Name>&#x1;\u0085\u2028&#13;</Name>',
      '\u0001\u0085\u2028\r',
    ],
    ['decimal references', '<Name>&#1;&#10;&#65;</Name>', '\u0001\nA'],
    ['CDATA', '<Name><![CDATA[<a>&amp;]]></Name>', '<a>&amp;'],
    ['entities', '<Name>&lt;&gt;&amp;&quot;&apos;</Name>', '<>&"\''],
    ['comments', '<Name>a<!-- b -->c</Name>', 'ac'],
    ['CDATA beside control references', '<Name>&#1;<![CDATA[&#2;]]>b</Name>', '\u0001&#2;b'],
    ['raw line ends, normalised', '<Name>a\r\nb</Name>', 'a\nb'],
    ['white space around elements', '\n  <Name> a </Name>\n', ' a '],
    ['empty elements', '<Name/>', ''],
    ['nothing that is of an object', '<Name>__proto__</Name>', '__proto__'],
    ['white space of any length between elements', `<Name/>${' '.repeat(100_000)}`, ''],
    [
      'the longest text that is allowed',
      `<Name>${'a'.repeat(limits.xmlTextCharsMax)}</Name>`,
      'a'.repeat(limits.xmlTextCharsMax),
    ],
  ])('reads %s', (_what, content, Name) => {
    expect(readText(`<Root>${content}</Root>`)).toEqual({ Name, Tag: [], Word: [] })
  })

  it.each([
    '<?xml version="1.0" encoding="utf-8"?><Root><Name>a</Name></Root>',
    "<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\n<Root xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>a</Name></Root>\n",
    '<Root xmlns="urn:anything"><Name xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="x">a</Name></Root>',
    '\ufeff<Root><Name>a</Name></Root>',
  ])('reads %s', (document) => {
    expect(readText(document)).toMatchObject({ Name: 'a' })
  })

  it.each([
    ['nothing', ''],
    ['white space', '  \n'],
    ['text', 'hello'],
    ['JSON', '{"Root":{}}'],
    ['another root', '<Toor><Name>a</Name></Toor>'],
    ['a second root', '<Root><Name>a</Name></Root><Root/>'],
    ['an end that is missing', '<Root><Name>a</Name>'],
    ['tags that cross', '<Root><Name>a</Root></Name>'],
    ['a required element that is missing', '<Root></Root>'],
    ['a required element inside that is missing', '<Root><Name>a</Name><Owner/></Root>'],
    ['an element twice', '<Root><Name>a</Name><Name>b</Name></Root>'],
    ['an unknown element', '<Root><Name>a</Name><Other/></Root>'],
    ['an element named like what objects inherit', '<Root><Name>a</Name><__proto__>x</__proto__></Root>'],
    ['a constructor', '<Root><Name>a</Name><constructor/></Root>'],
    ['an element in text', '<Root><Name>a<b/></Name></Root>'],
    ['text between elements', '<Root>x<Name>a</Name></Root>'],
    ['an integer that is none', '<Root><Name>a</Name><Size>1x</Size></Root>'],
    ['a boolean that is none', '<Root><Name>a</Name><Quiet>yes</Quiet></Root>'],
    ['a document type', '<!DOCTYPE Root><Root><Name>a</Name></Root>'],
    ['an entity of its own', '<!DOCTYPE r [<!ENTITY x "y">]><Root><Name>&x;</Name></Root>'],
    ['an external entity', '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><Root><Name>&x;</Name></Root>'],
    ['an unknown entity', '<Root><Name>&x;</Name></Root>'],
    ['a processing instruction', '<?php x ?><Root><Name>a</Name></Root>'],
    ['another encoding', '<?xml version="1.0" encoding="ISO-8859-1"?><Root><Name>a</Name></Root>'],
    ['a reference to NUL', '<Root><Name>&#0;</Name></Root>'],
    ['a raw control character', '<Root><Name>\u0001</Name></Root>'],
    ['CDATA that does not end', '<Root><Name>&#1;<![CDATA[a]]></Name></Root>'.replace(']]>', ']>')],
    ['CDATA beside the root', '<Root><Name>a</Name></Root><![CDATA[]]>'],
    ['a reference beside the root', '<Root><Name>a</Name></Root>&#32;'],
    ['a comment that holds two hyphens', '<Root><Name>a<!-- b -- c --></Name></Root>'],
    ['a declaration that is not at the start', ' <?xml version="1.0"?><Root><Name>a</Name></Root>'],
    ['what ends CDATA in text', '<Root><Name>]]></Name></Root>'],
    ['a prefix', '<s:Root xmlns:s="urn:x"><s:Name>a</s:Name></s:Root>'],
    ['a text that is longer than allowed', `<Root><Name>${'a'.repeat(limits.xmlTextCharsMax + 1)}</Name></Root>`],
    [
      'a text that is longer than allowed, in pieces',
      `<Root><Name>${`${'a'.repeat(limits.xmlTextCharsMax / 4)}<!---->`.repeat(4)}a</Name></Root>`,
    ],
    ['more elements than allowed', `<Root><Name>a</Name>${'<Word/>'.repeat(limits.xmlNodesMax)}</Root>`],
  ])('refuses %s as MalformedXML', (_what, document) => {
    expect(() => readText(document)).toThrow(expect.objectContaining({ code: 'MalformedXML' }))
  })

  it.each(['c080', 'ff', 'eda080', 'f4908080', 'e282'])('refuses bytes that are not UTF-8: %s', (hex) => {
    const document = Buffer.concat([
      Buffer.from('<Root><Name>'),
      Buffer.from(hex, 'hex'),
      Buffer.from('</Name></Root>'),
    ])
    expect(() => read(document)).toThrow(expect.objectContaining({ code: 'MalformedXML' }))
  })

  it('answers any damage to a document with a value or MalformedXML, and nothing else', () => {
    const whole = Buffer.from(
      xmlDeclaration + write({ Name: 'a', Size: 1, Owner: { ID: 'b' }, Tag: [{ Key: 'c' }], Word: ['d'] }),
    )
    const damage = fc.array(
      fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }), fc.constantFrom('set', 'cut', 'double')),
      { minLength: 1, maxLength: 6 },
    )
    fc.assert(
      fc.property(damage, (changes) => {
        let document = Buffer.from(whole)
        for (const [at, byte, how] of changes) {
          if (how === 'set' && at < document.length) document[at] = byte
          if (how === 'cut') document = document.subarray(0, at)
          if (how === 'double') document = Buffer.concat([document, document.subarray(at)])
        }
        try {
          read(document)
        } catch (error) {
          expect(error).toBeInstanceOf(S3Error)
          expect(error).toMatchObject({ code: 'MalformedXML' })
        }
      }),
      { numRuns: 5000 },
    )
  })

  it('refuses more depth than allowed, whatever the shape', () => {
    const nest = (depth: number): Shape => (depth === 0 ? string : struct({ A: nest(depth - 1) }))
    const document = (depth: number): Buffer => Buffer.from(`${'<A>'.repeat(depth)}a${'</A>'.repeat(depth)}`)
    const deepest = limits.xmlDepthMax
    expect(() => compileXmlReader('A', nest(deepest - 1))(document(deepest))).not.toThrow()
    expect(() => compileXmlReader('A', nest(deepest))(document(deepest + 1))).toThrow(
      expect.objectContaining({ code: 'MalformedXML' }),
    )
  })

  it('is written whole whatever its size, and so is the next one', () => {
    const plain = compileText('Root', shape, 'without namespace')
    for (const count of [1, 100, 3_000, 100_000, 2, 0]) {
      const words = Array.from(
        { length: count },
        (_, i) => `${i} & some 60 bytes more, of which é and 😀 take several each`,
      )
      const expected = words.map((word) => `<Word>${word.replace('&', '&amp;')}</Word>`).join('')
      expect(plain({ Name: 'a', Tag: [], Word: words }) === `<Root><Name>a</Name>${expected}</Root>`).toBe(true)
    }
  })

  it('leaves nothing of a document that could not be written in the next one', () => {
    const plain = compileText('Root', struct({ Name: string, When: timestamp }), 'without namespace')
    expect(() => plain({ Name: 'lost', When: Number.NaN })).toThrow(RangeError)
    expect(plain({ Name: 'a', When: 0 })).toBe('<Root><Name>a</Name><When>1970-01-01T00:00:00.000Z</When></Root>')
  })

  it('has the namespace of S3 in one dialect only', () => {
    const plain = compileText('Root', shape, 'without namespace')
    expect(plain({ Name: 'a', Tag: [], Word: [] })).toBe('<Root><Name>a</Name></Root>')
    expect(write({ Name: 'a', Tag: [], Word: [] })).toContain('<Root xmlns="http://s3.amazonaws.com/doc/2006-03-01/">')
  })

  it('can have a root that holds only text', () => {
    expect(compileText('LocationConstraint', string, 'without namespace')('eu')).toBe(
      '<LocationConstraint>eu</LocationConstraint>',
    )
    expect(
      compileXmlReader('LocationConstraint', string)(Buffer.from('<LocationConstraint>eu</LocationConstraint>')),
    ).toBe('eu')
  })

  it.each([
    ['a list of lists', struct({ A: list(list(string)) })],
    ['a list as a root', list(string)],
    ['an optional root', optional(string)],
  ])('a shape that no document has is refused at start: %s', (_what, impossible) => {
    expect(() => compileXmlReader('A', impossible)).toThrow('no element of its own')
    expect(() => compileXmlWriter('A', impossible, 'without namespace')).toThrow('no element of its own')
  })
})

describe('attributes', () => {
  const owned = struct({ By: struct({ 'p:kind': attribute(string, 'urn:p'), ID: string }), Others: list(string) })
  const write = compileText('Root', owned, 'without namespace')
  const read = compileXmlReader('Root', owned)
  const by = (kind: string) => ({ By: { 'p:kind': kind, ID: 'a' }, Others: [] })

  it('are written in the start tag, behind what their prefix stands for', () => {
    expect(write(by('x'))).toBe('<Root><By xmlns:p="urn:p" p:kind="x"><ID>a</ID></By></Root>')
  })

  it('are read as they were written, whatever is in them', () => {
    for (const kind of ['', '"', "'", '<&>', 'ü🦊', '\t\n\r'])
      expect(read(Buffer.from(write(by(kind))))).toEqual(by(kind))
  })

  it('are read in either quotes, beside others that mean nothing', () => {
    expect(read(Buffer.from(`<Root q="1"><By id="2" p:kind='x'><ID r="3">a</ID></By></Root>`))).toEqual(by('x'))
  })

  it.each([
    ['one that is missing', '<Root><By><ID>a</ID></By></Root>'],
    ['one without its prefix', '<Root><By kind="x"><ID>a</ID></By></Root>'],
    ['one that is an element', '<Root><By><p:kind>x</p:kind><ID>a</ID></By></Root>'],
    ['one twice', '<Root><By p:kind="x" p:kind="x"><ID>a</ID></By></Root>'],
    ['one that does not end', '<Root><By p:kind="x><ID>a</ID></By></Root>'],
  ])('refuses %s as MalformedXML', (_what, document) => {
    expect(() => read(Buffer.from(document))).toThrow(expect.objectContaining({ code: 'MalformedXML' }))
  })
})

describe('an element that is known and refused', () => {
  const shape = struct({ Outer: struct({ Refused: refusedElement, Name: optional(string) }) })
  const read = compileXmlReader('Root', shape)

  it('is refused by its path, whatever is in it', () => {
    for (const element of ['<Refused/>', '<Refused>text</Refused>', '<Refused><Any x="y"/></Refused>'])
      expect(() => read(Buffer.from(`<Root><Outer>${element}</Outer></Root>`))).toThrow(
        expect.objectContaining({ code: 'NotImplemented', details: { NotImplemented: 'Root/Outer/Refused' } }),
      )
  })

  it('is unknown elsewhere', () => {
    expect(() => read(Buffer.from('<Root><Refused/></Root>'))).toThrow(
      expect.objectContaining({ code: 'MalformedXML' }),
    )
  })

  it('need not be there, and is never written', () => {
    expect(read(Buffer.from('<Root><Outer><Name>a</Name></Outer></Root>'))).toEqual({ Outer: { Name: 'a' } })
    const document = compileText('Root', shape, 'without namespace')({ Outer: { Refused: undefined, Name: 'a' } })
    expect(document).toBe('<Root><Outer><Name>a</Name></Outer></Root>')
  })
})
