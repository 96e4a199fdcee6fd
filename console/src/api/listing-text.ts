/** Reads pages of S3's listings from their text, because parsing a document of a thousand entries would block the browser for longer than a frame. */

export interface ListedElement {
  name: string
  /** The text between its tags. */
  content: string
}

/** Throws unless the text is a whole listing with this root element. */
export function listingContent(text: string, root: string): string {
  const start = text.indexOf(`<${root}`)
  const end = text.lastIndexOf(`</${root}>`)
  if (start < 0 || end < 0) throw new Error('the server sent a listing that cannot be read')
  return text.slice(text.indexOf('>', start) + 1, end)
}

/** The elements with these names, in order. None may contain another. */
export function elementsOf(listing: string, ...names: readonly string[]): ListedElement[] {
  const element = new RegExp(`<(${names.join('|')})>(.*?)</\\1>`, 'gs')
  return Array.from(listing.matchAll(element), ([, name = '', content = '']) => ({ name, content }))
}

/** The text of the first element of this name; `undefined` when there is none, or nothing in it. */
export function textIn(content: string, name: string): string | undefined {
  const start = content.indexOf(`<${name}>`)
  if (start < 0) return undefined
  const text = content.slice(start + name.length + 2, content.indexOf('<', start + 1))
  return text.includes('&') ? text.replace(/&(#x?[\da-f]+|\w+);/gi, character) : text
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function character(reference: string, name: string): string {
  const [, hexadecimal, decimal] = /^#(?:x([\da-f]+)|(\d+))$/i.exec(name) ?? []
  if (hexadecimal !== undefined) return String.fromCodePoint(Number.parseInt(hexadecimal, 16))
  if (decimal !== undefined) return String.fromCodePoint(Number(decimal))
  return named[name] ?? reference
}
