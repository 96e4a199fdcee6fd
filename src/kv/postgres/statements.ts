/** Reads as statements: what is asked for, and how the answer becomes entries. Pure. */
import { createHash } from 'node:crypto'
import { rangeBounds } from '../bounds.ts'
import { versionOfNumber } from '../entry-version.ts'
import type { Entry, Key, RangeQuery } from '../kv.ts'
import type { Row, Statement } from './session.ts'
import { byteaArray, byteaOf, textOfBytea } from './wire-arrays.ts'

/** The place of a row among the parts of a view: -1 for a key that was asked for by itself. */
const ofKeys = -1

export function getStatement(keys: readonly Key[]): Statement {
  return {
    name: 'get',
    text: 'select key, value, version from holdfast_entries where key = any($1::bytea[])',
    values: [byteaArray(keys)],
  }
}

/** By the text of the key. */
export function entriesByKey(rows: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [row[0] ?? '', row]))
}

export function entryIn(rows: ReadonlyMap<string, Row>, key: Key): Entry | undefined {
  const row = rows.get(textOfBytea(key))
  return row && { key, value: byteaOf(row[1] ?? ''), version: versionOfNumber(Number(row[2])) }
}

export const entryOfRow = ([key, value, version]: Row): Entry => ({
  key: byteaOf(key ?? ''),
  value: byteaOf(value ?? ''),
  version: versionOfNumber(Number(version)),
})

/** All keys and ranges in one statement, and so of one moment. */
export function viewStatement(keys: readonly Key[], queries: readonly RangeQuery[]): Statement | undefined {
  const values: NonNullable<Statement['values']>[number][] = []
  const place = (value: (typeof values)[number], type: string): string => `$${values.push(value)}::${type}`
  const parts: string[] = []
  if (keys.length > 0) {
    parts.push(
      `select ${ofKeys} as part, key, value, version from holdfast_entries where key = any(${place(byteaArray(keys), 'bytea[]')})`,
    )
  }
  for (const [part, query] of queries.entries()) {
    const bounds = rangeBounds(query)
    if (bounds === undefined || query.limit === 0) continue
    const start = place(bounds.start, 'bytea')
    const end = place(bounds.end, 'bytea')
    const limit = place(query.limit, 'int')
    const { fold, reverse } = query
    if (fold === undefined) {
      const order = reverse === true ? 'desc' : 'asc'
      parts.push(
        `(select ${part} as part, key, value, version from holdfast_entries where key >= ${start} and key < ${end} order by key ${order} limit ${limit})`,
      )
    } else {
      const how = [
        place(fold.head.length, 'int'),
        place(fold.from, 'int'),
        place(fold.delimiter, 'bytea'),
        place(fold.text === 'tail', 'bool'),
      ]
      parts.push(
        `select ${part} as part, f.key, f.value, f.version from holdfast_fold(${[start, end, limit, ...how].join(', ')}) f`,
      )
    }
  }
  if (parts.length === 0) return undefined
  const text = parts.join(' union all ')
  return { name: nameOf(text), text, values }
}

/** Statements of the same text share a plan. There are as many as there are forms of views in the code. */
const nameOf = (text: string): string => `view ${createHash('md5').update(text).digest('hex')}`
