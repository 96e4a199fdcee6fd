/** What this server does with each operation and each of its parameters, as rows. They are derived from the declarations. Pure. */
import { checksumFields } from '../checksums/checksums.ts'
import type { ErrorCode } from '../errors.ts'
import type { FieldPlace, InputBody, OutputBody } from './fields.ts'
import { type DocumentedFlag, documentedFlag, type Message } from './interface-document.ts'
import type { Method, Operation, Target } from './operation.ts'
import { elementsOf } from './shapes.ts'
import { firstVersion, type Support, works } from './support.ts'

export interface ParameterRow {
  /** The message, and where in it. */
  message: Message
  /** Where a field can be, or one of: Host and path, the XML document, the bytes of an object or a part. */
  in: FieldPlace['in'] | 'address' | 'element' | 'data'
  /** As documented; vendor names without prefix, elements by their path from the root: `Delete/Object/Key`. */
  name: string
  required: boolean
  /** A form field in this operation, and a header in others. */
  inForm?: true
  /** An element that contains others. */
  container: boolean
  /** The interface document's flag. Absent: the document does not name it there. */
  documented?: DocumentedFlag
  here: Support['here']
  /** The values that work, when only some do. */
  only?: string
  /** The condition under which an answer carries it. It never holds here. */
  absentUnless?: string
  /** The code of the error when it is refused, or for a value that does not work. */
  refusal?: ErrorCode
  /** The first version that does so. */
  since: string
}

export interface OperationRow {
  name: string
  summary: string
  here: Support['here']
  /** The code of the error for a refused operation. */
  refusal?: ErrorCode
  since: string
  method: Method
  target: Target
  /** Query parameters that a request must have; `vendorHeaders` (without prefix) likewise. */
  query: readonly string[]
  vendorHeaders: readonly string[]
  requestBody: string
  answerBody: string
  status: number
  /** Its errors beyond those of any request. */
  errors: readonly ErrorCode[]
  parameters: readonly ParameterRow[]
}

export type DeclaredOperation = Omit<Operation<never>, 'handle'>

/** A row before the operation and its document are known. */
type Described = Pick<ParameterRow, 'in' | 'name'> &
  Partial<Pick<ParameterRow, 'required' | 'container' | 'inForm'>> & {
    support?: Support
  }

export function supportTable(operations: readonly DeclaredOperation[]): OperationRow[] {
  return operations.map((operation) => ({
    name: operation.name,
    summary: operation.summary,
    ...(operation.implemented ? { here: 'works' } : { here: 'refused', refusal: 'NotImplemented' }),
    since: firstVersion,
    method: operation.method,
    target: operation.target,
    query: operation.query,
    vendorHeaders: operation.vendorHeaders,
    requestBody: bodyOf(operation.inputBody),
    answerBody: bodyOf(operation.outputBody),
    status: operation.status,
    errors: operation.errors,
    parameters: operation.implemented ? parametersOf(operation) : [],
  }))
}

function parametersOf(operation: DeclaredOperation): ParameterRow[] {
  const inForm = operation.authentication === 'form' ? ({ inForm: true } as const) : {}
  const fields = Object.values(operation.input).map((field): Described => ({ ...field, ...inForm }))
  const request = [...addresses[operation.target], ...fields, ...requestBody(operation)]
  const answer = [...Object.values(operation.output), ...answerBody(operation.outputBody)]
  return [
    ...request.map((row) => parameterRow(operation, 'request', row)),
    ...answer.map((row) => parameterRow(operation, 'answer', row)),
  ]
}

function parameterRow({ name: operation }: DeclaredOperation, message: Message, row: Described): ParameterRow {
  const { in: place, name, required = false, container = false, inForm, support = works } = row
  const documented = documentedFlag(operation, message, row)
  return {
    message,
    in: place,
    name,
    required: message === 'request' && required,
    container,
    ...(inForm === undefined ? {} : { inForm }),
    ...(documented === undefined ? {} : { documented }),
    ...(message === 'request' ? support : answeredAs(support)),
    since: support.since ?? firstVersion,
  }
}

/** Drops what concerns only requests of the same shape: which values work, and how others are refused. */
function answeredAs({ only: _, refusal: __, ...rest }: Support): Support {
  return rest
}

const addresses: Readonly<Record<Target, readonly Described[]>> = {
  service: [],
  account: [],
  arn: [{ in: 'address', name: 'resourceArn', required: true }],
  bucket: [{ in: 'address', name: 'Bucket', required: true }],
  object: [
    { in: 'address', name: 'Bucket', required: true },
    { in: 'address', name: 'Key', required: true },
  ],
}

function requestBody({ input, inputBody }: DeclaredOperation): Described[] {
  if (inputBody.kind === 'none') return []
  if (inputBody.kind === 'stream') {
    return [
      { in: 'header', name: 'Content-Length' },
      { in: 'data', name: 'body', required: true },
    ]
  }
  const declared = new Set(Object.values(input).map(({ name }) => name))
  if (inputBody.kind === 'json') {
    return [
      ...documentDigests({}).filter(({ name }) => !declared.has(name)),
      { in: 'data', name: 'body', required: true },
    ]
  }
  return [
    ...documentDigests(inputBody).filter(({ name }) => !declared.has(name)),
    ...elementsOf(inputBody.root, inputBody.shape).map(
      ({ path, required, ...rest }): Described => ({
        ...rest,
        in: 'element',
        name: path,
        required: required && inputBody.required,
      }),
    ),
  ]
}

/** Digests of a document. They are verified whether or not the operation declares them. */
function documentDigests({
  checksumsOf = 'body',
}: Pick<Extract<InputBody, { kind: 'xml' }>, 'checksumsOf'>): Described[] {
  const md5: Described = { in: 'header', name: 'Content-MD5' }
  if (checksumsOf === 'object') return [md5]
  const names = [...Object.values(checksumFields).map(({ header }) => header), 'sdk-checksum-algorithm']
  return [md5, ...names.map((name): Described => ({ in: 'vendor', name }))]
}

function answerBody(body: OutputBody): Described[] {
  if (body.kind === 'none') return []
  if (body.kind !== 'xml') return [{ in: 'data', name: 'body' }]
  return elementsOf(body.root, body.shape).map(
    ({ path, support, ...rest }): Described => ({
      ...rest,
      in: 'element',
      name: path,
      // The shape can also be that of a request, where the element is refused.
      support: support.here === 'works' ? support : { here: 'works', absentUnless: 'it was set, which is refused' },
    }),
  )
}

/** The root of the document, `data`, or nothing. */
function bodyOf(body: InputBody | OutputBody): string {
  if (body.kind === 'xml') return body.root
  if (body.kind === 'json') return 'JSON'
  return body.kind === 'stream' ? 'data' : ''
}
