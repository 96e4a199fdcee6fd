/** Reads the XML of S3 endpoints, which may have elements that nobody looks for. Pure. */
import { readTokens } from '../http/xml/xml-tokens.ts'

export interface XmlElement {
  name: string
  /** The text between its tags, without that of its children. */
  text: string
  children: XmlElement[]
}

/** The root element. `undefined`: the document is not XML that S3 would write. */
export function readXml(document: string): XmlElement | undefined {
  const above: XmlElement = { name: '', text: '', children: [] }
  const open = [above]
  try {
    readTokens(document, {
      open(name) {
        const element = { name, text: '', children: [] }
        open.at(-1)?.children.push(element)
        open.push(element)
      },
      text(piece) {
        const innermost = open.at(-1)
        if (innermost !== undefined) innermost.text += piece
      },
      close() {
        open.pop()
      },
    })
  } catch {
    return undefined
  }
  return above.children[0]
}

/** The text of its first child of this name. */
export function childText(element: XmlElement | undefined, name: string): string | undefined {
  return element?.children.find((child) => child.name === name)?.text
}

/** All elements of this name below it, in the order of the document. */
export function elementsNamed(element: XmlElement | undefined, name: string): XmlElement[] {
  return (element?.children ?? []).flatMap((child) => (child.name === name ? [child] : elementsNamed(child, name)))
}
