/** Descriptions as bytes: what is written is read, in little room and for ever; what is none is told apart. */
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { labelled } from '../../src/blobs/shard-label.ts'
import { limits } from '../../src/limits.ts'
import type { BucketRecord, BucketState } from '../../src/records/bucket-record.ts'
import { descriptionBytes, readDescription } from '../../src/records/description-bytes.ts'
import type { BlobDescription, ObjectDescription } from '../../src/records/descriptions.ts'
import { storedChecksumAlgorithms } from '../../src/records/records.ts'
import { storageClasses } from '../../src/storage-class.ts'

const count = fc.nat({ max: Number.MAX_SAFE_INTEGER })
/** Of any language, and now and then what `hex` or `base64` could mistake for digits. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.stringMatching(/^[0-9a-fA-F]{0,40}$/),
  fc.base64String({ maxLength: 60 }),
)
const hexId = fc.oneof(fc.stringMatching(/^[0-9a-f]{32}$/), text)
const flag = fc.boolean()
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const algorithm = fc.constantFrom(...storedChecksumAlgorithms)
const type = fc.constantFrom('FULL_OBJECT', 'COMPOSITE')
const mode = fc.constantFrom('GOVERNANCE', 'COMPLIANCE')
const [, ...namedClasses] = storageClasses

const state: fc.Arbitrary<BucketState> = fc.record({
  owner: text,
  createdMs: count,
  locationConstraint: maybe(text),
  location: fc.oneof(fc.constant('default'), text),
  moving: maybe(fc.constant(true as const)),
  guarded: maybe(fc.constant(true as const)),
  versioning: fc.constantFrom('unversioned', 'enabled', 'suspended'),
  objectLock: maybe(
    fc.record({
      defaultRetention: maybe(
        fc.record({
          mode,
          period: fc.oneof(fc.record({ days: fc.nat() }), fc.record({ years: fc.nat() })),
        }),
      ),
    }),
  ),
  encryption: maybe(
    fc.record({ by: fc.constantFrom('store', 'kms'), kmsKeyId: maybe(text), bucketKeyEnabled: maybe(flag) }),
  ),
})

const attributes = fc.record({
  headers: fc.record({
    contentType: maybe(text),
    contentEncoding: maybe(text),
    contentLanguage: maybe(text),
    contentDisposition: maybe(text),
    cacheControl: maybe(text),
    expires: maybe(text),
  }),
  metadata: fc.dictionary(fc.oneof(fc.constant('__proto__'), text), text, { maxKeys: 5, noNullPrototype: true }),
  tags: fc.array(fc.record({ key: text, value: text }), { maxLength: 5 }),
  retention: maybe(fc.record({ mode, untilMs: count })),
  legalHold: maybe(flag),
  storageClass: maybe(fc.constantFrom(...namedClasses)),
  websiteRedirectLocation: maybe(text),
  owner: maybe(text),
})
const encryption = maybe(
  fc.record({
    by: fc.constantFrom('store', 'kms', 'customer'),
    wrappedKey: text,
    wrappedBy: maybe(fc.record({ name: text, id: hexId })),
    context: maybe(text),
    bucketKeyEnabled: maybe(flag),
    boundSequence: maybe(count),
  }),
)
const described = {
  bucket: text,
  bucketId: hexId,
  bucketState: maybe(state),
  key: text,
  etag: hexId,
  writtenMs: count,
  size: maybe(count),
}
const version = { sequence: count, versionRandom: maybe(hexId), encryption }
const digest = maybe(fc.record({ algorithm, value: text }))

const anything: fc.Arbitrary<BlobDescription> = fc.oneof(
  fc.record({ kind: fc.constant('object' as const), ...described, ...version, attributes, checksum: digest }),
  fc.record({
    kind: fc.constant('completion' as const),
    ...described,
    ...version,
    attributes,
    uploadId: hexId,
    checksum: maybe(fc.record({ algorithm, value: text, type })),
  }),
  fc.record({
    kind: fc.constant('part' as const),
    ...described,
    uploadId: hexId,
    partNumber: count,
    checksum: digest,
    encryption,
    salt: maybe(hexId),
    upload: maybe(fc.record({ attributes, checksum: maybe(fc.record({ algorithm, type })) })),
  }),
  fc.record({
    kind: fc.constant('snapshot' as const),
    snapshotId: hexId,
    createdMs: count,
    piece: count,
    end: maybe(fc.record({ pieces: count, entries: count, sha256: hexId })),
  }),
)

const bucket: BucketRecord = {
  name: 'photos',
  id: '0123456789abcdef0123456789abcdef',
  owner: 'main',
  createdMs: 1_790_000_000_000,
  locationConstraint: undefined,
  location: 'default',
  tags: [],
  versioning: 'unversioned',
  objectLock: undefined,
}
const { name: _name, id: _id, tags: _tags, ...plainState } = bucket
const usual: ObjectDescription = {
  kind: 'object',
  bucket: bucket.name,
  bucketId: bucket.id,
  bucketState: plainState,
  key: '2026/11/beach.jpg',
  sequence: 1,
  size: 4096,
  etag: 'd41d8cd98f00b204e9800998ecf8427e',
  checksum: { algorithm: 'CRC64NVME', value: 'uLJm8yUbTxs=' },
  encryption: undefined,
  writtenMs: 1_795_000_000_000,
  attributes: { headers: { contentType: 'image/jpeg' }, metadata: {}, tags: [] },
}
const guarded: ObjectDescription = {
  ...usual,
  bucketState: {
    ...plainState,
    versioning: 'enabled',
    objectLock: { defaultRetention: { mode: 'COMPLIANCE', period: { years: 2 } } },
    encryption: { by: 'store' },
  },
  sequence: 300,
  versionRandom: '00112233445566778899',
  attributes: {
    ...usual.attributes,
    metadata: { mtime: '1790000000.5' },
    tags: [{ key: 'project', value: 'x' }],
    retention: { mode: 'COMPLIANCE', untilMs: 1_858_000_000_000 },
    legalHold: true,
    storageClass: 'GLACIER_IR',
  },
  encryption: {
    by: 'store',
    wrappedKey: Buffer.alloc(60, 7).toString('base64'),
    wrappedBy: { name: 'sse-s3', id: 'fedcba9876543210fedcba9876543210' },
  },
}
const hexOf = (description: BlobDescription): string => descriptionBytes(description).toString('hex')

describe('a description', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(anything, (given) => {
        expect(readDescription(descriptionBytes(given))).toEqual(given)
      }),
    )
  })

  it('is read behind the label of a shard', () => {
    const label = { blobId: 'f'.repeat(32), index: 1, data: 2, parity: 1, unitBytes: 4, size: 9 }
    expect(readDescription(labelled(label, descriptionBytes(usual)))).toEqual(usual)
  })

  it.each(['é', '語', '\u{10ffff}', 'a\0b', '0a', '0A'])('keeps a key as it is: %j', (key) => {
    expect(readDescription(descriptionBytes({ ...usual, key }))).toEqual({ ...usual, key })
  })

  it('of a small object takes no more than 128 bytes', () => {
    expect(descriptionBytes(usual).length).toBeLessThanOrEqual(128)
  })

  it('of all that a request can say fits its limit', () => {
    const long: ObjectDescription = {
      ...guarded,
      key: '\u{10ffff}'.repeat(256),
      attributes: {
        ...guarded.attributes,
        metadata: { all: 'é'.repeat(limits.userMetadataBytesMax) },
        tags: Array.from({ length: 10 }, (_, i) => ({ key: '語'.repeat(127) + i, value: '語'.repeat(256) })),
      },
    }
    const bytes = descriptionBytes(long)
    expect(bytes.length).toBeLessThanOrEqual(limits.shardDescriptionBytesMax)
    expect(readDescription(bytes)).toEqual(long)
  })

  it('of one bucket says what the bucket is, and of the next what that is', () => {
    const later = { ...bucket, versioning: 'suspended' as const }
    for (const record of [bucket, later, bucket]) {
      const read = readDescription(descriptionBytes({ ...usual, bucketState: record }))
      expect(read).toMatchObject({ bucket: 'photos', bucketState: { versioning: record.versioning } })
    }
  })
})

/** Every byte of it lies beside every object. Whoever adds to this list, adds to them all. */
const toldByShards = [
  'owner',
  'createdMs',
  'location',
  'versioning',
  'locationConstraint',
  'objectLock',
  'encryption',
  'moving',
  'guarded',
]

