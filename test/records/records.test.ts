/** Records as bytes: what is written is read, and whatever else lies there is noticed. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Key } from '../../src/kv/kv.ts'
import type { BucketRecord } from '../../src/records/bucket-record.ts'
import { bucketCodec } from '../../src/records/bucket-record.ts'
import { bucketKey, garbageKey, historyKey, objectKey, partKey, uploadKey } from '../../src/records/keyspace.ts'
import type { ObjectAttributes } from '../../src/records/object-attributes.ts'
import { garbageCodec, objectCodec, partCodec, uploadCodec, versionCodec } from '../../src/records/record-codecs.ts'
import { RecordDamaged, seal } from '../../src/records/record-format.ts'
import {
  type Encryption,
  type GarbageRecord,
  type ObjectRecord,
  type PartRecord,
  storedChecksumAlgorithms,
  type UploadRecord,
  type VersionRecord,
} from '../../src/records/records.ts'
import { nullVersionId, versionIdOf, versionRandomBytes } from '../../src/records/version-id.ts'
import { storageClasses } from '../../src/storage-class.ts'

const text = fc.string({ unit: 'binary', maxLength: 20 })
const name = fc.string({ minLength: 1, maxLength: 20 })
const time = fc.nat({ max: 8.64e15 })
const size = fc.nat({ max: 50 * 2 ** 40 })
const digest = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes).toString('hex'))
const optional = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(values, { nil: undefined })

const etag = fc.oneof(
  digest,
  fc.tuple(digest, fc.integer({ min: 1, max: 10_000 })).map(([md5, parts]) => `${md5}-${parts}`),
)
const checksumKind = fc.record({
  algorithm: fc.constantFrom(...storedChecksumAlgorithms),
  type: fc.constantFrom('FULL_OBJECT', 'COMPOSITE'),
})
const checksum = optional(
  fc.tuple(checksumKind, fc.base64String({ minLength: 4 })).map(([kind, value]) => ({ ...kind, value })),
)
const manifest = fc.record({
  location: name,
  locationVersion: fc.nat(),
  scheme: fc.constant('replica' as const),
  size,
  shards: fc.array(fc.record({ storeId: name, id: name }), { maxLength: 3 }),
})
const storageClass = fc.constantFrom(...storageClasses).filter((name) => name !== 'STANDARD')
const grantee = fc.oneof(
  fc.record({ kind: fc.constant('account' as const), accountId: name }),
  fc.record({ kind: fc.constantFrom('authenticated', 'everyone') }),
)
const grant = fc.record({
  grantee,
  permission: fc.constantFrom('FULL_CONTROL', 'READ', 'WRITE', 'READ_ACP', 'WRITE_ACP'),
})
const attributes = fc.record({
  headers: fc.record({ contentType: optional(text), cacheControl: optional(text), expires: optional(text) }),
  metadata: fc.dictionary(name, text),
  tags: fc.array(fc.record({ key: name, value: text }), { maxLength: 3 }),
  retention: optional(fc.record({ mode: fc.constantFrom('GOVERNANCE', 'COMPLIANCE'), untilMs: time })),
  legalHold: optional(fc.boolean()),
  storageClass: optional(storageClass),
  websiteRedirectLocation: optional(text),
  owner: optional(name),
  grants: optional(fc.array(grant, { maxLength: 3 })),
})
const versionName = fc
  .record({
    sequence: fc.nat({ max: 2 ** 48 - 1 }),
    random: optional(fc.uint8Array({ minLength: versionRandomBytes, maxLength: versionRandomBytes })),
    modifiedMs: time,
  })
  .map(({ sequence, random, modifiedMs }) => ({
    sequence,
    versionId: random === undefined ? nullVersionId : versionIdOf(sequence, Buffer.from(random)),
    modifiedMs,
  }))
const marker: fc.Arbitrary<VersionRecord> = versionName.map((named) => ({ kind: 'marker', ...named }))
const contents = fc.record({
  attributes,
  size,
  etag,
  checksum,
  data: fc.oneof(
    fc.record({ kind: fc.constant('blob' as const), manifest }),
    fc.record({
      kind: fc.constant('parts' as const),
      uploadId: name,
      runs: fc.array(fc.record({ first: fc.nat(), count: fc.nat(), size }), { maxLength: 3 }),
    }),
  ),
})
/** As nearly all are: one shard that is the whole object, and little to say of it. */
const commonContents = fc
  .record({
    size,
    etag,
    checksum,
    attributes: fc.oneof(
      fc.record({
        headers: fc.record({ contentType: optional(text) }),
        metadata: fc.constant({}),
        tags: fc.constant([]),
      }),
      attributes,
    ),
    shard: fc.record({ storeId: name, id: name }),
    place: fc.record({ location: name, locationVersion: fc.nat() }),
  })
  .map(({ shard, place, ...rest }) => ({
    ...rest,
    data: {
      kind: 'blob' as const,
      manifest: { ...place, scheme: 'replica' as const, size: rest.size, shards: [shard] },
    },
  }))
