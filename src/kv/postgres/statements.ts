/** Builds statements for reads, and parses their answers into entries. Pure. */
import { createHash } from 'node:crypto'
import { rangeBounds } from '../bounds.ts'
import { versionOfNumber } from '../entry-version.ts'
import type { Entry, Key, RangeQuery } from '../kv.ts'
import type { Row, Statement } from './session.ts'
import { byteaArray } from './wire-arrays.ts'

/** The part number of a view's single keys. */
const ofKeys = -1

/**
 * Packs the entries of `source` into one text: lengths, key, version and value of each. The driver parses text row by row and column by column, and
 * bytes as hex digits. One base64 text for each part of a statement takes it a seventh of the time.
 */
const packed = (part: number, source: string): string =>
  `select ${part}, encode(string_agg(int4send(octet_length(key)) || key || int8send(version) || int4send(octet_length(value)) || value, ''::bytea), 'base64') from (${source}) entries`

const columns = 'select key, value, version from holdfast_entries'

export function getStatement(keys: readonly Key[]): Statement {
  return { name: 'get', text: packed(ofKeys, `${columns} where key = any($1::bytea[])`), values: [byteaArray(keys)] }
}

/** The answer to a statement, by its parts. */
export class Parts {
  readonly #byPart: ReadonlyMap<string | null | undefined, string | null | undefined>

  constructor(rows: readonly Row[]) {
    this.#byPart = new Map(rows.map(([part, text]) => [part, text]))
  }

  /** The entries of a range. They share memory. */
  range(part: number): Entry[] {
    return unpack(this.#byPart.get(String(part)))
  }

  /** The entries of single keys, by the key in latin1. Each has its own memory, because some are kept for long. */
  byKey(): ReadonlyMap<string, Entry> {
    return new Map(
      unpack(this.#byPart.get(String(ofKeys))).map((entry) => [
        entry.key.toString('latin1'),
        { ...entry, value: Buffer.from(entry.value) },
      ]),
    )
  }
}

export function entryIn(found: ReadonlyMap<string, Entry>, key: Key): Entry | undefined {
  const entry = found.get(key.toString('latin1'))
  return entry && { key, value: entry.value, version: entry.version }
}

function unpack(text: string | null | undefined): Entry[] {
  if (text == null) return []
  const bytes = Buffer.from(text, 'base64')
  const entries: Entry[] = []
  for (let at = 0; at < bytes.length; ) {
    const keyEnd = at + 4 + bytes.readUInt32BE(at)
    const version = bytes.readUInt32BE(keyEnd) * 2 ** 32 + bytes.readUInt32BE(keyEnd + 4)
    const valueAt = keyEnd + 12
    const end = valueAt + bytes.readUInt32BE(valueAt - 4)
    entries.push({
      key: bytes.subarray(at + 4, keyEnd),
      value: bytes.subarray(valueAt, end),
      version: versionOfNumber(version),
    })
    at = end
  }
  return entries
}

/** Reads all keys and ranges in one statement, and so in one snapshot. */
export function viewStatement(keys: readonly Key[], queries: readonly RangeQuery[]): Statement | undefined {
  const values: NonNullable<Statement['values']>[number][] = []
  const place = (value: (typeof values)[number], type: string): string => `$${values.push(value)}::${type}`
  const parts: string[] = []
  if (keys.length > 0) parts.push(packed(ofKeys, `${columns} where key = any(${place(byteaArray(keys), 'bytea[]')})`))
  for (const [part, query] of queries.entries()) {
    const bounds = rangeBounds(query)
    if (bounds === undefined || query.limit === 0) continue
    const start = place(bounds.start, 'bytea')
    const end = place(bounds.end, 'bytea')
    const limit = place(query.limit, 'int')
    const { fold, reverse } = query
    if (fold === undefined) {
      const order = reverse === true ? 'desc' : 'asc'
      parts.push(packed(part, `${columns} where key >= ${start} and key < ${end} order by key ${order} limit ${limit}`))
    } else {
      const how = [
        place(fold.head.length, 'int'),
        place(fold.from, 'int'),
        place(fold.delimiter, 'bytea'),
        place(fold.text === 'tail', 'bool'),
      ]
      parts.push(packed(part, `select * from holdfast_fold(${[start, end, limit, ...how].join(', ')})`))
    }
  }
  if (parts.length === 0) return undefined
  const text = parts.join(' union all ')
  return { name: nameOf(text), text, values }
}

/** Statements with the same text share a plan. Their number is bounded by the different views in the code. */
const nameOf = (text: string): string => `view ${createHash('md5').update(text).digest('hex')}`
