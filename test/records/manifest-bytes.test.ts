/** Manifests as bytes: what is written is read, in little room, and for ever. */
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { Manifest, ShardPlace } from '../../src/blobs/blobs.ts'
import { manifestBytes, readManifest } from '../../src/records/manifest-bytes.ts'

const hex = fc.stringMatching(/^[0-9a-f]{32}$/)
const id = fc.oneof(
  fc.string({ maxLength: 70 }),
  fc
    .array(fc.oneof(hex, fc.string({ unit: 'binary', maxLength: 5 })), { maxLength: 5 })
    .map((pieces) => pieces.join('')),
)
const count = fc.nat({ max: Number.MAX_SAFE_INTEGER })
const shard: fc.Arbitrary<ShardPlace> = fc.record(
  { storeId: id, id, index: fc.nat({ max: 255 }) },
  { requiredKeys: ['storeId', 'id'] },
)
const placed = {
  location: fc.string({ maxLength: 63 }),
  locationVersion: count,
  size: count,
  shards: fc.array(shard, { maxLength: 40 }),
  missing: fc.integer({ min: 1, max: 40 }),
}
const requiredKeys = ['scheme', 'location', 'locationVersion', 'size', 'shards'] as const
const manifest: fc.Arbitrary<Manifest> = fc.oneof(
  fc.record({ scheme: fc.constant('replica' as const), ...placed }, { requiredKeys: [...requiredKeys] }),
  fc.record(
    { scheme: fc.constant('erasure' as const), ...placed, data: count, parity: count, unitBytes: count },
    { requiredKeys: [...requiredKeys, 'data', 'parity', 'unitBytes'] },
  ),
)

const usual: Manifest = {
  scheme: 'replica',
  location: 'default',
  locationVersion: 1,
  size: 4096,
  shards: [{ storeId: '0123456789abcdef0123456789abcdef', id: 's.fedcba9876543210fedcba9876543210.1a2b.3c4' }],
}
const striped: Manifest = {
  scheme: 'erasure',
  location: 'wide',
  locationVersion: 300,
  size: 2 ** 45,
  missing: 1,
  data: 2,
  parity: 1,
  unitBytes: 1_048_576,
  shards: [
    { storeId: '0123456789abcdef0123456789abcdef', id: 'm.1', index: 0 },
    { storeId: 'fedcba9876543210fedcba9876543210', id: 'm.2', index: 2 },
  ],
}

it('is read as it was written', () => {
  fc.assert(
    fc.property(manifest, (given) => {
      expect(readManifest(manifestBytes(given))).toEqual(given)
    }),
  )
})

it('of a small object takes no more than 80 bytes', () => {
  expect(manifestBytes(usual).length).toBeLessThanOrEqual(80)
})

// What was written with these bytes must be read from them.
test.each([
  ['copies', usual, 'AQdkZWZhdWx0AYAgAAEAAQABI0VniavN7wEjRWeJq83vAAECcy7+3LqYdlQyEP7cuph2VDIQCS4xYTJiLjNjNA=='],
  [
    'stripes',
    striped,
    'AgR3aWRlrAKAgICAgIAIAQIBgIBAAgEBAAEjRWeJq83vASNFZ4mrze8AAANtLjEDAQD+3LqYdlQyEP7cuph2VDIQAAADbS4y',
  ],
])('the bytes of %s stay as they are', (_, given, bytes) => {
  expect(manifestBytes(given).toString('base64')).toBe(bytes)
  expect(readManifest(Buffer.from(bytes, 'base64'))).toEqual(given)
})

describe('bytes that are no manifest', () => {
  it('are refused when cut short, or continued', () => {
    const bytes = manifestBytes(striped)
    for (let end = 0; end < bytes.length; end++) expect(() => readManifest(bytes.subarray(0, end))).toThrow()
    expect(() => readManifest(Buffer.concat([bytes, Buffer.alloc(1)]))).toThrow('followed by something else')
  })

  it('are refused when their scheme is unknown', () => {
    const bytes = manifestBytes(usual)
    bytes[0] = 3
    expect(() => readManifest(bytes)).toThrow('unknown scheme 3')
  })
})
