/** Walks the interface document, kept as data: whatever it names must have a row in the support table, and so must do what the row says. */
import { describe, expect, it } from 'vitest'
import { documentedRules } from '../../src/contract/interface-document/rules.ts'
import { documentedFlag, documentedNames } from '../../src/contract/interface-document.ts'
import { supportTable } from '../../src/contract/support-table.ts'
import { operations } from '../../src/operations/table.ts'

const rows = supportTable(operations).flatMap(({ name: operation, parameters }) =>
  parameters.map((row) => ({ operation, ...row })),
)
const idOf = (row: { operation: string; message: string; in: string; name: string }): string =>
  `${row.operation} ${row.message} ${row.in}:${/^(?:header|vendor)$/.test(row.in) ? row.name.toLowerCase() : row.name}`

const byId = new Map(rows.map((row) => [idOf(row), row]))
const found = documentedNames.flatMap((name) => byId.get(idOf(name)) ?? [])
const unknown = documentedNames.filter((name) => !byId.has(idOf(name))).map(idOf)
const counted = (here: string): number => found.filter((row) => row.here === here).length

describe(`the interface document: ${documentedNames.length} names of ${new Set(documentedNames.map(({ operation }) => operation)).size} operations, and ${documentedRules.length} rules`, () => {
  it(`has no name that the support table does not: ${counted('works')} work, ${counted('refused')} are refused, ${unknown.length} unknown`, () => {
    expect(unknown).toEqual([])
  })

  it('names everything once in an operation and a message', () => {
    expect(new Set(documentedNames.map(idOf)).size).toBe(documentedNames.length)
    expect(new Set(documentedRules.map(({ says }) => says)).size).toBe(documentedRules.length)
  })

  it('says where a document needs no digest in its own dialect: where it flags Content-MD5 as not supported', () => {
    const flagOf = (name: string): string | undefined =>
      documentedFlag(name, 'request', { in: 'header', name: 'Content-MD5' })
    const needing = operations.flatMap(({ name, inputBody }) =>
      inputBody.kind === 'xml' && inputBody.digestRequired !== false ? [[name, inputBody.digestRequired] as const] : [],
    )
    expect(needing.length).toBeGreaterThan(2)
    for (const [name, required] of needing)
      expect([name, required]).toEqual([name, flagOf(name) === 'not-supported' ? 'by AWS' : true])
  })

  it('names only operations that work', () => {
    const working = new Set(operations.filter(({ implemented }) => implemented).map(({ name }) => name))
    expect(documentedNames.filter(({ operation }) => !working.has(operation))).toEqual([])
  })
})