const object: fc.Arbitrary<ObjectRecord> = fc
  .tuple(versionName, fc.oneof(contents, commonContents))
  .map(([named, rest]) => ({ kind: 'object', ...named, ...rest }))
const bucket: fc.Arbitrary<BucketRecord> = fc.record({
  name,
  id: name,
  owner: name,
  createdMs: time,
  locationConstraint: optional(text),
  location: name,
  tags: fc.array(fc.record({ key: name, value: text }), { maxLength: 3 }),
  versioning: fc.constantFrom('unversioned', 'enabled', 'suspended'),
  objectLock: optional(
    fc.record({
      defaultRetention: optional(
        fc.record({
          mode: fc.constantFrom('GOVERNANCE', 'COMPLIANCE'),
          period: fc.oneof(fc.record({ days: fc.nat() }), fc.record({ years: fc.nat() })),
        }),
      ),
    }),
  ),
})
const upload: fc.Arbitrary<UploadRecord> = fc.oneof(
  fc.record({
    attributes,
    state: fc.constant('open' as const),
    bucketId: name,
    key: text,
    initiatedMs: time,
    checksum: optional(checksumKind),
  }),
  fc.record({
    state: fc.constant('completed' as const),
    bucketId: name,
    key: text,
    completedMs: time,
    etag,
    versionId: name,
    checksum,
  }),
)
const part: fc.Arbitrary<PartRecord> = fc.record({
  number: fc.integer({ min: 1, max: 10_000 }),
  size,
  etag,
  modifiedMs: time,
  checksum,
  manifest,
})
const garbage: fc.Arbitrary<GarbageRecord> = fc.oneof(
  fc.record({ kind: fc.constant('blob' as const), manifest }),
  fc.record({ kind: fc.constant('parts' as const), uploadId: name }),
  fc.record({ kind: fc.constant('bucket' as const), bucketId: name }),
)

/** A codec with the kind of record removed, so that one row stands for each. */
interface Row {
  kind: string
  keys: fc.Arbitrary<Key>
  /** A record's bytes under `key`, and the record. */
  written(key: Key): fc.Arbitrary<{ bytes: Buffer; record: unknown }>
  decode(key: Key, bytes: Buffer): unknown
}

function row<T>(
  kind: string,
  codec: { encode(key: Key, record: T): Buffer; decode(key: Key, bytes: Buffer): T },
  keys: fc.Arbitrary<Key>,
  records: fc.Arbitrary<T>,
): Row {
  return {
    kind,
    keys,
    written: (key) => records.map((record) => ({ record, bytes: codec.encode(key, record) })),
    decode: codec.decode,
  }
}

const rows = [
  row(
    'object',
    objectCodec,
    fc.tuple(name, fc.string({ minLength: 1 })).map(([of, key]) => objectKey(of, key)),
    object,
  ),
  row(
    'version',
    versionCodec,
    fc.tuple(name, fc.string({ minLength: 1 }), fc.nat()).map(([of, key, sequence]) => historyKey(of, key, sequence)),
    fc.oneof(object, marker),
  ),
  row('bucket', bucketCodec, name.map(bucketKey), bucket),
  row('upload', uploadCodec, name.map(uploadKey), upload),
  row(
    'part',
    partCodec,
    fc.tuple(name, fc.nat()).map(([id, number]) => partKey(id, number)),
    part,
  ),
  row('garbage', garbageCodec, name.map(garbageKey), garbage),
]

const cases = ({ keys, written }: Row) => keys.chain((key) => written(key).map((given) => ({ key, ...given })))

