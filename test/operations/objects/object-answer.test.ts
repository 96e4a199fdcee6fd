/** Which bytes a read means, and the headers that describe them. */
import { describe, expect, it } from 'vitest'
import { describeRead, planRead, type ReadInputs } from '../../../src/operations/objects/object-answer.ts'
import type { BucketRecord } from '../../../src/records/bucket-record.ts'
import type { ObjectRecord } from '../../../src/records/records.ts'
import { outcomeOf, plain } from '../../objects/fixture.ts'

const etag = '5d41402abc4b2a76b9719d911017c592'

function record(over: Partial<ObjectRecord> = {}): ObjectRecord {
  const size = over.size ?? 10
  return {
    attributes: plain,
    kind: 'object',
    sequence: 1,
    versionId: 'null',
    modifiedMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    etag,
    checksum: { algorithm: 'CRC32', type: 'FULL_OBJECT', value: 'AAAAAA==' },
    data: { kind: 'blob', manifest: { location: 'default', locationVersion: 1, scheme: 'replica', size, shards: [] } },
    ...over,
    size,
  }
}

const modified = 'Fri, 02 Jan 2026 03:04:05 GMT'
const later = 'Fri, 02 Jan 2026 03:04:06 GMT'
const clock = { now: () => Date.UTC(2026, 1) }

const bucket: BucketRecord = {
  name: 'bucket',
  id: 'id',
  owner: 'main',
  createdMs: 0,
  locationConstraint: undefined,
  location: 'default',
  tags: [],
  versioning: 'unversioned',
  objectLock: undefined,
}

/** Parts 1 and 2 of four bytes, part 5 of two. */
const ofParts = record({
  data: {
    kind: 'parts',
    uploadId: 'u',
    runs: [
      { first: 1, count: 2, size: 4 },
      { first: 5, count: 1, size: 2 },
    ],
  },
})
const empty = record({ size: 0 })

function answer(input: ReadInputs, of = record()) {
  return describeRead(input, { bucket, record: of }, planRead(input, of, clock))
}

