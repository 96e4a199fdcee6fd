/** Reads the documents that the server answers, apart from src/http so that the two check each other. For well-formed answers only. */

/** An element without attributes and children is its text; of children with one name, several are an array. Namespaces are no attributes. */
export type XmlValue = string | { [element: string]: XmlValue | XmlValue[] }

export interface XmlDocument {
  root: string
  namespace: string | undefined
  value: XmlValue
}

interface Open {
  name: string
  text: string
  children: [name: string, value: XmlValue][]
}

const tokens = /<\?[^>]*\?>|<(\/?)([\w.-]+)((?:\s+[\w:]+="[^"]*")*)\s*(\/?)>|([^<]+)/y

export function readXml(body: Buffer): XmlDocument {
  const text = body.toString('utf8')
  const outermost: Open = { name: '', text: '', children: [] }
  const open: Open[] = [outermost]
  let namespace: string | undefined
  tokens.lastIndex = 0
  while (tokens.lastIndex < text.length) {
    const at = tokens.lastIndex
    const token = tokens.exec(text)
    if (token === null) throw new Error(`not XML at ${at}: ${text.slice(at, at + 40)}`)
    const [, closes, name, attributes = '', closesItself, characters] = token
    const current = open.at(-1) ?? outermost
    if (characters !== undefined) current.text += characters
    else if (name === undefined) continue
    else if (closes === '/') closeElement(open, name)
    else {
      if (open.length === 1) namespace = /xmlns="([^"]*)"/.exec(attributes)?.[1]
      open.push({ name, text: '', children: attributesIn(attributes) })
      if (closesItself === '/') closeElement(open, name)
    }
  }
  const [root] = outermost.children
  if (root === undefined || open.length !== 1 || outermost.children.length !== 1)
    throw new Error(`not a document: ${text}`)
  return { root: root[0], namespace, value: root[1] }
}

function attributesIn(text: string): Open['children'] {
  return [...text.matchAll(/\s([\w:]+)="([^"]*)"/g)].flatMap(([, name = '', value = '']): Open['children'] =>
    name === 'xmlns' || name.startsWith('xmlns:') ? [] : [[name, unescapeXml(value)]],
  )
}

function closeElement(open: Open[], name: string): void {
  const element = open.pop()
  const parent = open.at(-1)
  if (element?.name !== name || parent === undefined) throw new Error(`</${name}> closes nothing`)
  parent.children.push([name, contentOf(element)])
}

function contentOf({ text, children }: Open): XmlValue {
  if (children.length === 0) return unescapeXml(text)
  const value: { [element: string]: XmlValue | XmlValue[] } = {}
  for (const [name, child] of children) {
    const before = value[name]
    if (before === undefined) value[name] = child
    else if (Array.isArray(before)) before.push(child)
    else value[name] = [before, child]
  }
  return value
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescapeXml(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (reference, hex, decimal, name) => {
    if (name !== undefined) return named[String(name)] ?? String(reference)
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16))
  })
}