const blocking = (on: boolean) => ({
  blockPublicAcls: on,
  ignorePublicAcls: on,
  blockPublicPolicy: on,
  restrictPublicBuckets: on,
})

describe('of its bucket, a description', () => {
  const everything: BucketRecord = {
    ...bucket,
    locationConstraint: 'eu-west-1',
    location: 'safe',
    moving: true,
    tags: [{ key: 'project', value: 'x' }],
    versioning: 'enabled',
    objectLock: { defaultRetention: undefined },
    encryption: { by: 'store' },
    policy: '{}',
    publicAccessBlock: blocking(true),
  }
  const toldOf = (record: BucketRecord) => {
    const read = readDescription(descriptionBytes({ ...usual, bucketState: record }))
    return read?.kind === 'object' ? read.bucketState : undefined
  }

  it('says these fields and no other, whatever else there is of it', () => {
    const later = { ...everything, aFieldOfALaterVersion: 'x'.repeat(1000) }
    expect(Object.keys(toldOf(later) ?? {}).toSorted()).toEqual(toldByShards.toSorted())
  })

  it('says them as they are', () => {
    const { name, id, tags, policy, publicAccessBlock, ...told } = everything
    expect(toldOf(everything)).toEqual({ ...told, guarded: true })
  })

  it.each<[string, Partial<BucketRecord>, true | undefined]>([
    ['nothing', {}, undefined],
    ['a policy', { policy: '{}' }, true],
    ['a public access block', { publicAccessBlock: blocking(true) }, true],
    ['a public access block that blocks nothing', { publicAccessBlock: blocking(false) }, undefined],
    ['access control lists', { ownership: 'ObjectWriter' }, true],
    ['a grant', { grants: [{ grantee: { kind: 'everyone' }, permission: 'READ' }] }, true],
    ['what was recovered and is not confirmed', { unconfirmed: true }, true],
  ])('says that it is guarded where that is so: %s', (_, fields, guards) => {
    expect(toldOf({ ...bucket, ...fields })?.guarded).toBe(guards)
  })
})

