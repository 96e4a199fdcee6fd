/** The rows of the support table, each with a name of its own that tests of all of them go by. */
import { type OperationRow, type ParameterRow, supportTable } from '../../src/contract/support-table.ts'
import { operations } from '../../src/operations/table.ts'

export interface TableRow extends ParameterRow {
  operation: string
  /** `PutObject request vendor:checksum-crc32`, `ListObjects answer element:ListBucketResult/Name`. */
  id: string
}

export const operationRows: readonly OperationRow[] = supportTable(operations)

export const tableRows: readonly TableRow[] = operationRows.flatMap(({ name: operation, parameters }) =>
  parameters.map((row) => ({ ...row, operation, id: `${operation} ${row.message} ${row.in}:${row.name}` })),
)

export const workingRows: readonly TableRow[] = tableRows.filter(({ here }) => here === 'works')

/** The operations that have a working row: `request query:prefix`. */
export const operationsWith = (what: string): string[] =>
  workingRows.filter(({ id, operation }) => id === `${operation} ${what}`).map(({ operation }) => operation)

/** What `expected-bucket-owner.test.ts` proves of every operation that has it. */
export const ownersRows = ['request vendor:expected-bucket-owner', 'request vendor:request-payer'] as const
