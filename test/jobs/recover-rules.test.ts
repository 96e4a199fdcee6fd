/** What shards give back, as rows: blobs from shards, versions from blobs and a snapshot, buckets from both. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codingOf, type Manifest } from '../../src/blobs/manifest.ts'
import { labelled } from '../../src/blobs/shard-label.ts'
import {
  assembleBlob,
  identityOf,
  type RecoveryLocation,
  type StagedShard,
} from '../../src/jobs/recover/found-blobs.ts'
import { type FoundVersion, type MergeContext, mergeVersions } from '../../src/jobs/recover/merge-versions.ts'
import { type BucketSighting, bucketAfter } from '../../src/jobs/recover/recover-buckets.ts'
import type { BucketRecord } from '../../src/records/bucket-record.ts'
import type { ObjectDescription } from '../../src/records/descriptions.ts'
import type { ObjectRecord, VersionRecord } from '../../src/records/records.ts'
import { versionIdOf } from '../../src/records/version-id.ts'

const safe: RecoveryLocation = {
  name: 'safe',
  version: 3,
  copies: 2,
  storageClasses: [],
  storeIds: new Set(['a', 'b', 'c']),
}
const other: RecoveryLocation = {
  name: 'other',
  version: 1,
  copies: 1,
  storageClasses: [],
  storeIds: new Set(['d', 'a']),
}

describe('shards of one blob', () => {
  const copy = (storeId: string, id = '1'): StagedShard => ({
    storeId,
    id,
    payloadBytes: 9,
    raw: Buffer.from('{"says":"it"}'),
  })
  const stripe = (index: number, storeId: string, id = '1'): StagedShard => ({
    storeId,
    id,
    payloadBytes: 5,
    raw: labelled({ blobId: 'f'.repeat(32), index, data: 2, parity: 1, unitBytes: 4, size: 9 }, Buffer.from('{}')),
  })

  it.each<[string, StagedShard[], string | undefined, string]>([
    ['all copies', [copy('a'), copy('b')], 'safe', 'safe.3 a1 b1'],
    ['one copy of two', [copy('b')], 'safe', 'safe.3 b1 missing 1'],
    [
      'a copy twice in a store, as a crash of compaction leaves it',
      [copy('a'), copy('a', '2'), copy('c')],
      'safe',
      'safe.3 a1 c1, surplus a2',
    ],
    ['copies in stores of another location than was told: it was moved', [copy('d')], 'safe', 'other.1 d1'],
    ['copies in a store of several locations', [copy('a')], 'other', 'other.1 a1'],
    ['copies in stores of no one location', [copy('b'), copy('d')], 'gone', 'gone.1 b1 d1'],
    ['all of 2 + 1', [stripe(2, 'a'), stripe(0, 'b'), stripe(1, 'c')], 'safe', 'safe.3 b1#0 c1#1 a1#2'],
    ['two of 2 + 1', [stripe(2, 'a'), stripe(0, 'b')], 'safe', 'safe.3 b1#0 a1#2 missing 1'],
    [
      'an index twice',
      [stripe(0, 'a'), stripe(0, 'b'), stripe(1, 'c')],
      'safe',
      'safe.3 a1#0 c1#1 missing 1, surplus b1',
    ],
    ['two of 2 + 1 that are one index', [stripe(0, 'a'), stripe(0, 'b')], 'safe', '1 of 2'],
    ['one of 2 + 1', [stripe(1, 'a')], 'safe', '1 of 2'],
  ])('%s', (_, shards, told, expected) => {
    const blob = assembleBlob(shards, [safe, other], told)
    expect(blob.isReadable ? textOf(blob.manifest, blob.surplus) : `${blob.found} of ${blob.needed}`).toBe(expected)
  })

  it('know how their bytes lie', () => {
    const blob = assembleBlob([stripe(1, 'a'), stripe(0, 'b')], [safe], undefined)
    if (!blob.isReadable || blob.manifest.scheme !== 'erasure') throw new Error('not readable')
    expect(codingOf(blob.manifest)).toEqual({ size: 9, data: 2, parity: 1, unitBytes: 4 })
  })

  it('are one blob by their label, or by saying the same', () => {
    expect(identityOf(stripe(0, 'a').raw)).toBe(identityOf(stripe(2, 'b').raw))
    expect(identityOf(copy('a').raw)).toBe(identityOf(copy('b').raw))
    expect(identityOf(Buffer.from('{"says":"other"}'))).not.toBe(identityOf(copy('a').raw))
  })

  function textOf({ location, locationVersion, shards, missing }: Manifest, surplus: readonly Manifest[]): string {
    const places = shards.map(({ storeId, id, index }) => `${storeId}${id}${index === undefined ? '' : `#${index}`}`)
    const lacking = missing === undefined ? '' : ` missing ${missing}`
    const more = surplus.flatMap((one) => one.shards).map(({ storeId, id }) => `, surplus ${storeId}${id}`)
    return `${location}.${locationVersion} ${places.join(' ')}${lacking}${more.join('')}`
  }
})

// Versions: `5n@10` is a named version of sequence 5, written at 10; `x` in place of `n` a null version, `d` a delete marker.
const randomOf = (name: string): string => Buffer.from(name.padEnd(10, '.')).toString('hex')
const manifest = (name: string): Manifest => ({
  location: 'safe',
  locationVersion: 1,
  scheme: 'replica',
  size: 1,
  shards: [{ storeId: 'a', id: name }],
})

interface Row {
  name: string
  sequence: number
  kind: 'n' | 'x' | 'd'
  atMs: number
}
function parse(text: string): Row {
  const [, sequence = '', kind, atMs = ''] = /^(\d+)([nxd])@(\d+)/.exec(text) ?? []
  if (kind !== 'n' && kind !== 'x' && kind !== 'd') throw new Error(`no row: ${text}`)
  return { name: text, sequence: Number(sequence), kind, atMs: Number(atMs) }
}

function known(text: string): VersionRecord {
  const { name, sequence, kind, atMs: modifiedMs } = parse(text)
  const versionId = kind === 'x' ? 'null' : versionIdOf(sequence, Buffer.from(randomOf(name), 'hex'))
  if (kind === 'd') return { kind: 'marker', sequence, versionId, modifiedMs }
  return {
    kind: 'object',
    sequence,
    versionId,
    modifiedMs,
    size: 1,
    etag: name,
    checksum: undefined,
    attributes: { headers: {}, metadata: {}, tags: [] },
    data: { kind: 'blob', manifest: manifest(name) },
  }
}

function found(text: string, more: Partial<ObjectDescription> = {}, place = `${text} found`): FoundVersion {
  const { name, sequence, kind, atMs: writtenMs } = parse(text)
  return {
    identity: name,
    manifest: manifest(place),
    description: {
      kind: 'object',
      bucket: 'bucket',
      bucketId: 'id',
      key: 'key',
      sequence,
      versionRandom: kind === 'n' ? randomOf(name) : undefined,
      writtenMs,
      size: 1,
      etag: name,
      checksum: undefined,
      encryption: undefined,
      attributes: { headers: {}, metadata: {}, tags: [] },
      ...more,
    },
  }
}

const context = (takenMs?: number): MergeContext => ({ takenMs, graceMs: 100, wasRead: () => true })

/** `5:5n@10`: at place 5, what was written as that. */
function shown({ versions }: { versions: readonly VersionRecord[] }): string {
  return versions.map((one) => `${one.sequence}:${one.kind === 'marker' ? 'marker' : one.etag}`).join(' ')
}

