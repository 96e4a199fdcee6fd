/** Which rows of the support table, and which sentences of the interface document, a row of a wire test proves: what it names, and all that it expects of an answer. */
import { tableRows } from './table-rows.ts'
import type { Row } from './wire-rows.ts'

/** From the spelling in rows to the spelling in the table. */
const spellings = new Map(tableRows.map(({ id }) => [normal(id), id]))

/** Names of headers have no case. An attribute is read as an element of its name. */
function normal(id: string): string {
  return id.includes(' header:') ? id.toLowerCase() : id.replace('/@', '/')
}

export function provenBy(operation: string, row: Row): string[] {
  const { proves = [], takenFor = operation } = row
  return [...proves.map((what) => named(takenFor, what)), ...answered(takenFor, row)]
}

/** A parameter stands for its row of the request. What names neither that nor a row of the answer is a sentence, or a row of another operation. */
function named(operation: string, what: string): string {
  if (what.startsWith('answer ')) return `${operation} ${what}`
  return parameter(what) === undefined ? what : `${operation} request ${what}`
}

const parameter = (what: string): RegExpExecArray | undefined =>
  /^(address|query|header|vendor|vendor-prefix|form|element|data):(.*)$/.exec(what) ?? undefined

/** Which parameters a row would prove and does not send. */
export function unsent({ proves = [], ask }: Row): string[] {
  const { query = {}, headers = {}, vendor = {}, form = {}, body = '' } = ask
  const sent = new Set([
    ...Object.keys(query).map((name) => `query:${name}`),
    ...Object.keys(headers).map((name) => `header:${name}`),
    ...Object.keys(vendor).map((name) => `vendor:${name}`),
    ...Object.keys(form).map((name) => `form:${name}`),
  ])
  return proves.filter((what) => {
    const [, place, name = ''] = parameter(what) ?? []
    if (place === 'element') return !body.includes(written(name.split('/').at(-1) ?? ''))
    return ['query', 'header', 'vendor', 'form'].includes(place ?? '') && !sent.has(what)
  })
}

/** How an element or an attribute begins in a document. */
const written = (name: string): string => (name.startsWith('@') ? ` ${name.slice(1)}=` : `<${name}`)

/** The rows of the table that say what a row expects. An answer may also say what no row is about: its type, or that it is an error. */
function answered(operation: string, { headers = {}, vendor = {}, xml = {}, body = '' }: Row): string[] {
  const said = [
    ...present(headers).map((name) => `header:${name}`),
    ...present(vendor).map((name) =>
      name.startsWith('meta-') ? 'vendor-prefix:meta-' : `vendor:${name.replace('{{kmsKeyId}}', kmsKeyId)}`,
    ),
    ...paths('', xml).map((path) => `element:${path}`),
    ...(body.length > 0 ? ['data:body'] : []),
  ]
  return said.flatMap((what) => spellings.get(normal(`${operation} answer ${what}`)) ?? [])
}

const kmsKeyId = 'server-side-encryption-aws-kms-key-id'

const present = (values: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(values).filter((name) => values[name] !== undefined)

/** The paths of all elements of a document that a row expects, as the table names them. */
function paths(path: string, at: unknown): string[] {
  if (Array.isArray(at)) return at.flatMap((item) => paths(path, item))
  const isPlain = typeof at === 'object' && at !== null && Object.getPrototypeOf(at) === Object.prototype
  if (!isPlain) return [path]
  return Object.entries(at).flatMap(([name, child]) => {
    const inner = path === '' ? name : `${path}/${name}`
    return [inner, ...paths(inner, child)]
  })
}
