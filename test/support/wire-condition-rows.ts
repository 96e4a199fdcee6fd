/** Rows of GetObject and HeadObject under If-* conditions, in all combinations. */
import { md5Hex } from './wire-checksums.ts'
import { fox, foxEtag, foxText, type ReadMethod } from './wire-fox.ts'
import { type Row, refusal } from './wire-rows.ts'

const past = 'Sat, 01 Jan 2000 00:00:00 GMT'
const other = `"${md5Hex('another foxText')}"`

type Condition = 'If-Match' | 'If-Unmodified-Since' | 'If-None-Match' | 'If-Modified-Since'
/** What each header may say, and whether the condition that it states is true. */
const said: Record<Condition, readonly [value: string | undefined, holds: boolean][]> = {
  'If-Match': [
    [undefined, true],
    [foxEtag, true],
    [other, false],
  ],
  'If-Unmodified-Since': [
    [undefined, true],
    ['{{lastModified}}', true],
    [past, false],
  ],
  'If-None-Match': [
    [undefined, true],
    [other, true],
    [`${other}, ${foxEtag}`, false],
  ],
  'If-Modified-Since': [
    [undefined, true],
    [past, true],
    ['{{lastModified}}', false],
  ],
}

/** Every combination of the four, answered as RFC 9110 section 13.2.2 orders them. */
export function conditionRows(method: ReadMethod): Row[] {
  const rows: Row[] = []
  for (const [ifMatch, matches] of said['If-Match'])
    for (const [ifUnmodifiedSince, unmodified] of said['If-Unmodified-Since'])
      for (const [ifNoneMatch, noneMatches] of said['If-None-Match'])
        for (const [ifModifiedSince, modified] of said['If-Modified-Since']) {
          const failed = ifMatch === undefined ? !unmodified : !matches
          const notModified = ifNoneMatch === undefined ? !modified : !noneMatches
          rows.push(
            conditionRow(method, failed ? 412 : notModified ? 304 : 200, {
              'If-Match': ifMatch,
              'If-Unmodified-Since': ifUnmodifiedSince,
              'If-None-Match': ifNoneMatch,
              'If-Modified-Since': ifModifiedSince,
            }),
          )
        }
  return [...rows, ...singleConditionRows(method)]
}

function conditionRow(
  method: ReadMethod,
  status: 200 | 304 | 412,
  conditions: Record<Condition, string | undefined>,
): Row {
  const sent = Object.entries(conditions).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  const what = sent.length === 0 ? 'no condition' : sent.map(([name, value]) => `${name}: ${nameOf(value)}`).join(', ')
  const [only, another] = sent.map(([name]) => name)
  const row = {
    it: `answers ${status} for ${what}`,
    proves: only === undefined || another !== undefined ? [] : [`header:${only}`, ...sentence(status, only)],
    given: fox,
    ask: { method, key: 'fox', headers: Object.fromEntries(sent) },
  }
  if (status === 412) return { ...row, ...refusal('PreconditionFailed') }
  if (status === 200) return { ...row, status, headers: { ETag: foxEtag } }
  return {
    ...row,
    ...refusal('NotModified'),
    headers: { ETag: foxEtag, 'Last-Modified': '{{lastModified}}', 'Content-Length': undefined },
    body: '',
  }
}

/** What the interface document says of a condition that fails. */
function sentence(status: 200 | 304 | 412, name: string): string[] {
  if (status === 200) return []
  const failed = { 'If-Match': 'not matching', 'If-None-Match': 'matching', 'If-Modified-Since': 'unmodified' }
  return [`${status}: GetObject or HeadObject with ${name}, ${failed[name as keyof typeof failed] ?? 'modified'}`]
}

const nameOf = (value: string): string =>
  value === '*'
    ? value
    : value === past
      ? 'the past'
      : value.startsWith('{{')
        ? 'Last-Modified'
        : value.endsWith(foxEtag)
          ? 'its tag'
          : 'another tag'

function singleConditionRows(method: ReadMethod): Row[] {
  const ask = (headers: Record<string, string>) => ({ method, key: 'fox', headers })
  const bare = md5Hex(foxText)
  return [
    { it: 'reads an entity tag without its quotes', status: 200, given: fox, ask: ask({ 'If-Match': bare }) },
    { it: 'matches any object with If-Match: *', status: 200, given: fox, ask: ask({ 'If-Match': '*' }) },
    {
      it: 'answers 304 for If-None-Match: *',
      ...refusal('NotModified'),
      given: fox,
      ask: ask({ 'If-None-Match': '*' }),
    },
    { it: 'finds the tag in a list', status: 200, given: fox, ask: ask({ 'If-Match': `${other}, ${foxEtag}` }) },
    {
      it: 'compares If-None-Match weakly',
      ...refusal('NotModified'),
      given: fox,
      ask: ask({ 'If-None-Match': `W/${foxEtag}` }),
    },
    {
      it: 'names the condition that failed',
      ...refusal('PreconditionFailed', { Condition: 'If-Match' }),
      given: fox,
      ask: ask({ 'If-Match': other }),
    },
    {
      it: 'names the date that failed',
      ...refusal('PreconditionFailed', { Condition: 'If-Unmodified-Since' }),
      given: fox,
      ask: ask({ 'If-Unmodified-Since': past }),
    },
    {
      it: 'ignores a date that is none, as RFC 9110 asks',
      status: 200,
      given: fox,
      ask: ask({ 'If-Modified-Since': 'yesterday', 'If-Unmodified-Since': 'tomorrow' }),
    },
    {
      it: 'ignores a date in the future, when nobody can have read the object',
      status: 200,
      given: fox,
      ask: ask({ 'If-Modified-Since': 'Fri, 01 Jan 2100 00:00:00 GMT' }),
    },
    {
      it: 'reads an entity tag that lost a quote',
      status: 200,
      given: fox,
      ask: ask({ 'If-Match': foxEtag.slice(1) }),
    },
    {
      it: 'answers NoSuchKey rather than 412 where there is no object',
      ...refusal('NoSuchKey'),
      ask: ask({ 'If-Match': foxEtag }),
    },
    {
      it: 'judges conditions before the range',
      ...refusal('PreconditionFailed'),
      given: fox,
      ask: ask({ 'If-Match': other, Range: 'bytes=100-' }),
    },
    {
      it: 'answers the range when conditions hold',
      status: 206,
      given: fox,
      ask: ask({ 'If-Match': foxEtag, Range: 'bytes=0-1' }),
    },
  ]
}
