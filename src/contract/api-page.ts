/** Renders what clients can rely on as Markdown: docs/api.md, and the short tables of other pages. */
import { limits } from '../limits.ts'
import { documentedRules } from './interface-document/rules.ts'
import type { DocumentedFlag } from './interface-document.ts'
import { code, page, table } from './markdown.ts'
import type { OperationRow, ParameterRow } from './support-table.ts'

const flagTexts: Readonly<Record<DocumentedFlag, string>> = {
  supported: 'Supported',
  'partially-supported': 'Partially Supported',
  'not-supported': 'Not Supported',
  unflagged: 'no flag',
}

const byTarget = [
  ['service', 'the service'],
  ['account', 'accounts'],
  ['arn', 'ARNs of buckets'],
  ['bucket', 'buckets'],
  ['object', 'objects'],
] as const

export function apiPage(rows: readonly OperationRow[]): string {
  const working = rows.filter((row) => row.here === 'works')
  const refused = rows.filter((row) => row.here === 'refused')
  return page([
    '# API support',
    '',
    '<!-- Generated from the operations’ declarations by `npm run docs`. Do not edit. -->',
    '',
    'Vendor headers are written with `*-`: each works as `x-amz-*` and as `x-store-*`, and the answer uses the dialect of the request.',
    'The column *Interface document* repeats the flag that the S3 interface document gives a parameter; *Here* says what this',
    'server does with it. Where it refuses, the column names the error: `NotImplemented` names the parameter, other codes are S3’s own.',
    'A vendor header that an operation does not list is also refused by name if it asks for a guarantee, belongs to a family of names that',
    'do (locks, encryption, checksums, conditions, the source of a copy, grants, tags), or looks like one of a lock, of encryption or of a checksum, so that a typing error is never a lost lock. All other headers',
    'and query parameters that an operation does not list have no effect, unless they name another operation. XML elements are given by their path.',
    '',
    `## Operations (${working.length} work, ${refused.length} are refused by name)`,
    '',
    ...working.flatMap(operationSection),
    '## Refused operations',
    '',
    'S3 has these operations. This server does not have them (yet), and never mistakes them for others:',
    '',
    ...table(
      ['Operation', 'Request'],
      refused.map((row) => [row.name, code(requestLine(row))]),
    ),
    '',
    '## Errors, limits and rules',
    '',
    'The interface document also has these rules. Each has a test. [errors.md](errors.md) lists every error with its status',
    'and its message.',
    '',
    ...table(
      ['', 'Interface document', 'Here'],
      documentedRules.map(({ kind, says }) => [kind, says, 'works']),
    ),
  ])
}

/** One row for each target: how many operations work, and how many are refused. */
export function supportSummary(rows: readonly OperationRow[]): string {
  const count = (target: string, here: string): string =>
    String(rows.filter((row) => row.target === target && row.here === here).length)
  return table(
    ['Operations on', 'Work', 'Refused by name'],
    byTarget.map(([target, title]) => [title, count(target, 'works'), count(target, 'refused')]),
  ).join('\n')
}

/** The limits that clients meet. */
export function limitsSummary(): string {
  const days = limits.abandonedUploadMs / (24 * 60 * 60 * 1000)
  return table(
    ['Limit', 'Value'],
    [
      ['Object', sizeText(limits.objectBytesMax)],
      ['One PUT, or one part', sizeText(limits.putBytesMax)],
      [
        'Parts of an upload',
        `1 to ${countText(limits.partNumberMax)}, each but the last at least ${sizeText(limits.partBytesMin)}`,
      ],
      ['Key', `${countText(limits.keyBytesMax)} bytes of UTF-8`],
      ['User metadata', sizeText(limits.userMetadataBytesMax)],
      ['Other headers that are stored with an object', sizeText(limits.systemMetadataBytesMax)],
      [
        'Tags',
        `${limits.objectTagsMax} an object, ${limits.bucketTagsMax} a bucket; ${limits.tagKeyCharsMax} characters a key, ${limits.tagValueCharsMax} a value`,
      ],
      ['CORS configuration of a bucket', `${limits.corsRulesMax} rules, ${sizeText(limits.corsDocumentBytesMax)}`],
      [
        'Website configuration of a bucket',
        `${limits.routingRulesMax} rules, ${sizeText(limits.websiteDocumentBytesMax)}`,
      ],
      ['Keys of a list page, and of one DeleteObjects', countText(limits.listKeysMax)],
      ['Life of a presigned URL', `${countText(limits.presignedExpirySecondsMax)} seconds`],
      ['Clock difference of a signature', `${limits.clockSkewMsMax / 60_000} minutes`],
      ['Life of an upload that nobody completes', `${days} days (configurable)`],
    ],
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
    ...(request.length === 0 ? [] : [...parameterTable('Request', request), '']),
    ...(answer.length === 0 ? [] : [...parameterTable('Answer', answer), '']),
  ]
}

function parameterTable(title: string, rows: readonly ParameterRow[]): string[] {
  return table(
    [title, 'In', 'Interface document', 'Here'],
    rows.map((row) => [
      code(nameText(row)) + (row.required ? ' (required)' : ''),
      row.inForm ? placeTexts.form : placeTexts[row.in],
      row.documented === undefined ? 'not named' : flagTexts[row.documented],
      hereText(row),
    ]),
  )
}

const placeTexts: Readonly<Record<ParameterRow['in'], string>> = {
  address: 'address',
  header: 'header',
  vendor: 'header',
  'vendor-prefix': 'header',
  query: 'query',
  form: 'form field',
  element: 'XML',
  data: 'body',
}

function hereText({ here, only, refusal, absentUnless }: ParameterRow): string {
  if (absentUnless !== undefined) return `absent unless ${absentUnless}`
  const otherwise = refusal === undefined ? '' : code(refusal)
  if (here === 'refused') return `refused: ${otherwise}`
  return only === undefined ? 'works' : `works for ${only}; otherwise ${otherwise}`
}

function nameText({ in: place, name }: ParameterRow): string {
  if (place === 'vendor') return `*-${name}`
  return place === 'vendor-prefix' ? `*-${name}<name>` : name
}

const paths = {
  service: '/',
  account: '/v20180820/configuration/publicAccessBlock',
  arn: '/v20180820/tags/{resourceArn}',
  bucket: '/{Bucket}',
  object: '/{Bucket}/{Key}',
} as const

function requestLine({ method, target, query, vendorHeaders }: OperationRow): string {
  const queryText = query.length === 0 ? '' : `?${query.join('&')}`
  const headerText = vendorHeaders.map((name) => ` with *-${name}`).join('')
  return `${method} ${paths[target]}${queryText}${headerText}`
}

function bodyText(body: string): string {
  return body === 'data' ? 'data' : `XML \`${body}\``
}

function sizeText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = units.findLastIndex((_, i) => bytes % 1024 ** i === 0)
  return `${bytes / 1024 ** power} ${units[power]}`
}

const countText = (count: number): string => count.toLocaleString('en-US')