describe.each(rows)('the record of a $kind', (under) => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(cases(under), ({ key, bytes, record }) => {
        expect(under.decode(key, bytes)).toEqual(record)
      }),
    )
  })

  it('is refused after any flip of one bit', () => {
    fc.assert(
      fc.property(cases(under), ({ key, bytes }) => {
        for (let bit = 0; bit < bytes.length * 8; bit++) {
          const flipped = Buffer.from(bytes)
          flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
          expect(() => under.decode(key, flipped)).toThrow(RecordDamaged)
        }
      }),
      { numRuns: 5 },
    )
  })

  it('is refused when cut short, or continued', () => {
    fc.assert(
      fc.property(cases(under), ({ key, bytes }) => {
        for (let end = 0; end < bytes.length; end++) {
          expect(() => under.decode(key, bytes.subarray(0, end))).toThrow(RecordDamaged)
        }
        expect(() => under.decode(key, Buffer.concat([bytes, Buffer.alloc(1)]))).toThrow(RecordDamaged)
      }),
      { numRuns: 5 },
    )
  })

  it('is refused under the key of another', () => {
    fc.assert(
      fc.property(cases(under), under.keys, ({ key, bytes }, other) => {
        fc.pre(!key.equals(other))
        expect(() => under.decode(other, bytes)).toThrow(RecordDamaged)
      }),
    )
  })
})

describe('what a listing reads of an object', () => {
  const key = objectKey('bucket', 'key')

  it('is what the whole record says', () => {
    fc.assert(
      fc.property(object, (record) => {
        const { kind, versionId, sequence, size, modifiedMs, etag, checksum, attributes } = record
        expect(objectCodec.decodeListed(key, objectCodec.encode(key, record))).toEqual({
          kind,
          versionId,
          sequence,
          size,
          modifiedMs,
          etag,
          checksum: checksum && { algorithm: checksum.algorithm, type: checksum.type },
          storageClass: attributes.storageClass,
        })
      }),
    )
  })

  it('is refused when it is damaged, also in what a listing does not show', () => {
    const bytes = fc.sample(object, { numRuns: 1, seed: 1 }).map((record) => objectCodec.encode(key, record))[0]
    if (bytes === undefined) throw new Error('no record')
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    expect(() => objectCodec.decodeListed(key, bytes)).toThrow(RecordDamaged)
  })

  it.each([
    '00000000000000000000000000000000',
    'ffffffffffffffffffffffffffffffff',
    'ffffffffffffffffffffffffffffffff-1',
    '0123456789abcdef0123456789abcdef-10000',
  ])('keeps the entity tag %s', (etag) => {
    const [record] = fc.sample(object, { numRuns: 1, seed: 2 })
    if (record === undefined) throw new Error('no record')
    const bytes = objectCodec.encode(key, { ...record, etag })
    expect(objectCodec.decodeListed(key, bytes).etag).toBe(etag)
    expect(objectCodec.decode(key, bytes).etag).toBe(etag)
  })
})

describe('the storage class of a record', () => {
  const key = objectKey('bucket', 'key')
  const [record] = fc.sample(object, { numRuns: 1, seed: 3 })
  const kindByte = 5

  it('keeps its place in the byte of the kind for ever', () => {
    if (record === undefined) throw new Error('no record')
    const places = storageClasses.map((name) => {
      const bytes = objectCodec.encode(key, {
        ...record,
        attributes: { ...record.attributes, storageClass: name === 'STANDARD' ? undefined : name },
      })
      return `${name} ${((bytes[kindByte] ?? 0) >> 2) & 15}`
    })
    // What was written with these numbers must be read with them: only ever add to the end.
    expect(places).toEqual([
      'STANDARD 0',
      'REDUCED_REDUNDANCY 1',
      'STANDARD_IA 2',
      'ONEZONE_IA 3',
      'INTELLIGENT_TIERING 4',
      'GLACIER 5',
      'DEEP_ARCHIVE 6',
      'OUTPOSTS 7',
      'GLACIER_IR 8',
      'SNOW 9',
      'EXPRESS_ONEZONE 10',
      'FSX_OPENZFS 11',
      'FSX_ONTAP 12',
    ])
  })
})

