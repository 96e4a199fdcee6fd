/**
 * Cuts an XML 1.0 document into tags and text, in one pass and within bounds. Refuses document types and processing instructions. Knows no shapes.
 * ADR 0031 gives the reasons for not using a library.
 */
import { S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'

export interface TokenSink {
  open(name: string, attributes: ReadonlyMap<string, string>): void
  /** Text of the innermost open element. It may come in pieces. */
  text(text: string): void
  close(): void
}

export const malformed = (details: Record<string, string> = {}): S3Error => new S3Error('MalformedXML', { details })

/** Throws MalformedXML, and what the sink throws. `document` comes from UTF-8, so it holds no half of a character. */
export function readTokens(document: string, sink: TokenSink): void {
  if (neverAllowed.test(document)) throw malformed()
  new Tokens(document, sink).read()
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const neverAllowed = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/

const declaration =
  /^<\?xml[ \t\n\r]+version[ \t\n\r]*=[ \t\n\r]*(?:"1\.\d+"|'1\.\d+')(?:[ \t\n\r]+encoding[ \t\n\r]*=[ \t\n\r]*(?:"([\w.-]+)"|'([\w.-]+)'))?(?:[ \t\n\r]+standalone[ \t\n\r]*=[ \t\n\r]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\n\r]*\?>/

const nameStart =
  ':A-Z_a-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}'
const name = `[${nameStart}][${nameStart}\\-.0-9\\u00b7\\u0300-\\u036f\\u203f\\u2040]*`
const elementName = new RegExp(name, 'uy')
const attribute = new RegExp(`[ \\t\\n\\r]+(${name})[ \\t\\n\\r]*=[ \\t\\n\\r]*(?:"([^"<]*)"|'([^'<]*)')`, 'uy')
const tagEnd = /[ \t\n\r]*(\/?)>/y

type TextKind = 'text' | 'attribute' | 'character data'

/** The characters that each kind of text must have replaced. */
const special: Readonly<Record<TextKind, RegExp>> = { text: /[&\r]/, attribute: /[&\t\n\r]/, 'character data': /\r/ }

const named: readonly (readonly [reference: string, character: string])[] = [
  ['lt;', '<'],
  ['gt;', '>'],
  ['amp;', '&'],
  ['quot;', '"'],
  ['apos;', "'"],
]

/**
 * The character that a reference stands for. XML 1.0 excludes most control characters, but S3's clients send references to them for keys that contain
 * them.
 */
function referenced(raw: string, start: number, end: number): string {
  if (raw.charCodeAt(start) !== numberSign) {
    for (const [reference, character] of named) if (raw.startsWith(reference, start)) return character
    throw malformed()
  }
  const isHex = raw.charCodeAt(start + 1) === lowerX
  const code = codeOf(raw, start + (isHex ? 2 : 1), end, isHex ? 16 : 10)
  const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  if (!isCharacter || code === 0xfffe || code === 0xffff) throw malformed()
  return String.fromCodePoint(code)
}

/** Reads digit by digit, which is fast: a document may hold half a million references. */
function codeOf(raw: string, start: number, end: number, radix: 10 | 16): number {
  let code = 0
  for (let at = start; at < end; at++) {
    const unit = raw.charCodeAt(at)
    // Setting the bit 0x20 makes a letter lower-case.
    const digit = unit <= 0x39 ? unit - 0x30 : (unit | 0x20) - 0x57
    if (digit < 0 || digit >= radix || (unit > 0x39 && digit < 10)) throw malformed()
    code = code * radix + digit
  }
  return code
}

const tab = 0x09
const lineFeed = 0x0a
const carriageReturn = 0x0d
const exclamationMark = 0x21
const numberSign = 0x23
const ampersand = 0x26
const slash = 0x2f
const greaterThan = 0x3e
const lowerX = 0x78

const noAttributes: ReadonlyMap<string, string> = new Map()

class Tokens {
  readonly #document: string
  readonly #sink: TokenSink
  /** Names of the open elements. */
  readonly #open: string[] = []
  #at = 0
  #hasRoot = false
  /** How many elements, attributes, comments and CDATA sections were read: each one has a cost, however short it is. */
  #nodes = 0
  /** How many references and line ends were replaced. */
  #replaced = 0

  constructor(document: string, sink: TokenSink) {
    this.#document = document
    this.#sink = sink
  }

  read(): void {
    this.#readDeclaration()
    const document = this.#document
    while (this.#at < document.length) {
      const start = document.indexOf('<', this.#at)
      const end = start === -1 ? document.length : start
      if (end > this.#at) this.#readText(document.slice(this.#at, end))
      this.#at = end
      if (start !== -1) this.#readMarkup()
    }
    if (!this.#hasRoot || this.#open.length > 0) throw malformed()
  }

  #readDeclaration(): void {
    const found = declaration.exec(this.#document)
    if (found === null) return
    const [whole, ...encodings] = found
    const encoding = encodings.find((value) => value !== undefined)
    if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8') throw malformed()
    this.#at = whole.length
  }

  #readText(raw: string): void {
    if (this.#open.length === 0) {
      if (/[^ \t\n\r]/.test(raw)) throw malformed()
      return
    }
    if (raw.includes(']]>')) throw malformed()
    this.#sink.text(this.#replace(raw, 'text'))
  }

  #readMarkup(): void {
    const document = this.#document
    const code = document.charCodeAt(this.#at + 1)
    if (code === slash) this.#readEndTag()
    else if (code !== exclamationMark) this.#readStartTag()
    else if (document.startsWith('<!--', this.#at)) this.#readComment()
    else if (document.startsWith('<![CDATA[', this.#at)) this.#readCharacterData()
    else throw malformed()
  }

  #readStartTag(): void {
    this.#count()
    if (this.#open.length === 0 && this.#hasRoot) throw malformed()
    this.#hasRoot = true
    this.#at++
    const [tag] = this.#expect(elementName)
    const attributes = this.#readAttributes()
    const [, empty] = this.#expect(tagEnd)
    this.#open.push(tag)
    this.#sink.open(tag, attributes)
    if (empty === '/') this.#close()
  }

  #readAttributes(): ReadonlyMap<string, string> {
    // Most tags have no attributes.
    if (this.#document.charCodeAt(this.#at) === greaterThan) return noAttributes
    const attributes = new Map<string, string>()
    for (let found = this.#take(attribute); found !== null; found = this.#take(attribute)) {
      this.#count()
      const [, key = '', doubleQuoted, singleQuoted = ''] = found
      if (attributes.has(key)) throw malformed()
      attributes.set(key, this.#replace(doubleQuoted ?? singleQuoted, 'attribute'))
    }
    return attributes
  }

  #readEndTag(): void {
    const start = this.#at + 2
    const expected = this.#open.at(-1)
    if (expected === undefined || !this.#document.startsWith(expected, start)) throw malformed()
    this.#at = start + expected.length
    const [, empty] = this.#expect(tagEnd)
    if (empty === '/') throw malformed()
    this.#close()
  }

  #close(): void {
    this.#open.pop()
    this.#sink.close()
  }

  #readComment(): void {
    this.#count()
    const end = this.#document.indexOf('--', this.#at + 4)
    if (end === -1 || this.#document.charCodeAt(end + 2) !== greaterThan) throw malformed()
    this.#at = end + 3
  }

  #readCharacterData(): void {
    this.#count()
    const start = this.#at + '<![CDATA['.length
    const end = this.#document.indexOf(']]>', start)
    if (end === -1 || this.#open.length === 0) throw malformed()
    this.#at = end + 3
    this.#sink.text(this.#replace(this.#document.slice(start, end), 'character data'))
  }

  /** Normalizes line ends as XML requires, and replaces references by their characters. */
  #replace(raw: string, kind: TextKind): string {
    const first = raw.search(special[kind])
    if (first === -1) return raw
    let text = ''
    let copied = 0
    for (let at = first; at < raw.length; at++) {
      const code = raw.charCodeAt(at)
      const isReference = code === ampersand && kind !== 'character data'
      const isSpace = code === carriageReturn || (kind === 'attribute' && (code === lineFeed || code === tab))
      if (!isReference && !isSpace) continue
      this.#replaced++
      if (this.#replaced > limits.xmlReplacedCharsMax) throw malformed()
      text += raw.slice(copied, at)
      if (isReference) {
        const end = raw.indexOf(';', at)
        if (end === -1) throw malformed()
        text += referenced(raw, at + 1, end)
        at = end
      } else {
        text += kind === 'attribute' ? ' ' : '\n'
        if (code === carriageReturn && raw.charCodeAt(at + 1) === lineFeed) at++
      }
      copied = at + 1
    }
    return text + raw.slice(copied)
  }

  #count(): void {
    this.#nodes++
    if (this.#nodes > limits.xmlNodesMax) throw malformed()
  }

  /** Matches the pattern at the current position, and moves behind the match. */
  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#document)
    if (found !== null) this.#at = pattern.lastIndex
    return found
  }

  #expect(pattern: RegExp): RegExpExecArray {
    const found = this.#take(pattern)
    if (found === null) throw malformed()
    return found
  }
}
