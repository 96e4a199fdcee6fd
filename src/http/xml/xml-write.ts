/** Writes XML documents with closures compiled from shapes. Knows S3's namespace, nothing of HTTP. */

import type { Shape, TextShape } from '../../contract/shapes.ts'
import { known } from '../../known.ts'
import { limits } from '../../limits.ts'

const initialBytes = 64 * 1024
const utf8BytesMax = 3

/** The bytes of one document at a time. Each piece is encoded while it is in the processor's cache; one large string would first have to be flattened. */
class XmlBytes {
  #bytes = Buffer.allocUnsafeSlow(initialBytes)
  #length = 0

  write(text: string): void {
    this.#reserve(utf8BytesMax * text.length)
    this.#length += this.#bytes.write(text, this.#length)
  }

  /** A copy of what was written since the last `clear`. */
  copy(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length))
  }

  /** Begins a document. */
  clear(): void {
    this.#length = 0
    // A few documents are many times the usual size: their buffer is not kept.
    if (this.#bytes.length > limits.xmlBytesKept) this.#bytes = Buffer.allocUnsafeSlow(initialBytes)
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(2 * needed)
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}

export const xmlDeclaration = '<?xml version="1.0" encoding="UTF-8"?>\n'
const s3Namespace = 'http://s3.amazonaws.com/doc/2006-03-01/'

export interface XmlWriter {
  document(value: unknown): Buffer
  /** The document without its XML declaration, because a slow answer has already sent that. */
  element(value: unknown): Buffer
}

type Write = (value: never) => string

/** Shared by all documents: writing is synchronous, so only one is written at a time. */
const bytes = new XmlBytes()

/** Compiles a writer of documents whose root element is `root`. */
export function compileXmlWriter(
  root: string,
  shape: Shape,
  namespace: 'with S3 namespace' | 'without namespace',
): XmlWriter {
  const write = compileRoot(root, shape, namespace === 'with S3 namespace' ? ` xmlns="${s3Namespace}"` : '')
  const behind = (start: string, value: unknown): Buffer => {
    bytes.clear()
    bytes.write(start)
    // The cast is safe because the operation's types tie the answer to this shape.
    write(value as never)
    return bytes.copy()
  }
  return { document: (value) => behind(xmlDeclaration, value), element: (value) => behind('', value) }
}

/** Writes a root element. Each list entry is written separately, because a page of a listing has a thousand. */
function compileRoot(name: string, shape: Shape, declared: string): (value: never) => void {
  if (shape.kind !== 'struct') {
    const element = compileElement(name, shape, declared)
    return (value) => bytes.write(element(value))
  }
  const start = compileStart(name, shape.fields, declared)
  const fields = elementsOf(shape.fields)
  const writers = fields.map(([fieldName, field]) => {
    const present = field.kind === 'optional' ? field.of : field
    if (present.kind === 'mixed') return compileMixed(present.elements)
    const write = compileElement(fieldName, present.kind === 'list' ? present.item : present)
    if (present.kind !== 'list') return (value: never) => bytes.write(write(value))
    return (values: readonly never[]) => {
      for (const value of values) bytes.write(write(value))
    }
  })
  return (value: Record<string, never>) => {
    bytes.write(start(value as never))
    for (const [i, write] of writers.entries()) {
      const field = value[fields[i]?.[0] ?? '']
      if (field !== undefined) write(field)
    }
    bytes.write(`</${name}>`)
  }
}

function compileMixed(elements: Record<string, Shape>): (values: never) => void {
  const writers = new Map(Object.entries(elements).map(([name, shape]) => [name, compileElement(name, shape)]))
  return (values: readonly { element: string; value: never }[]) => {
    for (const { element, value } of values) bytes.write(writers.get(element)?.(value) ?? '')
  }
}

/** Writes one element with its tags. `declared`: constant text in the start tag. */
function compileElement(name: string, shape: Shape, declared = ''): Write {
  if (shape.kind === 'struct') return compileStruct(name, shape.fields, declared)
  if (shape.kind !== 'text') throw new Error(`${name}: a ${shape.kind} has no element of its own`)
  const { open, content, close } = compileText(name, shape, declared)
  return (value) => open + content(value) + close
}

/** The text before, within and after one element or list. */
interface Parts {
  open: string
  content: Write
  close: string
}

function compileText(name: string, { print, plain, around = '' }: TextShape, declared = ''): Parts {
  return {
    open: `<${name}${declared}>${around}`,
    content: plain === true ? print : (value) => escapeXml(print(value)),
    close: `${around}</${name}>`,
  }
}

function compileField(name: string, shape: Shape): Parts {
  if (shape.kind === 'optional') return compileField(name, shape.of)
  if (shape.kind === 'text') return compileText(name, shape)
  if (shape.kind !== 'list') return { open: '', content: compileElement(name, shape), close: '' }
  const item = compileElement(name, shape.item)
  const content = (values: readonly never[]): string => {
    let xml = ''
    for (const value of values) xml += item(value)
    return xml
  }
  return { open: '', content, close: '' }
}

/**
 * The markup between any two fields is precomputed as one string, so that there is one even when the fields between them are absent. Concatenating
 * half as many pieces takes half the time.
 */
function compileStruct(name: string, fields: Record<string, Shape>, declared: string): Write {
  const start = compileStart(name, fields, declared)
  const names = elementsOf(fields).map(([fieldName]) => fieldName)
  const parts = elementsOf(fields).map(([fieldName, shape]) => compileField(fieldName, shape))
  const contents = parts.map(({ content }) => content)
  const opens = [...parts.map(({ open }) => open), `</${name}>`]
  const between = ['', ...parts.map(({ close }) => close)].map((close) => opens.map((open) => flat(close + open)))
  const end = parts.length
  return (value: Record<string, never>) => {
    let xml = start(value as never)
    let behindLast = known(between[0])
    for (let i = 0; i < end; i++) {
      const field = value[known(names[i])]
      if (field === undefined) continue
      xml += known(behindLast[i]) + known(contents[i])(field)
      behindLast = known(between[i + 1])
    }
    return xml + known(behindLast[end])
  }
}

/** The fields of a struct that are elements of their own. */
function elementsOf(fields: Record<string, Shape>): [name: string, shape: Shape][] {
  return Object.entries(fields).filter(([, { kind }]) => kind !== 'attribute' && kind !== 'refused')
}

/** Flattens a string: V8 keeps a concatenation as a tree until it is read, and every string built from it would hold a larger tree. */
const flat = (text: string): string => Buffer.from(text).toString()

/** Writes the start tag of a struct with its attributes, each after the declaration of its prefix. */
function compileStart(name: string, fields: Record<string, Shape>, declared: string): Write {
  const attributes = Object.entries(fields).flatMap(([attributeName, shape]) => {
    if (shape.kind !== 'attribute') return []
    const { text, namespace } = shape
    const prefix = attributeName.slice(0, attributeName.indexOf(':'))
    const open = ` xmlns:${prefix}="${namespace}" ${attributeName}="`
    return [(value: Record<string, never>) => `${open}${escapeXml(text.print(value[attributeName]))}"`]
  })
  const start = `<${name}${declared}`
  if (attributes.length === 0) {
    const whole = flat(`${start}>`)
    return () => whole
  }
  return (value) => `${start}${attributes.map((write) => write(value)).join('')}>`
}

// XML 1.0 has no way to write most control characters. S3 writes them as references all the same, and its clients read them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const special = /[&<>"\u0000-\u001f]/

/** Escapes text for an element: every character that a reader would change or refuse becomes a reference. */
export function escapeXml(text: string): string {
  const first = text.search(special)
  if (first === -1) return text
  let escaped = ''
  let copied = 0
  for (let i = first; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const to = code < references.length ? references[code] : undefined
    if (to === undefined) continue
    escaped += text.slice(copied, i) + to
    copied = i + 1
  }
  return escaped + text.slice(copied)
}

/** The reference for each UTF-16 code unit that needs one. No code unit beyond this table does. */
const references: readonly (string | undefined)[] = Array.from({ length: 0x3f }, (_, code) => {
  if (code === 0x26) return '&amp;'
  if (code === 0x3c) return '&lt;'
  if (code === 0x3e) return '&gt;'
  if (code === 0x22) return '&quot;'
  return code > 0x1f ? undefined : `&#x${code.toString(16)};`
})