/** As version 1 of the format wrote it under `objectKey('bucket', 'key')`. */
const recordBeforeClasses =
  'AWqh+voCAAAAAAAAAAAAAAEAAAAAAAAAgKptt3lCAAAAAAAAFEBdQUAqvEsqdrlxnZEQF8WSAAAAeyJoZWFkZXJzIjp7ImNvbnRlbnRUeXBlIjoidGV4dC9wbGFpbiJ9LCJtZXRhZGF0YSI6eyJjb2xvdXIiOiJyZWQifSwidGFncyI6W10sImRhdGEiOnsia2luZCI6ImJsb2IiLCJtYW5pZmVzdCI6eyJsb2NhdGlvbiI6ImRlZmF1bHQiLCJsb2NhdGlvblZlcnNpb24iOjEsInNjaGVtZSI6InJlcGxpY2EiLCJzaXplIjo1LCJzaGFyZHMiOlt7InN0b3JlSWQiOiJzIiwiaWQiOiJpIn1dfX19'

it('an object’s record from before there were storage classes is read as of the standard one', () => {
  const key = objectKey('bucket', 'key')
  const bytes = Buffer.from(recordBeforeClasses, 'base64')
  expect(objectCodec.decode(key, bytes)).toMatchObject({
    size: 5,
    attributes: { headers: { contentType: 'text/plain' }, metadata: { colour: 'red' }, storageClass: undefined },
  })
  expect(objectCodec.decodeListed(key, bytes).storageClass).toBeUndefined()
})

/** As version 2 of the format wrote it under `objectKey('bucket', 'key')`. */
const recordOfFormat2 =
  'AhU6+VICAAAAAAAAAAAAAAcAAAAAAAAAANZWqnlCAAAAAAAAsEABI0VniavN7wEjRWeJq83vAAADCggHBwcBAAAAdGV4dC9wbGFpbkFBQUFBQT09ZGVmYXVsdGEtc3RvcmVhLXNoYXJk'
const commonRecord: ObjectRecord = {
  kind: 'object',
  sequence: 7,
  versionId: nullVersionId,
  modifiedMs: 1_763_712_000_000,
  size: 4096,
  etag: '0123456789abcdef0123456789abcdef',
  checksum: { algorithm: 'CRC32C', value: 'AAAAAA==', type: 'FULL_OBJECT' },
  attributes: { headers: { contentType: 'text/plain' }, metadata: {}, tags: [] },
  data: {
    kind: 'blob',
    manifest: {
      location: 'default',
      locationVersion: 1,
      scheme: 'replica',
      size: 4096,
      shards: [{ storeId: 'a-store', id: 'a-shard' }],
    },
  },
}

it('an object’s record of format 2 is read for ever as it was written', () => {
  const key = objectKey('bucket', 'key')
  expect(objectCodec.decode(key, Buffer.from(recordOfFormat2, 'base64'))).toEqual(commonRecord)
  expect(objectCodec.encode(key, commonRecord).toString('base64')).toBe(recordOfFormat2)
})

/** All that there is, as version 0.1.0 wrote it. */
const setAttributes: ObjectAttributes = {
  headers: { contentType: 'text/plain', cacheControl: 'no-store', expires: 'never' },
  metadata: { colour: 'red' },
  tags: [{ key: 'project', value: 'x' }],
  retention: { mode: 'GOVERNANCE', untilMs: 1_858_000_000_000 },
  legalHold: true,
  storageClass: 'GLACIER_IR',
  websiteRedirectLocation: '/elsewhere',
}
const encryption: Encryption = {
  by: 'store',
  wrappedKey: 'AAAA',
  wrappedBy: { name: 'sse-s3', id: 'fedcba9876543210fedcba9876543210' },
}
const fullRecord: ObjectRecord = {
  ...commonRecord,
  etag: '0123456789abcdef0123456789abcdef-2',
  checksum: { algorithm: 'CRC32C', value: 'AAAAAA==-2', type: 'COMPOSITE' },
  attributes: setAttributes,
  data: {
    kind: 'parts',
    uploadId: '019a0000000000112233445566778899',
    runs: [{ first: 1, count: 2, size: 2048 }],
  },
  encryption,
}
const fullRecordBytes =
  'AgRvELUiAAAAAAAAAAAAAAcAAAAAAAAAANZWqnlCAAAAAAAAsEABI0VniavN7wEjRWeJq83vAgAEAAoAAAAAAAAAQUFBQUFBPT0tMnsiaGVhZGVycyI6eyJjb250ZW50VHlwZSI6InRleHQvcGxhaW4iLCJjYWNoZUNvbnRyb2wiOiJuby1zdG9yZSIsImV4cGlyZXMiOiJuZXZlciJ9LCJtZXRhZGF0YSI6eyJjb2xvdXIiOiJyZWQifSwidGFncyI6W3sia2V5IjoicHJvamVjdCIsInZhbHVlIjoieCJ9XSwicmV0ZW50aW9uIjp7Im1vZGUiOiJHT1ZFUk5BTkNFIiwidW50aWxNcyI6MTg1ODAwMDAwMDAwMH0sImxlZ2FsSG9sZCI6dHJ1ZSwid2Vic2l0ZVJlZGlyZWN0TG9jYXRpb24iOiIvZWxzZXdoZXJlIiwiZGF0YSI6eyJraW5kIjoicGFydHMiLCJ1cGxvYWRJZCI6IjAxOWEwMDAwMDAwMDAwMTEyMjMzNDQ1NTY2Nzc4ODk5IiwicnVucyI6W3siZmlyc3QiOjEsImNvdW50IjoyLCJzaXplIjoyMDQ4fV19LCJlbmNyeXB0aW9uIjp7ImJ5Ijoic3RvcmUiLCJ3cmFwcGVkS2V5IjoiQUFBQSIsIndyYXBwZWRCeSI6eyJuYW1lIjoic3NlLXMzIiwiaWQiOiJmZWRjYmE5ODc2NTQzMjEwZmVkY2JhOTg3NjU0MzIxMCJ9fX0='

