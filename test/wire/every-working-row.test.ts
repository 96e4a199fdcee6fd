/** Every row of the support table that works has a proof: a check over the wire of what it does. A row without a proof fails, and a proof without a row. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { documentedRules } from '../../src/contract/interface-document/rules.ts'
import { workingRows } from '../support/table-proofs/proof.ts'
import { proofs } from '../support/table-proofs/proofs.ts'
import { ruleProofs } from '../support/table-proofs/rules.ts'
import { openWire, type Style, styleName, type Wire } from '../support/wire-client.ts'
import { startWireServer, type WireServer } from '../support/wire-server.ts'

const proven = new Set(proofs.flatMap(({ rows }) => rows))
/** An element that holds others is proven by one of them. */
const isProven = ({ id, container }: { id: string; container: boolean }): boolean =>
  proven.has(id) || (container && [...proven].some((other) => other.startsWith(`${id}/`)))
const unproven = workingRows.filter((row) => !isProven(row))

describe(`the support table: ${workingRows.length} rows work, ${unproven.length} of them without proof`, () => {
  it('has a proof for every row that works', () => {
    expect(unproven.map(({ id }) => id)).toEqual([])
  })

  it('has a row for everything that is proven', () => {
    const known = new Set(workingRows.map(({ id }) => id))
    expect([...proven].filter((id) => !known.has(id))).toEqual([])
  })
})

describe(`the interface document: ${documentedRules.length} rules, errors, limits and transitions`, () => {
  it('has a proof for each, and for nothing else', () => {
    const says = documentedRules.map((rule) => rule.says)
    expect(Object.keys(ruleProofs).sort()).toEqual([...says].sort())
  })
})

let server: WireServer
beforeAll(async () => {
  server = await startWireServer()
})
afterAll(async () => {
  await server.close()
  expect(server.unexpected).toEqual([])
})
beforeEach(() => server.empty())

const dialects: readonly Style[] = [
  { prefix: 'x-amz-', hosting: 'path' },
  { prefix: 'x-store-', hosting: 'virtual-host' },
]

describe.each(dialects.map((style) => [styleName(style), style] as const))('%s', (_, style) => {
  let wire: Wire
  beforeAll(() => {
    wire = openWire(server.port, style)
  })
  afterAll(() => wire.close())

  it.each(proofs.map((proof) => [proof.it, proof] as const))('%s', (_, proof) => proof.run(wire))

  it.each(Object.entries(ruleProofs))('%s', async (_, prove) => {
    await wire.must({ method: 'PUT' })
    await prove(wire)
  })
})