describe('versions of a key', () => {
  it('that are copies have the time of their original, and count from when they were written here', () => {
    const attributes = { headers: {}, metadata: {}, tags: [], originalMs: 10 }
    const copy = found('2x@30', { attributes })
    const older = found('1x@20')
    const lost = mergeVersions([], [copy, older], context())
    expect(lost.versions).toMatchObject([{ etag: '2x@30', modifiedMs: 10 }])
    const record = { ...known('2x@30'), modifiedMs: 10 }
    const merged = mergeVersions([record], [copy, older], context(50))
    expect([shown(merged), merged.added.length, merged.unneeded.length]).toEqual(['2:2x@30', 0, 1])
  })

  it.each<[string, string[], string[], number | undefined, string, number]>([
    [
      'of shards alone, in the order that they expected',
      [],
      ['2n@9', '1n@10', '3n@8'],
      undefined,
      '1:1n@10 2:2n@9 3:3n@8',
      0,
    ],
    [
      'of shards alone, of which the newest null version counts',
      [],
      ['4x@10', '7x@9', '1x@8'],
      undefined,
      '4:4x@10',
      2,
    ],
    ['null and named', [], ['1x@1', '2n@2', '3n@3'], undefined, '1:1x@1 2:2n@2 3:3n@3', 0],
    [
      'that two writers expected the same place for',
      [],
      ['1n@1', '2n@5', '2n@4'],
      undefined,
      '1:1n@1 2:2n@4 3:2n@5',
      0,
    ],
    ['that the snapshot knows stay where they are', ['1n@1', '2n@2'], ['1n@1', '2n@2'], 50, '1:1n@1 2:2n@2', 0],
    ['newer than the snapshot', ['1n@1', '2n@2'], ['1n@1', '2n@2', '3n@60'], 50, '1:1n@1 2:2n@2 3:3n@60', 0],
    [
      'newer than the snapshot, after what it knows was removed',
      ['3n@1', '4n@2'],
      ['3n@1', '1n@60'],
      50,
      '3:3n@1 4:4n@2 5:1n@60',
      0,
    ],
    ['under way when the snapshot was taken', ['1n@1'], ['1n@1', '2n@49'], 50, '1:1n@1 2:2n@49', 0],
    [
      'written long before the snapshot, which does not know them: orphans',
      ['1n@300'],
      ['1n@300', '2n@150'],
      400,
      '1:1n@300',
      1,
    ],
    ['that are gone from stores stay known', ['1n@1', '2n@2'], ['2n@2'], 50, '1:1n@1 2:2n@2', 0],
    ['a null version that was overwritten since', ['1x@1'], ['1x@1', '2x@60'], 50, '2:2x@60', 0],
    ['an overwritten null version that is not reclaimed yet', ['2x@30'], ['2x@30', '1x@20'], 50, '2:2x@30', 1],
    ['a null version behind named ones', ['1x@1', '2n@2'], ['1x@1', '2n@2', '3x@60'], 50, '2:2n@2 3:3x@60', 0],
    [
      'a delete marker stays, and what was written before it is older',
      ['1n@1', '2d@10'],
      ['1n@1'],
      50,
      '1:1n@1 2:marker',
      0,
    ],
  ])('%s', (_, before, blobs, takenMs, expected, unneeded) => {
    const merged = mergeVersions(
      before.map(known),
      blobs.map((text) => found(text)),
      context(takenMs),
    )
    expect(shown(merged)).toBe(expected)
    expect(merged.unneeded).toHaveLength(unneeded)
  })

  it('that were being moved are there once', () => {
    const again = { ...found('2n@60', {}, 'elsewhere'), identity: 'another' }
    const merged = mergeVersions(
      [known('1n@1')],
      [found('1n@1'), found('2n@60'), again, { ...found('1n@1'), identity: 'more' }],
      context(50),
    )
    expect(shown(merged)).toBe('1:1n@1 2:2n@60')
    expect(merged.unneeded).toHaveLength(2)
  })

  it('keep their ids where they keep their places', () => {
    const { versions } = mergeVersions(
      [],
      ['1n@1', '2n@5', '2n@4'].map((text) => found(text)),
      context(),
    )
    expect(versions.map(({ versionId }) => versionId)).toEqual(
      [
        [1, '1n@1'],
        [2, '2n@4'],
        [3, '2n@5'],
      ].map(([place, name]) => versionIdOf(Number(place), Buffer.from(randomOf(`${name}`), 'hex'))),
    )
  })

  it('of which the key is bound to another place remember which', () => {
    const encryption = { by: 'customer' as const, wrappedKey: 'w' }
    const { versions } = mergeVersions(
      [],
      ['2n@4', '2n@5'].map((text) => found(text, { encryption })),
      context(),
    )
    const bound = versions.map((version) => (version.kind === 'object' ? version.encryption?.boundSequence : undefined))
    expect(bound).toEqual([undefined, 2])
  })

  it('are found where compaction has moved them, and keep the shards that nobody could look for', () => {
    const before = known('1n@1') as ObjectRecord
    const where = manifest('1n@1')
    const spread: ObjectRecord = {
      ...before,
      data: {
        kind: 'blob',
        manifest: { ...where, shards: [...where.shards, { storeId: 'away', id: '7' }, { storeId: 'b', id: 'gone' }] },
      },
    }
    const merged = mergeVersions([spread], [found('1n@1')], { ...context(50), wasRead: (id) => id !== 'away' })
    const [version] = merged.versions
    expect(version?.kind === 'object' && version.data).toMatchObject({
      manifest: {
        shards: [
          { storeId: 'a', id: '1n@1 found' },
          { storeId: 'away', id: '7' },
        ],
      },
    })
    expect(merged.unneeded).toEqual([])
  })

  it('anyhow: none is lost or there twice, places and ids are its own, and what is known stays, but for a null version that is overwritten', () => {
    const row = fc.record({
      sequence: fc.integer({ min: 1, max: 6 }),
      kind: fc.constantFrom('n', 'x'),
      atMs: fc.integer({ min: 0, max: 200 }),
    })
    const textOf = ({ sequence, kind, atMs }: { sequence: number; kind: string; atMs: number }): string =>
      `${sequence}${kind}@${atMs}`
    fc.assert(
      fc.property(
        fc.uniqueArray(row, { selector: ({ sequence }) => sequence, maxLength: 4 }),
        fc.uniqueArray(row, { selector: textOf, maxLength: 6 }),
        fc.option(fc.integer({ min: 0, max: 300 }), { nil: undefined }),
        (before, after, takenMs) => {
          let nulls = 0
          const records = before.filter(({ kind }) => kind === 'n' || nulls++ === 0).map((one) => known(textOf(one)))
          const blobs = after.map((one) => found(textOf(one)))
          const merged = mergeVersions(records, blobs, context(takenMs))
          const { versions, unneeded, added, replaced } = merged
          expect(new Set(versions.map(({ sequence }) => sequence)).size).toBe(versions.length)
          expect(new Set(versions.map(({ versionId }) => versionId)).size).toBe(versions.length)
          expect(versions.map(({ sequence }) => sequence)).toEqual(
            versions.map(({ sequence }) => sequence).toSorted((a, b) => a - b),
          )
          const keptIds = records.filter((one) =>
            versions.some(({ versionId, sequence }) => versionId === one.versionId && sequence === one.sequence),
          )
          for (const gone of records.filter((one) => !keptIds.includes(one)))
            expect([gone.versionId, replaced.length]).toEqual(['null', 1])
          // Every blob is a version's, or of none; none is both.
          const matched = blobs.filter((one) => !unneeded.includes(one) && !added.some((it) => it.found === one))
          for (const { description } of matched)
            expect(records.map((one) => one.kind === 'object' && one.etag)).toContain(description.etag)
          // Named ones go only for being orphans.
          for (const { description } of unneeded.filter((one) => one.description.versionRandom !== undefined)) {
            expect(description.writtenMs).toBeLessThan((takenMs ?? 0) - 100)
          }
          // The same, whatever the order in which stores are read.
          expect(shown(mergeVersions(records, blobs.toReversed(), context(takenMs)))).toBe(shown(merged))
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('a bucket', () => {
  const state = {
    owner: 'main',
    createdMs: 1,
    locationConstraint: 'safe',
    location: 'safe',
    versioning: 'enabled' as const,
    objectLock: undefined,
  }
  const tags = [{ key: 'k', value: 'v' }]
  const record = (id: string): BucketRecord => ({ ...state, versioning: 'unversioned', name: 'bucket', id, tags })
  const configured = { ...record('x'), ofTheMetadataAlone: 'kept' }
  const seen = (id: string, lastMs: number, told = true): BucketSighting => ({
    id,
    name: 'bucket',
    lastMs,
    state: told ? state : undefined,
  })
  it.each<[string, BucketRecord | undefined, BucketSighting, number | undefined, Partial<BucketRecord> | undefined]>([
    [
      'that shards alone tell of',
      undefined,
      seen('x', 9),
      undefined,
      { id: 'x', owner: 'main', versioning: 'enabled', tags: [] },
    ],
    [
      'that old shards name, and no more',
      undefined,
      seen('x', 9, false),
      undefined,
      { id: 'x', owner: 'root', location: 'default', versioning: 'unversioned' },
    ],
    [
      'that the snapshot knows, written to before',
      record('x'),
      seen('x', 9),
      50,
      { id: 'x', versioning: 'unversioned', tags },
    ],
    [
      'that the snapshot knows, written to since',
      record('x'),
      seen('x', 90),
      50,
      { id: 'x', versioning: 'enabled', tags },
    ],
    ['that was made again since', record('x'), seen('y', 90), 50, { id: 'y', tags: [] }],
    ['of the name of an older one, of which there is a rest', record('x'), seen('y', 9), 50, undefined],
    ['made since', undefined, seen('x', 90), 50, { id: 'x', versioning: 'enabled' }],
    [
      'whose lock was enabled meanwhile',
      { ...record('x'), objectLock: { defaultRetention: undefined } },
      seen('x', 90),
      50,
      { objectLock: { defaultRetention: undefined } },
    ],
    [
      'whose default encryption was removed since',
      { ...record('x'), encryption: { by: 'store' } },
      seen('x', 90),
      50,
      { encryption: undefined },
    ],
    ['that has what no shard tells', configured, seen('x', 90), 50, { ...configured, versioning: 'enabled' }],
  ])('%s', (_, before, sighting, takenMs, expected) => {
    const after = bucketAfter(before, sighting, { takenMs, owner: 'root' })
    if (expected === undefined) expect(after).toBeUndefined()
    else expect({ encryption: undefined, ...after }).toMatchObject(expected)
  })
})
