/** Puts elements into the documents that requests carry, and keeps the digest right that vouches for them. */
import { md5Base64 } from './wire-checksums.ts'
import type { Ask } from './wire-client.ts'

/** The request with `value` at `path`: in the first element on the way that the document has. */
export function withElement(ask: Ask, path: string, value: string): Ask {
  const document = String(ask.body ?? '').replace(/<(\w+)\/>/g, '<$1></$1>')
  return withDocument(ask, insert(document, path.split('/'), value))
}

/** The request with another document. */
export function withDocument(ask: Ask, body: string): Ask {
  const vouched = ask.headers?.['Content-MD5'] !== undefined
  return { ...ask, body, ...(vouched ? { headers: { ...ask.headers, 'Content-MD5': md5Base64(body) } } : {}) }
}

function insert(document: string, [name = '', ...below]: readonly string[], value: string): string {
  const existing = new RegExp(`(<${name}>)(.*?)(</${name}>)`, 's').exec(document)
  if (existing !== null && below.length > 0) {
    const [all, open = '', inner = '', close = ''] = existing
    return document.replace(all, open + insert(inner, below, value) + close)
  }
  const nested = [...below].reduceRight((inner, element) => `<${element}>${inner}</${element}>`, value)
  const element = `<${name}>${nested}</${name}>`
  return existing === null ? document + element : document.replace(existing[0], element)
}