it('the record of an object with every attribute is read and written with the bytes that it had', () => {
  const key = objectKey('bucket', 'key')
  expect(objectCodec.decode(key, Buffer.from(fullRecordBytes, 'base64'))).toEqual(fullRecord)
  expect(objectCodec.encode(key, fullRecord).toString('base64')).toBe(fullRecordBytes)
})

/** Under `uploadKey('019a0000000000112233445566778899')`. */
const uploadBytes =
  'AZ5tPzp7ImtleSI6ImZpbG0iLCJjaGVja3N1bSI6eyJhbGdvcml0aG0iOiJDUkMzMiIsInR5cGUiOiJDT01QT1NJVEUifSwiZW5jcnlwdGlvbiI6eyJieSI6InN0b3JlIiwid3JhcHBlZEtleSI6IkFBQUEiLCJ3cmFwcGVkQnkiOnsibmFtZSI6InNzZS1zMyIsImlkIjoiZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTAifX0sImhlYWRlcnMiOnsiY29udGVudFR5cGUiOiJ0ZXh0L3BsYWluIiwiY2FjaGVDb250cm9sIjoibm8tc3RvcmUiLCJleHBpcmVzIjoibmV2ZXIifSwibWV0YWRhdGEiOnsiY29sb3VyIjoicmVkIn0sInRhZ3MiOlt7ImtleSI6InByb2plY3QiLCJ2YWx1ZSI6IngifV0sInJldGVudGlvbiI6eyJtb2RlIjoiR09WRVJOQU5DRSIsInVudGlsTXMiOjE4NTgwMDAwMDAwMDB9LCJsZWdhbEhvbGQiOnRydWUsInN0b3JhZ2VDbGFzcyI6IkdMQUNJRVJfSVIiLCJ3ZWJzaXRlUmVkaXJlY3RMb2NhdGlvbiI6Ii9lbHNld2hlcmUiLCJzdGF0ZSI6Im9wZW4iLCJidWNrZXRJZCI6IjAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5YWJjZGVmIiwiaW5pdGlhdGVkTXMiOjE3NjM3MTIwMDAwMDB9'

it('the record of an upload with every attribute is read and written with the bytes that it had', () => {
  const key = uploadKey('019a0000000000112233445566778899')
  const upload: UploadRecord = {
    key: 'film',
    checksum: { algorithm: 'CRC32', type: 'COMPOSITE' },
    encryption,
    attributes: setAttributes,
    state: 'open',
    bucketId: '0123456789abcdef0123456789abcdef',
    initiatedMs: 1_763_712_000_000,
  }
  expect(uploadCodec.decode(key, Buffer.from(uploadBytes, 'base64'))).toEqual(upload)
  expect(uploadCodec.encode(key, upload).toString('base64')).toBe(uploadBytes)
})

