/** Documents that were made to cost much, and the agreement of our tokens with those of a library. */
import fc from 'fast-check'
import { SaxesParser } from 'saxes'
import { describe, expect, it } from 'vitest'
import { S3Error } from '../../../src/errors.ts'
import { readTokens } from '../../../src/http/xml/xml-tokens.ts'
import { limits } from '../../../src/limits.ts'

type Token = [what: 'open', name: string, attributes: [string, string][]] | ['text', string] | ['close']

/** Neighbouring texts are one. */
function joined(tokens: readonly Token[]): Token[] {
  const all: Token[] = []
  for (const token of tokens) {
    const last = all.at(-1)
    if (token[0] === 'text' && last?.[0] === 'text') last[1] += token[1]
    else if (token[0] !== 'text' || token[1] !== '') all.push([...token] as Token)
  }
  return all
}

function ourTokens(document: string): Token[] | 'malformed' {
  const tokens: Token[] = []
  try {
    readTokens(document, {
      open: (name, attributes) => tokens.push(['open', name, [...attributes]]),
      text: (text) => tokens.push(['text', text]),
      close: () => tokens.push(['close']),
    })
    return joined(tokens)
  } catch (error) {
    expect(error).toBeInstanceOf(S3Error)
    expect(error).toMatchObject({ code: 'MalformedXML' })
    return 'malformed'
  }
}

/** Of the library, with what is refused here beside what XML refuses. */
function libraryTokens(document: string): Token[] | 'malformed' {
  const tokens: Token[] = []
  let depth = 0
  const parser = new SaxesParser({ position: false })
  const refuse = (): never => {
    throw new Error('refused')
  }
  parser.on('error', refuse)
  parser.on('doctype', refuse)
  parser.on('processinginstruction', refuse)
  parser.on('opentag', ({ name, attributes }) => {
    depth++
    tokens.push(['open', name, Object.entries(attributes)])
  })
  const text = (value: string): void => {
    if (depth > 0) tokens.push(['text', value])
  }
  parser.on('text', text)
  parser.on('cdata', text)
  parser.on('closetag', () => {
    depth--
    tokens.push(['close'])
  })
  try {
    parser.write(document)
    const { encoding } = parser.xmlDecl
    parser.close()
    return encoding === undefined || encoding.toLowerCase() === 'utf-8' ? joined(tokens) : 'malformed'
  } catch {
    return 'malformed'
  }
}

const pieces = [
  '<A>',
  '</A>',
  '<B/>',
  '<B a="1">',
  '<B a=\'x y\' b="&lt;">',
  '</B>',
  '<B a="1" a="2"/>',
  '<B a=1/>',
  '<B a="<"/>',
  '<B\n\ta\r= "\r\n\t" />',
  '<é ü="ö">',
  '</é>',
  '<-/>',
  '< A>',
  '</ A>',
  '</A >',
  'text',
  ' \r\n\t',
  '\r',
  '&amp;&lt;&gt;&quot;&apos;',
  '&#65;&#x1F98A;&#x0a;',
  '&#X41;',
  '&#xD800;',
  '&#0;',
  '&#;',
  '&x;',
  '&',
  '<!-- a -->',
  '<!-- -- -->',
  '<!--->',
  '<!---->',
  '<![CDATA[<&>]]>',
  '<![CDATA[a]]b\r\n]]>',
  ']]>',
  ']]',
  '>',
  '<?xml version="1.0"?>',
  "<?xml version='1.0' encoding='utf-8' standalone='yes' ?>",
  '<?xml version="1.0" encoding="latin1"?>',
  '<?pi x?>',
  '<!DOCTYPE A>',
  '\u0085\u2028',
  '\u0001',
  '\ufffe',
  '🦊',
]

describe('tokens', () => {
  it('are those of the library, or both refuse', () => {
    const inside = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join(''))
    const whole = fc.oneof(
      inside.map((text) => `<A>${text}</A>`),
      inside,
      fc.tuple(inside, inside).map(([before, within]) => `${before}<A>${within}</A>`),
    )
    fc.assert(
      fc.property(whole, (document) => {
        expect(ourTokens(document)).toEqual(libraryTokens(document))
      }),
      { numRuns: 20_000 },
    )
  })

  it('are those of the library, or both refuse, whatever character of a document is another', () => {
    const document =
      '<?xml version="1.0" encoding="UTF-8"?>\n<A xmlns="urn:a" b=\'c\'>t&amp;\r\n<!-- x --><B>]]<![CDATA[&]]></B>&#65;<C/></A>'
    const edits = fc.array(
      fc.tuple(fc.nat(document.length - 1), fc.constantFrom('', ...'<>/!?-[]&#;x\'"= \nAé\u0000')),
      { minLength: 1, maxLength: 3 },
    )
    fc.assert(
      fc.property(edits, (changes) => {
        let edited = document
        for (const [at, by] of changes) edited = edited.slice(0, at) + by + edited.slice(at + 1)
        // Of control characters S3's clients send references, which XML 1.0 and the library have no place for.
        fc.pre(!/&#(?:x[0-9a-f]|\d{1,2});/i.test(edited.replaceAll('&#65;', '')))
        expect(ourTokens(edited), edited).toEqual(libraryTokens(edited))
      }),
      { numRuns: 20_000 },
    )
  })
})

const within = (inside: string): string => `<A>${inside}</A>`
/** In so many tags that none of them has many. */
const attributes = (count: number): string => '<B a="" b="" c=""/>'.repeat(count / 4)

describe('what a document may hold', () => {
  const nodes = limits.xmlNodesMax
  it.each<[what: string, most: string, tooMany: string]>([
    ['elements', within('<B/>'.repeat(nodes - 1)), within('<B/>'.repeat(nodes))],
    ['attributes, with the elements that have them', within(attributes(nodes - 4)), within(attributes(nodes + 4))],
    ['attributes of one element', '', `<A ${Array.from({ length: nodes }, (_, i) => ` a${i}=""`).join('')}/>`],
    ['comments', within('<!---->'.repeat(nodes - 1)), within('<!---->'.repeat(nodes))],
    ['CDATA sections', within('<![CDATA[]]>'.repeat(nodes - 1)), within('<![CDATA[]]>'.repeat(nodes))],
    [
      'references',
      within('&#9;'.repeat(limits.xmlReplacedCharsMax)),
      within('&lt;'.repeat(limits.xmlReplacedCharsMax + 1)),
    ],
    [
      'line ends that are replaced',
      within('\r\n'.repeat(limits.xmlReplacedCharsMax)),
      within('\r\n'.repeat(limits.xmlReplacedCharsMax + 1)),
    ],
    ['white space in attributes', '', `<A a="${'\n'.repeat(limits.xmlReplacedCharsMax + 1)}"/>`],
  ])('is bounded in %s', (_what, most, tooMany) => {
    if (most !== '') expect(ourTokens(most)).not.toBe('malformed')
    expect(ourTokens(tooMany)).toBe('malformed')
  })

  it('is no reason to read on: after the bound, nothing more is asked of the sink', () => {
    let opened = 0
    const document = within('<B/>'.repeat(10 * nodes))
    const sink = { open: () => void opened++, text: () => {}, close: () => {} }
    expect(() => readTokens(document, sink)).toThrow(expect.objectContaining({ code: 'MalformedXML' }))
    expect(opened).toBe(nodes)
  })
})
