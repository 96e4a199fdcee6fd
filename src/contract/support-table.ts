/** What this server does with each operation and each of its parameters, as rows: read off the declarations, so that it cannot differ from them. Pure. */
import type { FieldPlace, InputBody, OutputBody, Support } from './fields.ts'
import { type DocumentedFlag, documentedFlag } from './interface-document.ts'
import type { Method, Operation, Target } from './operation.ts'

export interface ParameterRow extends Support {
  /** In which message, and where in it. */
  message: 'request' | 'answer'
  in: FieldPlace['in']
  /** As documented; vendor names without prefix. */
  name: string
  required: boolean
  /** The flag that the interface document gives it there. Absent: it does not name it. */
  documented: DocumentedFlag | undefined
}

export interface OperationRow {
  name: string
  summary: string
  here: Support['here']
  method: Method
  target: Target
  /** What a request must hold besides: query parameters, and vendor headers without prefix. */
  query: readonly string[]
  vendorHeaders: readonly string[]
  requestBody: string
  answerBody: string
  status: number
  errors: readonly string[]
  parameters: readonly ParameterRow[]
}

export type DeclaredOperation = Omit<Operation<never>, 'handle'>

export function supportTable(operations: readonly DeclaredOperation[]): OperationRow[] {
  return operations.map((operation) => ({
    name: operation.name,
    summary: operation.summary,
    here: operation.implemented ? 'works' : 'refused',
    method: operation.method,
    target: operation.target,
    query: operation.query,
    vendorHeaders: operation.vendorHeaders,
    requestBody: bodyOf(operation.inputBody),
    answerBody: bodyOf(operation.outputBody),
    status: operation.status,
    errors: operation.errors,
    parameters: [
      ...Object.values(operation.input).map(
        (field): ParameterRow => parameterRow(operation, 'request', field, field.required),
      ),
      ...Object.values(operation.output).map((field): ParameterRow => parameterRow(operation, 'answer', field, false)),
    ],
  }))
}

function parameterRow(
  operation: DeclaredOperation,
  message: ParameterRow['message'],
  field: FieldPlace & { support: Support },
  required: boolean,
): ParameterRow {
  const documented = documentedFlag(operation.name, message, field)
  return { message, in: field.in, name: field.name, required, documented, ...field.support }
}

/** The root of the document, `data`, or nothing. */
function bodyOf(body: InputBody | OutputBody): string {
  if (body.kind === 'xml') return body.root
  return body.kind === 'stream' ? 'data' : ''
}
