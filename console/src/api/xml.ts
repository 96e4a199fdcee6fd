/** Reads the XML of S3's answers. */
import type { XmlContent } from './xml-text.ts'

/** Throws when the text is not XML. */
export function parseXml(text: string): Element {
  const document = new DOMParser().parseFromString(text, 'application/xml')
  if (document.querySelector('parsererror') !== null) throw new Error('the server sent XML that cannot be read')
  return document.documentElement
}

/** The children of this name, in order. */
export const childrenOf = (element: Element, name: string): Element[] =>
  [...element.children].filter((child) => child.localName === name)

export const childOf = (element: Element | undefined, name: string): Element | undefined =>
  element === undefined ? undefined : [...element.children].find((child) => child.localName === name)

/** The text below a path of names; `undefined` when the path is not there. */
export function textOf(element: Element, ...path: string[]): string | undefined {
  let at: Element | undefined = element
  for (const name of path) at = childOf(at, name)
  return at?.textContent ?? undefined
}

/** An element's content, to be written again. */
export function contentOf(element: Element): XmlContent {
  if (element.children.length === 0) return element.textContent ?? ''
  const names = [...new Set([...element.children].map(({ localName }) => localName))]
  return Object.fromEntries(names.map((name) => [name, childrenOf(element, name).map(contentOf)]))
}
