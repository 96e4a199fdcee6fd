/** Renders the support table as Markdown: docs/api.md, and the short table of the README. Knows no operation. */
import type { SpecFlag } from './fields.ts'
import type { OperationRow, ParameterRow } from './support-table.ts'

/** An error code, its status and its message. */
export type ErrorRow = readonly [code: string, entry: { status: number; message: string }]

const flagTexts: Readonly<Record<SpecFlag, string>> = {
  supported: 'Supported',
  'partially-supported': 'Partially Supported',
  'not-supported': 'Not Supported',
  unflagged: 'no flag',
  aws: 'not named',
}

const byTarget = [
  ['service', 'Service'],
  ['bucket', 'Buckets'],
  ['object', 'Objects'],
] as const

export function apiPage(rows: readonly OperationRow[], errors: readonly ErrorRow[]): string {
  const working = rows.filter((row) => row.here === 'works')
  const refused = rows.filter((row) => row.here === 'refused')
  return page([
    '# API support',
    '',
    '<!-- Generated from the operations’ declarations by `npm run docs`. Do not edit. -->',
    '',
    'Vendor headers are written with `*-`: each works as `x-amz-*` and as `x-store-*`, and answers come in the dialect of the request.',
    'The column *Interface document* repeats the flag that the S3 interface document gives a parameter; *Here* says what this',
    'server does with it. What is refused is answered by name with 501 `NotImplemented`, or with the 400 that S3 itself gives where access',
    'control lists are disabled. A parameter that is in no table has no effect here; beside a body, Content-Length is understood everywhere.',
    '',
    `## Operations (${working.length} work, ${refused.length} are refused by name)`,
    '',
    ...working.flatMap(operationSection),
    '## Refused operations',
    '',
    'Known to S3, not (yet) to this server, and never taken for another operation:',
    '',
    ...table(
      ['Operation', 'Request'],
      refused.map((row) => [row.name, code(requestLine(row))]),
    ),
    '',
    '## Errors',
    '',
    'Any request can be answered with the errors of authentication, addressing and overload; each operation names its own above.',
    '',
    ...table(
      ['Code', 'Status', 'Message'],
      errors.map(([name, { status, message }]) => [code(name), String(status), message]),
    ),
  ])
}

/** One row for each target: what works, and what is refused. */
export function supportSummary(rows: readonly OperationRow[]): string {
  const names = (target: string, here: string): string =>
    rows
      .filter((row) => row.target === target && row.here === here)
      .map((row) => row.name)
      .join(', ')
  return table(
    ['', 'Works', 'Refused by name (501)'],
    byTarget.map(([target, title]) => [title, names(target, 'works'), names(target, 'refused')]),
  ).join('\n')
}

function operationSection(row: OperationRow): string[] {
  const bodies = [
    row.requestBody === '' ? [] : [`Request body: ${bodyText(row.requestBody)}.`],
    [`Answer: ${row.status}${row.answerBody === '' ? '' : `, ${bodyText(row.answerBody)}`}.`],
    row.errors.length === 0 ? [] : [`Errors: ${row.errors.map(code).join(', ')}.`],
  ].flat()
  const request = row.parameters.filter(({ message }) => message === 'request')
  const answer = row.parameters.filter(({ message }) => message === 'answer')
  return [
    `### ${row.name}`,
    '',
    `\`${requestLine(row)}\`: ${row.summary}`,
    '',
    bodies.join(' '),
    '',
    ...(request.length === 0 ? [] : [...parameterTable('Request parameter', request), '']),
    ...(answer.length === 0 ? [] : [...parameterTable('Answer header', answer), '']),
  ]
}

function parameterTable(title: string, rows: readonly ParameterRow[]): string[] {
  return table(
    [title, 'In', 'Interface document', 'Here'],
    rows.map((row) => [
      code(nameText(row)) + (row.required ? ' (required)' : ''),
      row.in === 'query' ? 'query' : 'header',
      flagTexts[row.spec],
      row.here,
    ]),
  )
}

function nameText({ in: place, name }: ParameterRow): string {
  if (place === 'vendor') return `*-${name}`
  return place === 'vendor-prefix' ? `*-${name}<name>` : name
}

const paths = { service: '/', bucket: '/{Bucket}', object: '/{Bucket}/{Key}' } as const

function requestLine({ method, target, query, vendorHeaders }: OperationRow): string {
  const queryText = query.length === 0 ? '' : `?${query.join('&')}`
  const headerText = vendorHeaders.map((name) => ` with *-${name}`).join('')
  return `${method} ${paths[target]}${queryText}${headerText}`
}

function bodyText(body: string): string {
  return body === 'data' ? 'data' : `XML \`${body}\``
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)]
}

const code = (text: string): string => `\`${text}\``

const page = (lines: readonly string[]): string => `${lines.join('\n')}\n`
