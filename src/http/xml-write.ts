/** Writes XML documents: shapes compiled to closures over strings. Knows S3's namespace, nothing of HTTP. */
import type { Shape, TextShape } from '../contract/shapes.ts'

export const xmlDeclaration = '<?xml version="1.0" encoding="UTF-8"?>\n'
const s3Namespace = 'http://s3.amazonaws.com/doc/2006-03-01/'

/** Gives the document without its declaration: a slow answer has sent that long before. */
export type XmlWriter = (value: unknown) => string

type Write = (value: never) => string

/** Compiles a writer of documents whose root element is `root`. */
export function compileXmlWriter(
  root: string,
  shape: Shape,
  namespace: 'with S3 namespace' | 'without namespace',
): XmlWriter {
  const element = compileElement(root, shape, namespace === 'with S3 namespace' ? ` xmlns="${s3Namespace}"` : '')
  // The operation's types tie the answer to the shape that was compiled.
  return (value) => element(value as never)
}

/** One element, tags included. `declared` stands in its start tag whatever the value. */
function compileElement(name: string, shape: Shape, declared = ''): Write {
  const content = compileContent(shape, name)
  const attributes = shape.kind === 'struct' ? compileAttributes(shape.fields) : undefined
  const open = `<${name}${declared}`
  const close = `</${name}>`
  if (attributes !== undefined) return (value) => `${open}${attributes(value)}>${content(value)}${close}`
  const start = `${open}>`
  if (shape.kind === 'text' && shape.plain === true) return (value) => start + shape.print(value) + close
  return (value) => start + content(value) + close
}

/** What stands between the tags of one element. */
function compileContent(shape: Shape, name: string): Write {
  if (shape.kind === 'text') return compileText(shape)
  if (shape.kind === 'struct') return compileStruct(shape.fields)
  throw new Error(`${name}: a ${shape.kind} has no element of its own`)
}

function compileText(shape: TextShape): Write {
  return shape.plain === true ? (value) => shape.print(value) : (value) => escapeXml(shape.print(value))
}

function compileStruct(fields: Record<string, Shape>): Write {
  const names = Object.keys(fields).filter((name) => !['attribute', 'refused'].includes(fields[name]?.kind ?? ''))
  const writers = names.map((name) => compileField(name, fields[name] as Shape))
  return (value: Record<string, never>) => {
    let xml = ''
    for (let i = 0; i < names.length; i++) {
      const field = value[names[i] as string]
      if (field !== undefined) xml += (writers[i] as Write)(field)
    }
    return xml
  }
}

/** One element, or one for each entry of a list. */
function compileField(name: string, shape: Shape): Write {
  if (shape.kind === 'optional') return compileField(name, shape.of)
  if (shape.kind !== 'list') return compileElement(name, shape)
  const item = compileElement(name, shape.item)
  return (values: readonly never[]) => {
    let xml = ''
    for (const value of values) xml += item(value)
    return xml
  }
}

/** The attributes of a start tag, each behind the declaration of its prefix; `undefined` when a struct has none. */
function compileAttributes(fields: Record<string, Shape>): ((value: Record<string, never>) => string) | undefined {
  const writers = Object.entries(fields).flatMap(([name, shape]) => {
    if (shape.kind !== 'attribute') return []
    const { text, namespace } = shape
    const declared = ` xmlns:${name.slice(0, name.indexOf(':'))}="${namespace}" ${name}="`
    return [(value: Record<string, never>) => `${declared}${escapeXml(text.print(value[name]))}"`]
  })
  if (writers.length === 0) return undefined
  return (value) => writers.map((write) => write(value)).join('')
}

// XML 1.0 has no way to write most control characters. S3 writes them as references all the same, and its clients read them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const special = /[&<>"\u0000-\u001f]/

/** Text as it may stand in an element. Every character that a reader would change or refuse becomes a reference. */
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

/** By UTF-16 code unit: the reference that must stand for it, if one must. None above these must have one. */
const references: readonly (string | undefined)[] = Array.from({ length: 0x3f }, (_, code) => {
  if (code === 0x26) return '&amp;'
  if (code === 0x3c) return '&lt;'
  if (code === 0x3e) return '&gt;'
  if (code === 0x22) return '&quot;'
  return code > 0x1f ? undefined : `&#x${code.toString(16)};`
})
