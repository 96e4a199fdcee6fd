/**
 * How a row of the support table is proven to work. A proof names the rows it proves, starts at an empty server, and fails unless each of them has the
 * effect that S3 documents: that a request was answered with 200 proves nothing.
 */
import { expect } from 'vitest'
import { operationsWith } from '../table-rows.ts'
import { asks, type OpenUpload, prepareAsks } from '../wire-asks.ts'
import type { Ask, Reply, Wire } from '../wire-client.ts'
import { readXml, type XmlValue } from '../wire-xml.ts'

export interface Proof {
  it: string
  /** In the table's spelling: `PutObject request vendor:tagging`. */
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
