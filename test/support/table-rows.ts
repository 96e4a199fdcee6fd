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
