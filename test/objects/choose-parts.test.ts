/** Which stored parts a Complete may name, and what it hears about each that it may not. */
import { describe, expect, it } from 'vitest'
import { versionOfNumber } from '../../src/kv/entry-version.ts'
import { limits } from '../../src/limits.ts'
import { chooseParts, type ListedPart } from '../../src/objects/complete-upload.ts'
import type { StoredPart } from '../../src/objects/upload-parts.ts'
import type { Checksum, OpenUpload } from '../../src/records/records.ts'
import { outcomeOf } from './fixture.ts'

const min = limits.partBytesMin
const etagOf = (number: number): string => number.toString(16).padStart(32, '0')
const crc: Checksum = { algorithm: 'CRC32', type: 'FULL_OBJECT', value: 'AAAAAA==' }

function stored(number: number, size = min, checksum: Checksum | undefined = crc): [number, StoredPart] {
  const manifest = { location: 'default', locationVersion: 1, scheme: 'replica' as const, size, shards: [] }
  return [
    number,
    {
      version: versionOfNumber(number),
      record: { number, size, etag: etagOf(number), modifiedMs: 0, checksum, manifest },
    },
  ]
}

const listed = (number: number, etag = `"${etagOf(number)}"`, checksum?: ListedPart['checksum']): ListedPart => ({
  number,
  etag,
  checksum,
})

const summed = (number: number): ListedPart => listed(number, undefined, crc)

const composite: Pick<OpenUpload, 'checksum'> = { checksum: { algorithm: 'CRC32', type: 'COMPOSITE' } }
const fullObject: Pick<OpenUpload, 'checksum'> = { checksum: { algorithm: 'CRC32', type: 'FULL_OBJECT' } }
const unsummed: Pick<OpenUpload, 'checksum'> = { checksum: undefined }

interface Row {
  what: string
  list: ListedPart[]
  have?: [number, StoredPart][]
  upload?: Pick<OpenUpload, 'checksum'>
  expected: string
}

const three = [stored(1), stored(2), stored(3)]

const rows: Row[] = [
  { what: 'all parts', list: [listed(1), listed(2), listed(3)], expected: 'ok' },
  { what: 'some parts', list: [listed(1), listed(3)], expected: 'ok' },
  { what: 'not the first part', list: [listed(2), listed(3)], expected: 'ok' },
  { what: 'an entity tag without quotes', list: [listed(1, etagOf(1))], expected: 'ok' },
  { what: 'the same part twice', list: [listed(1), listed(1)], expected: 'InvalidPartOrder' },
  { what: 'parts in falling order', list: [listed(2), listed(1)], expected: 'InvalidPartOrder' },
  { what: 'a part that was not sent', list: [listed(1), listed(4)], expected: 'InvalidPart' },
  { what: "another part's entity tag", list: [listed(1, `"${etagOf(2)}"`)], expected: 'InvalidPart' },
  { what: 'no entity tag', list: [listed(1, '')], expected: 'InvalidPart' },
  { what: 'any entity tag', list: [listed(1, '*')], expected: 'InvalidPart' },
  { what: 'any entity tag, with space', list: [listed(1, ' * ')], expected: 'InvalidPart' },
  { what: 'the checksum of the part', list: [listed(1, undefined, crc)], expected: 'ok' },
  { what: 'another checksum', list: [listed(1, undefined, { ...crc, value: 'AAAAAQ==' })], expected: 'InvalidPart' },
  {
    what: 'a checksum of another kind',
    list: [listed(1, undefined, { ...crc, algorithm: 'CRC32C' })],
    expected: 'InvalidPart',
  },
  {
    what: 'a checksum of a part without one',
    list: [listed(1, undefined, crc)],
    have: [[1, { ...stored(1)[1], record: { ...stored(1)[1].record, checksum: undefined } }]],
    expected: 'InvalidPart',
  },
  { what: 'a small last part', list: [listed(1), listed(2)], have: [stored(1), stored(2, 0)], expected: 'ok' },
  { what: 'a small only part', list: [listed(1)], have: [stored(1, 1)], expected: 'ok' },
  {
    what: 'a small part before another',
    list: [listed(1), listed(2)],
    have: [stored(1, min - 1), stored(2)],
    expected: 'EntityTooSmall',
  },
  {
    what: 'more than an object may have',
    list: Array.from({ length: 10_000 }, (_, i) => listed(i + 1)),
    have: Array.from({ length: 10_000 }, (_, i) => stored(i + 1, Math.ceil(limits.objectBytesMax / 10_000) + 1)),
    expected: 'EntityTooLarge',
  },
  { what: 'a gap, for a composite', list: [summed(1), summed(3)], upload: composite, expected: 'InvalidPartOrder' },
  { what: 'a late start, for a composite', list: [summed(2)], upload: composite, expected: 'InvalidPartOrder' },
  { what: 'no gap, for a composite', list: [summed(1), summed(2)], upload: composite, expected: 'ok' },
  { what: 'no checksum, for a composite', list: [summed(1), listed(2)], upload: composite, expected: 'InvalidRequest' },
  { what: 'no checksum, for the full object', list: [listed(1)], upload: fullObject, expected: 'ok' },
  {
    what: "another algorithm than the upload's",
    list: [listed(1, undefined, { ...crc, algorithm: 'CRC32C' })],
    upload: fullObject,
    expected: 'BadDigest',
  },
  { what: 'a gap, for the full object', list: [listed(1), listed(3)], upload: fullObject, expected: 'ok' },
]

const uploadId = 'upload'

describe('completing with', () => {
  it.each(rows)('$what: $expected', ({ list, have = three, upload = unsummed, expected }) => {
    const parts = new Map(have)
    expect(outcomeOf(() => chooseParts(list, parts, { ...upload, uploadId }))).toBe(expected)
    if (expected === 'ok') {
      expect(chooseParts(list, parts, { ...upload, uploadId })).toEqual(list.map(({ number }) => parts.get(number)))
    }
  })

  it('names the part that is wrong', () => {
    const wrong = () => chooseParts([listed(1), listed(7)], new Map(three), { ...unsummed, uploadId })
    expect(wrong).toThrow(
      expect.objectContaining({ details: { UploadId: uploadId, PartNumber: '7', ETag: etagOf(7) } }),
    )
  })
})