// What was written with these bytes must be read from them.
test.each<[string, BlobDescription, string]>([
  [
    'a plain object',
    usual,
    'AgD/jQAGcGhvdG9zIQEjRWeJq83vASNFZ4mrze+DAARtYWlugNjBoow0ETIwMjYvMTEvYmVhY2guanBngLzZ8p40IdQdjNmPALIE6YAJmOz4Qn6AIAEDAgx1TEptOHlVYlR4cz0BCmltYWdlL2pwZWc=',
  ],
  [
    'an object with everything',
    guarded,
    'AgD//wsGcGhvdG9zIQEjRWeJq83vASNFZ4mrze/rAARtYWlugNjBoow0AQEDAQUBABEyMDI2LzExL2JlYWNoLmpwZ4C82fKeNCHUHYzZjwCyBOmACZjs+EJ+gCCsAhUAESIzRFVmd4iZAwIMdUxKbTh5VWJUeHM9AQppbWFnZS9qcGVnAQVtdGltZQwxNzkwMDAwMDAwLjUBAwdwcm9qZWN0AXgDAYCouMuJNgEHBwB5BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHAwZzc2UtczMh/ty6mHZUMhD+3LqYdlQyEA==',
  ],
  [
    'an object in a bucket that is guarded',
    { ...usual, bucketState: { ...plainState, guarded: true } },
    'AgD/jQAGcGhvdG9zIQEjRWeJq83vASNFZ4mrze+DAgRtYWlugNjBoow0ETIwMjYvMTEvYmVhY2guanBngLzZ8p40IdQdjNmPALIE6YAJmOz4Qn6AIAEDAgx1TEptOHlVYlR4cz0BCmltYWdlL2pwZWc=',
  ],
  [
    'a completed upload',
    {
      ...usual,
      kind: 'completion',
      uploadId: '019a0000000000112233445566778899',
      etag: 'd41d8cd98f00b204e9800998ecf8427e-3',
      checksum: { algorithm: 'SHA256', value: '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=-3', type: 'COMPOSITE' },
    },
    'AgH/nQAGcGhvdG9zIQEjRWeJq83vASNFZ4mrze+DAARtYWlugNjBoow0ETIwMjYvMTEvYmVhY2guanBngLzZ8p40RGQ0MWQ4Y2Q5OGYwMGIyMDRlOTgwMDk5OGVjZjg0MjdlLTOAIAEhAZoAAAAAABEiM0RVZneImQcELjQ3REVRcGo4SEJTYSsvVEltVys1SkNldVFlUmttNU5NcEpXWkczaFN1RlU9LTMBAQppbWFnZS9qcGVn',
  ],
  [
    'a part',
    {
      kind: 'part',
      bucket: 'photos',
      bucketId: bucket.id,
      bucketState: usual.bucketState,
      key: 'film',
      writtenMs: 1_795_000_000_000,
      etag: usual.etag,
      size: 5_242_880,
      uploadId: '019a0000000000112233445566778899',
      partNumber: 10_000,
      checksum: undefined,
      encryption: undefined,
      salt: 'ffeeddccbbaa99887766554433221100',
      upload: {
        attributes: { headers: {}, metadata: {}, tags: [] },
        checksum: { algorithm: 'CRC32', type: 'COMPOSITE' },
      },
    },
    'AgL/MwZwaG90b3MhASNFZ4mrze8BI0VniavN74MABG1haW6A2MGijDQEZmlsbYC82fKeNCHUHYzZjwCyBOmACZjs+EJ+gIDAAiEBmgAAAAAAESIzRFVmd4iZkE4h/+7dzLuqmYh3ZlVEMyIRAIABAwAB',
  ],
  [
    'a piece of a snapshot',
    {
      kind: 'snapshot',
      snapshotId: '019a0000000000112233445566778899',
      createdMs: 1_795_000_000_000,
      piece: 7,
      end: { pieces: 7, entries: 12_345, sha256: 'ab'.repeat(32) },
    },
    'AgMPIQGaAAAAAAARIjNEVWZ3iJmAvNnynjQHBwe5YEGrq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urqw==',
  ],
])('the bytes of %s stay as they are', (_, given, bytes) => {
  expect(descriptionBytes(given).toString('base64')).toBe(bytes)
  expect(readDescription(Buffer.from(bytes, 'base64'))).toEqual(given)
})

