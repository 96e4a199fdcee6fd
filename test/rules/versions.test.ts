/** The versions of a key: every arrangement of up to four versions, changed in every way, against a plain list of them. */
import { describe, expect, it } from 'vitest'
import type { VersioningState } from '../../src/records/bucket-record.ts'
import type { DeleteMarker, ObjectRecord, VersionRecord } from '../../src/records/records.ts'
import {
  type KeyVersions,
  latestOf,
  namesVersions,
  nextSequence,
  placeVersion,
  removeCurrent,
  removeVersion,
  shownVersionId,
  type VersionChange,
} from '../../src/rules/versions.ts'

const unused = { modifiedMs: 0 }

const object = (sequence: number, versionId: string): ObjectRecord => ({
  kind: 'object',
  sequence,
  versionId,
  ...unused,
  size: 0,
  etag: '',
  checksum: undefined,
  attributes: { headers: {}, metadata: {}, tags: [] },
  data: { kind: 'parts', uploadId: String(sequence), runs: [] },
})
const marker = (sequence: number, versionId: string): DeleteMarker => ({
  kind: 'marker',
  sequence,
  versionId,
  ...unused,
})

type Kind = VersionRecord['kind']
const make = (kind: Kind, sequence: number, versionId: string): VersionRecord =>
  kind === 'object' ? object(sequence, versionId) : marker(sequence, versionId)

/** All versions of a key, the newest first: what S3 says a key is. */
type Versions = readonly VersionRecord[]

/** Every arrangement: which are markers, and which, if any, is the null version. Sequences have gaps, as removals leave them. */
function* arrangements(lengthMax: number): Generator<Versions> {
  for (let length = 0; length <= lengthMax; length++)
    for (let markers = 0; markers < 2 ** length; markers++)
      for (let nullAt = -1; nullAt < length; nullAt++)
        yield Array.from({ length }, (_, i) =>
          make((markers >> i) & 1 ? 'marker' : 'object', 3 * (length - i), i === nullAt ? 'null' : `v${length - i}`),
        )
}

interface Stored {
  current: ObjectRecord | undefined
  history: Versions
}

/** Where the store keeps them: the newest apart, if it is an object. */
function storedAs(versions: Versions): Stored {
  const [newest, ...older] = versions
  return newest?.kind === 'object' ? { current: newest, history: older } : { current: undefined, history: versions }
}

/** What the store reads for a change. */
function readOf({ current, history }: Stored): KeyVersions {
  return { current, newest: history.slice(0, 2), nullVersion: history.find(isNull) }
}

const isNull = ({ versionId }: VersionRecord): boolean => versionId === 'null'

/** What the store holds when `change` has been written. */
function applied({ history }: Stored, change: VersionChange): Stored {
  const dropped = new Set(change.dropFromHistory.map(({ sequence }) => sequence))
  expect(history.filter(({ sequence }) => dropped.has(sequence))).toHaveLength(dropped.size)
  const left = history.filter(({ sequence }) => !dropped.has(sequence))
  return {
    current: change.current,
    history: [...change.addToHistory, ...left].sort((a, b) => b.sequence - a.sequence),
  }
}

/** The change leads from one list of versions to the other, in the store's places, and says rightly what is gone and where the null version lies. */
function expectChange(before: Versions, change: VersionChange, after: Versions): void {
  const expected = storedAs(after)
  expect(applied(storedAs(before), change)).toEqual(expected)
  expect(change.nullSequence).toBe(expected.history.find(isNull)?.sequence)
  expect(new Set(change.removed)).toEqual(new Set(before.filter((version) => !after.includes(version))))
}

const all = [...arrangements(4)]

describe('a new version', () => {
  it.each<[Kind, 'named' | 'null']>([
    ['object', 'named'],
    ['object', 'null'],
    ['marker', 'named'],
    ['marker', 'null'],
  ])(
    '(%s, %s) becomes the newest of all arrangements, and a null one takes the place of the null one before',
    (kind, name) => {
      expect(all).toHaveLength(129)
      for (const before of all) {
        const versions = readOf(storedAs(before))
        const version = make(kind, nextSequence(versions), name === 'null' ? 'null' : 'new')
        const kept = name === 'null' ? before.filter((other) => !isNull(other)) : before
        expectChange(before, placeVersion(versions, version), [version, ...kept])
      }
    },
  )

  it('comes behind every version there is', () => {
    for (const before of all) {
      const sequence = nextSequence(readOf(storedAs(before)))
      expect(before.every((version) => version.sequence < sequence)).toBe(true)
      expect(sequence).toBeGreaterThan(0)
    }
  })

  it.each<[VersioningState, boolean]>([
    ['unversioned', false],
    ['suspended', false],
    ['enabled', true],
  ])('in a bucket whose versioning is %s has a name of its own: %s', (versioning, named) => {
    expect(namesVersions(versioning)).toBe(named)
  })
})

describe('removing a version', () => {
  it('leaves the others as they were, in every arrangement and at every place', () => {
    let removals = 0
    for (const before of all)
      for (const version of before) {
        const after = before.filter((other) => other !== version)
        expectChange(before, removeVersion(readOf(storedAs(before)), version), after)
        removals++
      }
    expect(removals).toBe(4 + 2 * 12 + 3 * 32 + 4 * 80)
  })

  it('makes the one before it current again, or the marker before it the newest', () => {
    const [a, b, m] = [object(1, 'a'), object(2, 'b'), marker(3, 'm')]
    const current = (before: Versions, version: VersionRecord) =>
      removeVersion(readOf(storedAs(before)), version).current?.versionId
    expect(current([b, a], b)).toBe('a')
    expect(current([m, b, a], m)).toBe('b')
    expect(current([b, a], a)).toBe('b')
    expect(current([object(4, 'c'), m, b], object(4, 'c'))).toBeUndefined()
    expect(current([m, b], b)).toBeUndefined()
  })
})

describe('deleting in a bucket that was never versioned', () => {
  it('removes the only version there is', () => {
    const only = object(1, 'null')
    expectChange([only], removeCurrent(readOf(storedAs([only]))), [])
    expectChange([], removeCurrent(readOf(storedAs([]))), [])
  })
})

describe('the newest version', () => {
  it('is the current object, or the first of the history, or none', () => {
    for (const versions of all) expect(latestOf(readOf(storedAs(versions)))).toBe(versions[0])
  })
})

describe('the name of a version', () => {
  const bucket = (versioning: VersioningState) => ({
    name: 'bucket',
    id: '',
    owner: 'main',
    createdMs: 0,
    locationConstraint: undefined,
    location: 'default',
    tags: [],
    versioning,
    objectLock: undefined,
  })

  it.each<[VersioningState, string | undefined]>([
    ['unversioned', undefined],
    ['suspended', 'null'],
    ['enabled', 'null'],
  ])('is told in a bucket whose versioning is %s as %s', (versioning, told) => {
    expect(shownVersionId({ bucket: bucket(versioning), record: object(1, 'null') })).toBe(told)
  })
})