describe('a read', () => {
  it.each([
    ['the whole', {}, record(), 200, '10', undefined],
    ['a range', { range: 'bytes=2-4' }, record(), 206, '3', 'bytes 2-4/10'],
    ['a range of the same object', { range: 'bytes=2-4', ifRange: `"${etag}"` }, record(), 206, '3', 'bytes 2-4/10'],
    ['a range of another object', { range: 'bytes=2-4', ifRange: '"other"' }, record(), 200, '10', undefined],
    [
      'a range that only another object has',
      { range: 'bytes=99-', ifRange: '"other"' },
      record(),
      200,
      '10',
      undefined,
    ],
    ['a range of a weak tag', { range: 'bytes=2-4', ifRange: `W/"${etag}"` }, record(), 200, '10', undefined],
    ['a range of that time', { range: 'bytes=2-4', ifRange: modified }, record(), 206, '3', 'bytes 2-4/10'],
    ['a range of another time', { range: 'bytes=2-4', ifRange: later }, record(), 200, '10', undefined],
    ['the whole under If-Range alone', { ifRange: '"other"' }, record(), 200, '10', undefined],
    ['a range that is all', { range: 'bytes=0-' }, record(), 206, '10', 'bytes 0-9/10'],
    ['a suffix', { range: 'bytes=-3' }, record(), 206, '3', 'bytes 7-9/10'],
    ['no valid range', { range: 'bytes=1-2,4-5' }, record(), 200, '10', undefined],
    ['part 1 of what has no parts', { partNumber: 1 }, record(), 206, '10', 'bytes 0-9/10'],
    ['part 1', { partNumber: 1 }, ofParts, 206, '4', 'bytes 0-3/10'],
    ['part 2', { partNumber: 2 }, ofParts, 206, '4', 'bytes 4-7/10'],
    ['part 5', { partNumber: 5 }, ofParts, 206, '2', 'bytes 8-9/10'],
    ['nothing', {}, empty, 200, '0', undefined],
    ['part 1 of nothing', { partNumber: 1 }, empty, 200, '0', undefined],
  ] satisfies [string, ReadInputs, ObjectRecord, number, string, string | undefined][])(
    'of %s',
    (_what, input, of, status, contentLength, contentRange) => {
      expect(answer(input, of)).toMatchObject({ status, contentLength, contentRange })
    },
  )

  it.each([
    ['a range behind the end', { range: 'bytes=10-' }, record(), 'InvalidRange'],
    ['a range of nothing', { range: 'bytes=0-' }, empty, 'InvalidRange'],
    ['a range and a part', { range: 'bytes=0-1', partNumber: 1 }, record(), 'InvalidRequest'],
    ['part 2 of what has no parts', { partNumber: 2 }, record(), 'InvalidPartNumber'],
    ['a part in a gap', { partNumber: 3 }, ofParts, 'InvalidPartNumber'],
    ['a part behind the last', { partNumber: 6 }, ofParts, 'InvalidPartNumber'],
    [
      'a condition that fails, before a range that would',
      { ifMatch: 'x', range: 'bytes=99-' },
      record(),
      'PreconditionFailed',
    ],
    ['a condition that fails, before a part that would', { ifNoneMatch: etag, partNumber: 9 }, record(), 'NotModified'],
  ] satisfies [string, ReadInputs, ObjectRecord, string][])('of %s is refused', (_what, input, of, expected) => {
    expect(outcomeOf(() => planRead(input, of, clock))).toBe(expected)
  })

  it('describes the object', () => {
    const of = record({
      attributes: {
        headers: { contentType: 'text/plain', cacheControl: 'no-cache', expires: 'soon' },
        metadata: { a: 'b' },
        tags: [{ key: 'k', value: 'v' }],
      },
    })
    expect(answer({}, of)).toMatchObject({
      contentType: 'text/plain',
      cacheControl: 'no-cache',
      expires: 'soon',
      etag: `"${etag}"`,
      lastModified: 'Fri, 02 Jan 2026 03:04:05 GMT',
      acceptRanges: 'bytes',
      metadata: { a: 'b' },
      taggingCount: '1',
      partsCount: undefined,
    })
    expect(answer({}).taggingCount).toBeUndefined()
  })

  it.each([
    ['contentType', 'responseContentType'],
    ['contentEncoding', 'responseContentEncoding'],
    ['contentLanguage', 'responseContentLanguage'],
    ['contentDisposition', 'responseContentDisposition'],
    ['cacheControl', 'responseCacheControl'],
    ['expires', 'responseExpires'],
  ] as const)('answers %s as %s asks', (name, override) => {
    const of = record({ attributes: { ...plain, headers: { [name]: 'stored' } } })
    expect(answer({}, of)[name]).toBe('stored')
    expect(answer({ [override]: 'asked' }, of)[name]).toBe('asked')
    expect(answer({ [override]: 'asked' })[name]).toBe('asked')
  })

  it('says how many parts there are when one is asked for', () => {
    expect(answer({ partNumber: 1 }, ofParts).partsCount).toBe('3')
    expect(answer({}, ofParts).partsCount).toBeUndefined()
    expect(answer({ partNumber: 1 }).partsCount).toBeUndefined()
  })

  it('carries the checksum when it is asked for, and never beside a part of the object', () => {
    expect(answer({ checksumMode: 'ENABLED' })).toMatchObject({
      checksumCrc32: 'AAAAAA==',
      checksumType: 'FULL_OBJECT',
    })
    expect(answer({})).not.toHaveProperty('checksumCrc32')
    expect(answer({ checksumMode: 'ENABLED', range: 'bytes=0-1' })).not.toHaveProperty('checksumCrc32')
    expect(answer({ checksumMode: 'ENABLED' }, record({ checksum: undefined }))).not.toHaveProperty('checksumType')
  })
})
