/** What a listing must show, worked out the slow way; and buckets filled without writing any bytes. */
import fc from 'fast-check'
import type { Kv } from '../../src/kv/kv.ts'
import { objectKey } from '../../src/records/keyspace.ts'
import { objectCodec } from '../../src/records/record-codecs.ts'
import type { ObjectRecord } from '../../src/records/records.ts'
import { plain } from './fixture.ts'

/** One line of a listing: a key, or a group of keys. */
export interface Line {
  kind: 'entry' | 'group'
  text: string
}

export const inByteOrder = (keys: readonly string[]): string[] =>
  [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))

/** Every line that a listing shows of `keys`, over all of its pages. */
export function modelListing(
  keys: readonly string[],
  { prefix, delimiter, afterKey }: { prefix: string; delimiter: string; afterKey?: string | undefined },
): Line[] {
  const lines: Line[] = []
  for (const key of inByteOrder(keys)) {
    if (!key.startsWith(prefix)) continue
    if (afterKey !== undefined && Buffer.compare(Buffer.from(key), Buffer.from(afterKey)) <= 0) continue
    const rest = key.slice(prefix.length)
    const at = delimiter === '' ? -1 : rest.indexOf(delimiter)
    const line: Line =
      at < 0 ? { kind: 'entry', text: key } : { kind: 'group', text: prefix + rest.slice(0, at) + delimiter }
    if (!lines.some(({ kind, text }) => kind === line.kind && text === line.text)) lines.push(line)
  }
  return lines
}

export const textsOf = (lines: readonly Line[], kind: Line['kind']): string[] =>
  lines.filter((line) => line.kind === kind).map(({ text }) => text)

const record: ObjectRecord = {
  attributes: plain,
  kind: 'object',
  sequence: 1,
  size: 3,
  modifiedMs: 0,
  etag: '0'.repeat(32),
  versionId: 'null',
  checksum: undefined,
  data: { kind: 'parts', uploadId: 'u', runs: [] },
}

const batchKeys = 5000

/** Makes records that no data belongs to. */
export async function fill(kv: Kv, bucket: string, keys: Iterable<string>): Promise<void> {
  let puts: { key: Buffer; value: Buffer }[] = []
  for (const text of keys) {
    const key = objectKey(bucket, text)
    puts.push({ key, value: objectCodec.encode(key, record) })
    if (puts.length < batchKeys) continue
    await kv.commit({ puts })
    puts = []
  }
  await kv.commit({ puts })
}

// The bytes at which orders and escapes go wrong: NUL, the last of the basic plane, and one beyond it, which UTF-16 sorts first.
const unit = fc.constantFrom('a', 'a', 'a', 'b', '/', '/', '.', '\0', '\u0001', 'é', '\uffff', '😀')
const shortText = (minLength: number, maxLength: number) => fc.string({ unit, minLength, maxLength })

/** A bucket and a question about it, made so that prefix, delimiter and start often have to do with the keys. */
export const listingCases = fc
  .record({
    keys: fc.uniqueArray(shortText(1, 6), { maxLength: 40 }),
    delimiter: fc.oneof(fc.constantFrom('', '/', '/', '\0', '\uffff', '😀', '//', 'a/', 'aa'), shortText(1, 3)),
    max: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(1000)),
    freeText: shortText(0, 3),
    prefixUnits: fc.nat(3),
    chosen: fc.nat(),
    after: fc.option(fc.oneof(shortText(1, 6), fc.nat()), { nil: undefined }),
  })
  .map(({ keys, delimiter, max, freeText, prefixUnits, chosen, after }) => {
    const key = (index: number): string => keys[index % Math.max(1, keys.length)] ?? ''
    const fromKey = [...key(chosen)].slice(0, prefixUnits).join('')
    const prefix = chosen % 3 === 0 ? freeText : fromKey
    return { keys, delimiter, max, prefix, afterKey: typeof after === 'number' ? key(after) || undefined : after }
  })
