/** Reads XML documents by shape, refusing what the shape doesn't know. Bounded in depth and elements; owns no I/O. */
import { isUtf8 } from 'node:buffer'
import { SaxesParser } from 'saxes'
import type { Shape, TextShape } from '../contract/shapes.ts'
import { notImplemented, S3Error } from '../errors.ts'
import { limits } from '../limits.ts'

export type XmlReader = (document: Buffer) => unknown

/** Where an element may stand, and what it holds. */
type ElementRule =
  | { kind: 'text'; parse: TextShape['parse'] }
  | {
      kind: 'struct'
      fields: ReadonlyMap<string, FieldRule>
      /** Each must be there. Others mean nothing. */
      attributes: ReadonlyMap<string, TextShape['parse']>
    }
  | { kind: 'refused' }

interface FieldRule {
  element: ElementRule
  occurs: 'once' | 'at most once' | 'any number'
}

/** An element whose end has not been read yet. */
interface OpenElement {
  name: string
  rule: Exclude<ElementRule, { kind: 'refused' }>
  text: string
  /** What its attributes and child elements gave, by name: a value, or an array where the element repeats. */
  children: Map<string, unknown> | undefined
}

const malformed = (details: Record<string, string> = {}, cause?: unknown): S3Error =>
  new S3Error('MalformedXML', { details, cause })

/**
 * Compiles a reader of documents whose root element is `root`. Whatever is wrong with a document is MalformedXML; an element that is known and
 * refused is NotImplemented.
 */
export function compileXmlReader(root: string, shape: Shape): XmlReader {
  const rule = elementRule(root, shape)
  return (document) => readDocument(decodeUtf8(document), root, rule)
}

function elementRule(name: string, shape: Shape): ElementRule {
  // The shape's type ties `parse` to the value that the handler is given.
  if (shape.kind === 'text') return { kind: 'text', parse: shape.parse as TextShape['parse'] }
  if (shape.kind === 'refused') return { kind: 'refused' }
  if (shape.kind !== 'struct') throw new Error(`${name}: a ${shape.kind} has no element of its own`)
  const fields = new Map<string, FieldRule>()
  const attributes = new Map<string, TextShape['parse']>()
  for (const [child, of] of Object.entries(shape.fields)) {
    if (of.kind === 'attribute') attributes.set(child, of.text.parse)
    else fields.set(child, fieldRule(child, of))
  }
  return { kind: 'struct', fields, attributes }
}

function fieldRule(name: string, shape: Shape): FieldRule {
  if (shape.kind === 'list') return { element: elementRule(name, shape.item), occurs: 'any number' }
  if (shape.kind === 'optional') return { element: elementRule(name, shape.of), occurs: 'at most once' }
  return { element: elementRule(name, shape), occurs: shape.kind === 'refused' ? 'at most once' : 'once' }
}

function decodeUtf8(document: Buffer): string {
  if (!isUtf8(document)) throw malformed()
  const text = document.toString('utf8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

// References to control characters that XML 1.0 has no place for. S3's clients send them for keys that hold such characters.
const controlReference = /&#(?:x0*(?:[1-8bcef]|1[0-9a-f])|0*(?:[1-8]|1[124-9]|2\d|3[01]));/i

/**
 * XML 1.1 allows references to control characters, but turns U+0085 and U+2028 into line feeds and refuses its other new control characters:
 * written as references they all arrive as they are. Without that, a request to delete one key could delete another.
 */
function parserFor(text: string): { parser: SaxesParser; text: string } {
  if (!controlReference.test(text)) return { parser: new SaxesParser({ position: false }), text }
  // Inside CDATA a reference would be read as text.
  if (text.includes('<![CDATA[')) throw malformed()
  return {
    parser: new SaxesParser({ position: false, defaultXMLVersion: '1.1', forceXMLVersion: true }),
    text: text.replace(/[\u007f-\u009f\u2028]/g, (c) => `&#x${c.charCodeAt(0).toString(16)};`),
  }
}

function readDocument(document: string, root: string, rule: ElementRule): unknown {
  const { parser, text } = parserFor(document)
  const open: OpenElement[] = []
  let elements = 0
  let value: unknown

  // Seven handlers, no more: the eighth property turns the parser into a dictionary for V8, seven times slower.
  parser.on('error', (cause) => {
    throw malformed({}, cause)
  })
  parser.on('doctype', () => {
    throw malformed()
  })
  parser.on('processinginstruction', () => {
    throw malformed()
  })
  parser.on('opentag', ({ name, attributes }) => {
    elements++
    if (elements > limits.xmlElementsMax || open.length >= limits.xmlDepthMax) throw malformed()
    const parent = open.at(-1)
    const ruleHere = parent === undefined ? rootRule(name, root, rule) : childRule(parent, name)
    if (ruleHere.kind === 'refused') throw notImplemented([...open.map((outer) => outer.name), name].join('/'))
    open.push({ name, rule: ruleHere, text: '', children: readAttributes(ruleHere, attributes) })
  })
  const addText = (characters: string): void => {
    const element = open.at(-1)
    if (element !== undefined) element.text += characters
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    const element = open.pop()
    if (element === undefined) throw malformed()
    const read = readValue(element)
    const parent = open.at(-1)
    if (parent === undefined) value = read
    else addChild(parent, element.name, read)
  })

  parser.write(text)
  const { encoding } = parser.xmlDecl
  parser.close()
  if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8') throw malformed()
  return value
}

function rootRule(name: string, root: string, rule: ElementRule): ElementRule {
  if (name !== root) throw malformed({ Element: name })
  return rule
}

function childRule(parent: OpenElement, name: string): ElementRule {
  const field = fieldOf(parent, name)
  if (field === undefined) throw malformed({ Element: name })
  if (field.occurs !== 'any number' && parent.children?.has(name)) throw malformed({ Element: name })
  return field.element
}

/** Where a struct's attributes and then its elements are gathered; a text has neither. */
function readAttributes(rule: ElementRule, sent: Readonly<Record<string, string>>): OpenElement['children'] {
  if (rule.kind !== 'struct') return undefined
  const values = new Map<string, unknown>()
  for (const [name, parse] of rule.attributes) {
    const raw = sent[name]
    if (raw === undefined) throw malformed({ Attribute: name })
    values.set(name, parse(raw, name))
  }
  return values
}

function fieldOf(parent: OpenElement, name: string): FieldRule | undefined {
  return parent.rule.kind === 'struct' ? parent.rule.fields.get(name) : undefined
}

function addChild(parent: OpenElement, name: string, value: unknown): void {
  const { children } = parent
  if (fieldOf(parent, name)?.occurs !== 'any number') children?.set(name, value)
  else {
    const siblings = children?.get(name)
    if (Array.isArray(siblings)) siblings.push(value)
    else children?.set(name, [value])
  }
}

function readValue(element: OpenElement): unknown {
  const { rule, name, text, children } = element
  if (rule.kind === 'text') return rule.parse(text, name)
  if (text.trim() !== '') throw malformed({ Element: name })
  // Names come from the shape, never from the document.
  const value: Record<string, unknown> = {}
  for (const attribute of rule.attributes.keys()) value[attribute] = children?.get(attribute)
  for (const [child, field] of rule.fields) {
    const read = children?.get(child)
    if (read !== undefined) value[child] = read
    else if (field.occurs === 'once') throw malformed({ Element: child })
    else if (field.occurs === 'any number') value[child] = []
  }
  return value
}
