/**
 * Every row of the support table that works, and every sentence of the interface document, has a proof over the wire: rows of wire tests, each of which says what
 * it proves, or one of the proofs that run here, most of them of what many operations have.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { documentedRules } from '../../src/contract/interface-document/rules.ts'
import { provenBy, unsent } from '../support/row-proofs.ts'
import { interruptedRules } from '../support/table-proofs/interrupted-rules.ts'
import { proofs } from '../support/table-proofs/proofs.ts'
import { operationsWith, ownersRows, workingRows } from '../support/table-rows.ts'
import { inTurn } from '../support/turns.ts'
import { type Style, styleName } from '../support/wire-client.ts'
import { wireServer, wireTo } from '../support/wire-fixture.ts'
import { collectWireTests } from '../support/wire-rows.ts'

const folder = new URL('./', import.meta.url)
const ofRows = readdirSync(folder)
  .filter((name) => name.endsWith('.test.ts') && /^wireTests\(/m.test(readFileSync(new URL(name, folder), 'utf8')))
  .map((name) => name.replace('.test.ts', ''))
const tests = await collectWireTests(() => Promise.all(ofRows.map((name) => import(`./${name}.test.ts`))))
const rows = tests.flatMap(({ operation, rows }) => rows.map((row) => ({ operation, row })))

const provenByRows = new Set(rows.flatMap(({ operation, row }) => provenBy(operation, row)))
/** What many operations have is not proven again of those whose rows prove it. */
const furtherProofs = proofs.filter((proof) => !proof.rows.every((what) => provenByRows.has(what)))
const proven = new Set([
  ...provenByRows,
  ...furtherProofs.flatMap((proof) => proof.rows),
  ...Object.keys(interruptedRules),
  ...ownersRows.flatMap((what) => operationsWith(what).map((operation) => `${operation} ${what}`)),
])
/** An element that holds others is proven by one of them. */
const isProven = ({ id, container }: { id: string; container: boolean }): boolean =>
  proven.has(id) || (container && [...proven].some((other) => other.startsWith(`${id}/`)))
const unproven = workingRows.filter((row) => !isProven(row))
const sentences = documentedRules.map(({ says }) => says)

describe(`the support table: ${workingRows.length} rows work, ${unproven.length} of them without proof`, () => {
  it('has a proof for every row that works', () => {
    expect(unproven.map(({ id }) => id)).toEqual([])
  })

  it('has a row, or the interface document a sentence, for everything that is proven', () => {
    const known = new Set([...workingRows.map(({ id }) => id), ...sentences])
    expect([...proven].filter((id) => !known.has(id))).toEqual([])
  })

  it('has rows that send the parameters that they prove', () => {
    expect(rows.flatMap(({ row }) => unsent(row).map((name) => `${row.it}: ${name}`))).toEqual([])
  })
})

describe(`the interface document: ${sentences.length} rules, errors, limits and transitions`, () => {
  it('has a proof for each', () => {
    expect(sentences.filter((says) => !proven.has(says))).toEqual([])
  })
})

const server = wireServer()
beforeEach(() => server.empty())

const dialects: readonly Style[] = [
  { prefix: 'x-amz-', hosting: 'path' },
  { prefix: 'x-store-', hosting: 'virtual-host' },
]

describe.each(dialects.map((style) => [styleName(style), style] as const))('%s', (_, style) => {
  const wire = wireTo(server, style)

  it.each(inTurn(furtherProofs, dialects, style).map((proof) => [proof.it, proof] as const))('%s', (_, proof) =>
    proof.run(wire),
  )

  it.each(inTurn(Object.entries(interruptedRules), dialects, style))('%s', (_, prove) => prove(wire))
})