describe('the first format', () => {
  it('is still read as it was before there were versions', () => {
    const first = {
      kind: 'object',
      bucket: 'photos',
      bucketId: 'b',
      key: 'k',
      etag: 'e',
      writtenMs: 5,
      attributes: { headers: {}, metadata: {}, tags: [] },
    }
    const { attributes, ...others } = first
    expect(readDescription(Buffer.from(JSON.stringify({ ...others, ...attributes })))).toEqual(first)
  })

  // As every version before wrote it.
  const before =
    '{"kind":"object","bucket":"photos","bucketId":"0123456789abcdef0123456789abcdef","bucketState":{"owner":"main","createdMs":1790000000000,' +
    '"location":"default","versioning":"unversioned"},"key":"2026/11/beach.jpg","sequence":1,"size":4096,"etag":"d41d8cd98f00b204e9800998ecf8427e",' +
    '"checksum":{"algorithm":"CRC64NVME","value":"uLJm8yUbTxs="},"writtenMs":1795000000000,"headers":{"contentType":"image/jpeg"},"metadata":{},"tags":[]}'

  it('is still read', () => {
    expect(readDescription(Buffer.from(before))).toEqual(usual)
  })

  it('is still read as it was before shards told of buckets, sizes and version ids', () => {
    const oldest =
      '{"kind":"object","bucket":"photos","bucketId":"b","key":"k","sequence":4,"etag":"e","writtenMs":5,"headers":{},"metadata":{},"tags":[]}'
    expect(readDescription(Buffer.from(oldest))).toEqual({
      kind: 'object',
      bucket: 'photos',
      bucketId: 'b',
      key: 'k',
      sequence: 4,
      etag: 'e',
      writtenMs: 5,
      attributes: { headers: {}, metadata: {}, tags: [] },
    })
  })
})

describe('bytes that are no description', () => {
  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('not ours')],
    ['JSON of a kind that is not known', Buffer.from('{"kind":"other"}')],
    ['JSON of nobody', Buffer.from('null')],
    [
      'JSON of an object without a key',
      Buffer.from('{"kind":"object","bucket":"b","bucketId":"i","sequence":1,"etag":"e","writtenMs":5}'),
    ],
    [
      'JSON of a piece of a snapshot whose number is text',
      Buffer.from('{"kind":"snapshot","snapshotId":"s","createdMs":1,"piece":"0"}'),
    ],
    ['a kind that is not known', Buffer.from([2, 4, 0])],
    ['a format that is not known', Buffer.from([3, ...descriptionBytes(usual).subarray(1)])],
    ['a field that is not known', Buffer.from([2, 3, 0b10111, 1, 0, 0])],
    ['a piece of a snapshot without its number', Buffer.from([2, 3, 0b11, 1, 0])],
    ['a kind of checksum that is not known', Buffer.from(hexOf(usual).replace('03020c754c', '030a0c754c'), 'hex')],
    ['an object without a key', Buffer.from([2, 0, 0])],
    [
      'a label and nothing else',
      labelled({ blobId: 'f'.repeat(32), index: 0, data: 1, parity: 0, unitBytes: 1, size: 1 }, Buffer.alloc(0)),
    ],
  ])('are told apart: %s', (_, bytes) => {
    expect(readDescription(bytes)).toBeUndefined()
  })

  it('are so for a bit alone', () => {
    const piece = Buffer.from([2, 3, 0b111, 1, 0, 0])
    expect(readDescription(piece)).toEqual({ kind: 'snapshot', snapshotId: '', createdMs: 0, piece: 0 })
  })

  it('are told apart when cut short, or continued', () => {
    for (const given of [usual, guarded]) {
      const bytes = descriptionBytes(given)
      for (let end = 0; end < bytes.length; end++) expect(readDescription(bytes.subarray(0, end))).toBeUndefined()
      expect(readDescription(Buffer.concat([bytes, Buffer.alloc(1)]))).toBeUndefined()
    }
  })

  it('never throw, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (tail) => {
        for (const kind of [0, 1, 2, 3]) readDescription(Buffer.from([2, kind, ...tail]))
        readDescription(Buffer.from(tail))
      }),
    )
  })
})
