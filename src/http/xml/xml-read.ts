/** Reads XML documents by shape, and refuses what the shape lacks. Handles elements; `xml-tokens` handles tags and text. */
import { isUtf8 } from 'node:buffer'
import type { Shape, TextShape } from '../../contract/shapes.ts'
import { notImplemented } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { malformed, readTokens } from './xml-tokens.ts'

export type XmlReader = (document: Buffer) => unknown

/** Where an element may stand, and what it contains. */
type ElementRule =
  | { kind: 'text'; parse: TextShape['parse'] }
  | {
      kind: 'struct'
      fields: ReadonlyMap<string, FieldRule>
      /** The required attributes. Others are ignored. */
      attributes: ReadonlyMap<string, TextShape['parse']>
    }
  | { kind: 'refused' }

interface FieldRule {
  element: ElementRule
  occurs: 'once' | 'at most once' | 'any number'
}

/** An element whose end tag has not been read yet. */
interface OpenElement {
  name: string
  rule: Exclude<ElementRule, { kind: 'refused' }>
  text: string
  /** The values of its attributes and child elements, by name: one value, or an array where the element repeats. */
  children: Map<string, unknown> | undefined
}

/**
 * Compiles a reader of documents whose root element is `root`. Anything wrong with a document is MalformedXML; an element that is known and
 * refused is NotImplemented.
 */
export function compileXmlReader(root: string, shape: Shape): XmlReader {
  const rule = elementRule(root, shape)
  return (document) => readDocument(decodeUtf8(document), root, rule)
}

function elementRule(name: string, shape: Shape): ElementRule {
  // The cast drops only the value's type, which the shape's type has already tied to the handler's input.
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

function readDocument(document: string, root: string, rule: ElementRule): unknown {
  const open: OpenElement[] = []
  let value: unknown
  readTokens(document, {
    open(name, attributes) {
      if (open.length >= limits.xmlDepthMax) throw malformed()
      const parent = open.at(-1)
      const ruleHere = parent === undefined ? rootRule(name, root, rule) : childRule(parent, name)
      if (ruleHere.kind === 'refused') throw notImplemented([...open.map((outer) => outer.name), name].join('/'))
      open.push({ name, rule: ruleHere, text: '', children: readAttributes(ruleHere, attributes) })
    },
    text(text) {
      const element = open.at(-1)
      if (element !== undefined) addText(element, text)
    },
    close() {
      const element = open.pop()
      if (element === undefined) throw malformed()
      const read = readValue(element)
      const parent = open.at(-1)
      if (parent === undefined) value = read
      else addChild(parent, element.name, read)
    },
  })
  return value
}

/** Only white space may stand between the elements of a struct. A text is bounded, because errors repeat it, and some parsers read it more than once. */
function addText(element: OpenElement, text: string): void {
  const { rule, name } = element
  if (rule.kind === 'struct') {
    if (text.trim() !== '') throw malformed({ Element: name })
    return
  }
  element.text += text
  if (element.text.length > limits.xmlTextCharsMax) throw malformed({ Element: name })
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

/** Starts the children of a struct with its attributes. A text has neither. */
function readAttributes(rule: ElementRule, sent: ReadonlyMap<string, string>): OpenElement['children'] {
  if (rule.kind !== 'struct') return undefined
  const values = new Map<string, unknown>()
  for (const [name, parse] of rule.attributes) {
    const raw = sent.get(name)
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
  // Safe from `__proto__`: names come from the shape, never from the document.
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
