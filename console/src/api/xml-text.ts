/** Writes the XML of requests to S3. Pure. */

/** What is not a name of an element is text: it is escaped. `undefined` and `false` are left out. */
export type XmlContent =
  | string
  | number
  | boolean
  | undefined
  | readonly XmlContent[]
  | { readonly [name: string]: XmlContent }

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' }
const escaped = (text: string): string => text.replace(/[&<>"\r]/g, (c) => entities[c] ?? c)

/** One element, and what is in it. A list makes an element of each entry. */
function element(name: string, content: XmlContent): string {
  if (content === undefined) return ''
  if (Array.isArray(content)) return content.map((each: XmlContent) => element(name, each)).join('')
  return `<${name}>${inside(content)}</${name}>`
}

function inside(content: XmlContent): string {
  if (typeof content !== 'object') return escaped(String(content))
  return Object.entries(content)
    .map(([name, each]) => element(name, each))
    .join('')
}

export const document = (root: string, content: XmlContent): string =>
  element(root, content).replace(`<${root}>`, `<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`)