it('each checksum has the number that records have held it by, and one without a meaning is an error, never no checksum', () => {
  const key = objectKey('bucket', 'key')
  const codeAt = Buffer.from(recordOfFormat2, 'base64').indexOf(Buffer.from([0, 0, 3, 0x0a])) + 2
  const codes = storedChecksumAlgorithms.map((algorithm) => {
    const checksum = { algorithm, value: 'AAAAAA==', type: 'COMPOSITE' } as const
    return [algorithm, objectCodec.encode(key, { ...commonRecord, checksum })[codeAt]]
  })
  expect(codes).toEqual([
    ['CRC32', 2],
    ['CRC32C', 4],
    ['CRC64NVME', 6],
    ['SHA1', 8],
    ['SHA256', 10],
    ['MD5', 12],
    ['SHA512', 14],
    ['XXHASH64', 16],
    ['XXHASH3', 18],
    ['XXHASH128', 20],
  ])
  const unknown = Buffer.from(recordOfFormat2, 'base64')
  unknown[codeAt] = 21
  expect(() => objectCodec.decode(key, seal(key, unknown, 2))).toThrow('unknown checksum 21')
  expect(() => objectCodec.decodeListed(key, unknown)).toThrow('unknown checksum 21')
})

it.each<[string, Partial<ObjectRecord>]>([
  ['a type that is empty', withAttributes({ headers: { contentType: '' } })],
  ['a type beyond Latin-1', withAttributes({ headers: { contentType: 'text/Ω' } })],
  ['a type of more than 255 characters', withAttributes({ headers: { contentType: 'x'.repeat(256) } })],
  ['no type', withAttributes({ headers: {} })],
  ['a header beside the type', withAttributes({ headers: { contentType: 'text/plain', expires: 'never' } })],
  ['a copy that lacks', { data: withManifest({ missing: 1 }) }],
  ['a shard with an index', { data: withManifest({ shards: [{ storeId: 's', id: 'i', index: 0 }] }) }],
  ['no shard', { data: withManifest({ shards: [] }) }],
  ['a blob of another size than the object', { data: withManifest({ size: 4097 }) }],
  ['a version of a location beyond 32 bits', { data: withManifest({ locationVersion: 2 ** 32 }) }],
  ['metadata named as what every object has', withAttributes({ metadata: JSON.parse('{"__proto__":"x"}') })],
])('the record of an object with %s is read as it was written', (_, over) => {
  const key = objectKey('bucket', 'key')
  const record = { ...commonRecord, ...over }
  expect(objectCodec.decode(key, objectCodec.encode(key, record))).toEqual(record)
})

it('a common record takes less room than its JSON took', () => {
  const key = objectKey('bucket', 'key')
  const { data, attributes } = commonRecord
  const { headers } = attributes
  expect(objectCodec.encode(key, commonRecord).length).toBeLessThan(JSON.stringify({ data, headers }).length)
})

function withAttributes(over: Partial<ObjectAttributes>): Pick<ObjectRecord, 'attributes'> {
  return { attributes: { ...commonRecord.attributes, ...over } }
}

function withManifest(over: object): ObjectRecord['data'] {
  const manifest = { location: 'default', locationVersion: 1, scheme: 'replica' as const, size: 4096 }
  return { kind: 'blob', manifest: { ...manifest, shards: [{ storeId: 's', id: 'i' }], ...over } }
}

it('a record of a format that this version does not know is refused by name', () => {
  const key = garbageKey('g')
  const bytes = garbageCodec.encode(key, { kind: 'bucket', bucketId: 'b' })
  bytes[0] = 9
  expect(() => garbageCodec.decode(key, bytes)).toThrow('unknown format 9')
})

it.each<[string, string, object]>([
  [
    'of an older version, with what it says alone',
    '{"tags":[],"name":"photos","owner":"main","location":"default","id":"b1","createdMs":5,"versioning":"enabled","objectLock":{}}',
    { versioning: 'enabled', objectLock: { defaultRetention: undefined } },
  ],
  ['that lacks all that can be unset', '{"name":"photos","owner":"main","id":"b1","createdMs":5}', {}],
  [
    'of a later version, with all that it says',
    '{"name":"photos","owner":"main","id":"b1","createdMs":5,"later":["x"]}',
    { later: ['x'] },
  ],
])('a bucket’s record is read %s', (_, json, said) => {
  const key = bucketKey('photos')
  const bytes = seal(key, Buffer.concat([Buffer.alloc(5), Buffer.from(json)]))
  const unset = {
    tags: [],
    locationConstraint: undefined,
    location: 'default',
    versioning: 'unversioned',
    objectLock: undefined,
    encryption: undefined,
  }
  expect(bucketCodec.decode(key, bytes)).toEqual({
    name: 'photos',
    id: 'b1',
    owner: 'main',
    createdMs: 5,
    ...unset,
    ...said,
  })
})
