/**
 * How a row of the support table is proven to work. A proof names the rows it proves, starts at an empty server, and fails unless each of them has the
 * effect that S3 documents: that a request was answered with 200 proves nothing.
 */
import { expect } from 'vitest'
import { operationsWith } from '../table-rows.ts'
import { asks, type OpenUpload, prepareAsks } from '../wire-asks.ts'
import type { Ask, Reply, Wire } from '../wire-client.ts'
import type { Facts, Given } from '../wire-rows.ts'
import { readXml, type XmlValue } from '../wire-xml.ts'

export interface Proof {
  it: string
  /** As in the table: `PutObject request vendor:tagging`. */
  rows: readonly string[]
  run(wire: Wire): Promise<void>
}

/** One proof for each operation that has the row, whichever these are. */
export function ofEach(
  what: string,
  run: (wire: Wire, operation: string) => Promise<void>,
  { except = [] }: { except?: readonly string[] } = {},
): Proof[] {
  return operationsWith(what)
    .filter((operation) => !except.includes(operation))
    .map((operation) => ({
      it: `${operation} ${what}`,
      rows: [`${operation} ${what}`],
      run: (wire) => run(wire, operation),
    }))
}

/** A proof of some rows of one operation, in bucket `wire`. */
export function effect(operation: string, what: readonly string[], run: (wire: Wire) => Promise<void>): Proof {
  return {
    it: `${operation} ${what.join(', ')}`,
    rows: what.map((name) => `${operation} ${name}`),
    run: async (wire) => {
      await wire.must({ method: 'PUT' })
      await run(wire)
    },
  }
}

/** A valid request of an operation, and all that it needs. */
export async function validAsk(
  wire: Wire,
  operation: string,
): Promise<{ ask: Ask; succeeds: number; open: OpenUpload }> {
  const open = await prepareAsks(wire)
  const found = asks(open)[operation]
  if (found === undefined) throw new Error(`wire-asks has no request of ${operation}`)
  const { succeeds, ...ask } = found
  return { ask, succeeds, open }
}

type Values = Readonly<Record<string, unknown>>

export interface Answering {
  operation: string
  /** What is special about this answer, where an operation has several proofs. */
  it: string
  given?: Given
  /** `{{name}}` is a fact that `given` found out. */
  ask: Ask
  status?: number
  headers?: Values
  vendor?: Values
  /** Headers of a vendor prefix: by prefix, what follows it and its value. */
  prefixed?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** By path from the root: the texts of all elements there; one text where there is one. */
  elements?: Values
  data?: string
  /** Rows of the request that the answer proves too: `request query:prefix`. */
  proves?: readonly string[]
}

/** A proof of what an operation answers: every row that is named must have its value. */
export function answering(answer: Answering): Proof {
  const { operation, headers = {}, vendor = {}, prefixed = {}, elements = {}, data } = answer
  const rowsIn = (place: string, values: object): string[] =>
    Object.keys(values).map((name) => `${operation} answer ${place}:${name}`)
  return {
    it: `${operation} answers ${answer.it}`,
    rows: [
      ...rowsIn('header', headers),
      ...rowsIn('vendor', vendor),
      ...rowsIn('vendor-prefix', prefixed),
      ...rowsIn('element', elements),
      ...(data === undefined ? [] : [`${operation} answer data:body`]),
      ...(answer.proves ?? []).map((what) => `${operation} ${what}`),
    ],
    run: async (wire) => {
      await wire.must({ method: 'PUT' })
      const facts = { prefix: wire.style.prefix, port: String(wire.port), ...(await answer.given?.(wire)) }
      expectAnswer(wire, await wire.ask(fill(answer.ask, facts)), fill(answer, facts))
    },
  }
}

function expectAnswer(wire: Wire, reply: Reply, answer: Answering): void {
  const { headers = {}, vendor = {}, prefixed = {}, elements = {}, data, status = 200 } = answer
  expect(reply.status, reply.body.toString('latin1').slice(0, 500)).toBe(status)
  const wanted = [
    ...Object.entries(headers),
    ...Object.entries(vendor).map(([name, value]) => [wire.style.prefix + name, value] as const),
    ...Object.entries(prefixed).flatMap(([prefix, values]) =>
      Object.entries(values).map(([name, value]) => [wire.style.prefix + prefix + name, value] as const),
    ),
  ]
  for (const [name, value] of wanted) expect(reply.headers.get(name.toLowerCase()), name).toEqual(value)
  const texts = Object.keys(elements).length === 0 ? new Map<string, string[]>() : textsByPath(reply.body)
  for (const [path, value] of Object.entries(elements)) {
    // An attribute is read as an element of its name.
    expect(texts.get(path.replace('@', '')) ?? [], path).toEqual(Array.isArray(value) ? value : [value])
  }
  if (data !== undefined) expect(reply.body.toString()).toBe(data)
}

/** The texts of a document by the path of their elements, in order. */
function textsByPath(body: Buffer): Map<string, string[]> {
  const { root, value } = readXml(body)
  const texts = new Map<string, string[]>()
  const visit = (path: string, at: XmlValue | XmlValue[]): void => {
    if (Array.isArray(at)) for (const item of at) visit(path, item)
    else if (typeof at === 'string') texts.set(path, [...(texts.get(path) ?? []), at])
    else for (const [name, child] of Object.entries(at)) visit(`${path}/${name}`, child)
  }
  visit(root, value)
  return texts
}

/** The texts at one path of an answer that must be a success. */
export async function texts(wire: Wire, ask: Ask, path: string): Promise<string[]> {
  return textsByPath((await wire.must(ask)).body).get(path) ?? []
}

/** A header of the dialect, by its name without prefix. */
export const vendorOf = (wire: Wire, reply: Reply, name: string): string | undefined =>
  reply.headers.get(wire.style.prefix + name.toLowerCase())

/** Asserts that a request is refused, and with which code; an answer without a body says no code. */
export async function refuses(wire: Wire, ask: Ask, status: number, code: string): Promise<void> {
  const reply = await wire.ask(ask)
  const said = /<Code>(\w+)<\/Code>/.exec(reply.body.toString())?.[1]
  expect({ status: reply.status, code: said }).toEqual({ status, code: reply.body.length > 0 ? code : undefined })
}

/** Puts facts into the texts of plain data. */
function fill<T>(value: T, facts: Facts): T {
  const fillAny = (part: unknown): unknown => {
    if (typeof part === 'string')
      return part.replace(/\{\{(\w+)\}\}/g, (_, name: string) => facts[name] ?? `no ${name}`)
    if (Array.isArray(part)) return part.map(fillAny)
    const isPlain = typeof part === 'object' && part !== null && Object.getPrototypeOf(part) === Object.prototype
    return isPlain ? Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, fillAny(inner)])) : part
  }
  return fillAny(value) as T
}
