/** What lifecycle rules remove, when, and what they never remove. */
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { bytesSource } from '../../../src/byte-source.ts'
import { confirmLockClock, lockNow } from '../../../src/commits/lock-clock.ts'
import { Lifecycle } from '../../../src/jobs/lifecycle/lifecycle.ts'
import { changeBucket } from '../../../src/objects/buckets.ts'
import { setTags } from '../../../src/objects/change-version.ts'
import { deleteObject } from '../../../src/objects/delete-object.ts'
import { type ListedVersion, listVersions } from '../../../src/objects/list-versions.ts'
import { listUploads } from '../../../src/objects/uploads.ts'
import { writeObject } from '../../../src/objects/write-object.ts'
import type { BucketRecord } from '../../../src/records/bucket-record.ts'
import type { LifecycleFilter, LifecycleRule } from '../../../src/records/lifecycle.ts'
import type { ObjectAttributes } from '../../../src/records/object-attributes.ts'
import { dayMs } from '../../../src/rules/lifecycle.ts'
import {
  begin,
  complete,
  garbageOf,
  plain,
  put,
  read,
  scope,
  sendPart,
  storeWithBucket,
  type TestStore,
} from '../../objects/fixture.ts'

const filtered = (filter: Partial<LifecycleFilter> = {}): LifecycleFilter => ({ form: 'filter', tags: [], ...filter })
const rule = (actions: Partial<LifecycleRule>, filter?: Partial<LifecycleFilter>): LifecycleRule => ({
  id: 'rule',
  enabled: true,
  filter: filtered(filter),
  ...actions,
})
const afterOneDay = rule({ expiration: { days: 1 } })

interface Served extends TestStore {
  lifecycle: Lifecycle
  errors: unknown[]
}

async function served(settings: Partial<BucketRecord>): Promise<Served> {
  const made = await storeWithBucket()
  await configure(made, settings)
  // The first mark of the lock clock is a commit of its own.
  await lockNow(made.backend)
  const errors: unknown[] = []
  return { ...made, errors, lifecycle: new Lifecycle({ ...made, onError: (error) => errors.push(error) }) }
}

const configure = ({ backend }: TestStore, settings: Partial<BucketRecord>): Promise<void> =>
  changeBucket(backend, scope, (bucket) => ({ ...bucket, ...settings }))

/** Moves to a moment after midnight, so many days ahead. */
function pass({ clock }: TestStore, days: number): void {
  clock.advance(days * dayMs + 1)
}

async function run({ lifecycle, errors }: Served): Promise<number> {
  const { removed } = await lifecycle.run()
  expect(errors).toEqual([])
  return removed
}

async function versions({ backend }: TestStore): Promise<ListedVersion[]> {
  const query = { prefix: '', delimiter: '', max: 1000, keyMarker: undefined, versionIdMarker: undefined }
  return (await listVersions(backend, scope, query)).page.entries
}

/** `key` of an object that is latest, `key!` of a delete marker that is, `key-` and `key!-` of others. */
async function shown(made: TestStore): Promise<string[]> {
  return (await versions(made)).map(
    ({ key, latest, version }) => `${key}${version.kind === 'marker' ? '!' : ''}${latest ? '' : '-'}`,
  )
}

async function putWith({ backend }: TestStore, key: string, attributes: Partial<ObjectAttributes>): Promise<void> {
  const data = { body: bytesSource(Buffer.from(key)) }
  await writeObject(backend, scope, { key, attributes: { ...plain, ...attributes }, data, conditions: {} })
}

describe('in a bucket without versions', () => {
  it('an object that is old enough is removed with its bytes, once it is midnight, and a young one is not', async () => {
    const made = await served({ lifecycle: [afterOneDay] })
    made.clock.advance(dayMs / 4)
    await put(made, 'old')
    pass(made, 1)
    expect(await run(made)).toBe(0)
    await put(made, 'young')
    pass(made, 1)
    expect(await run(made)).toBe(1)
    expect(await shown(made)).toEqual(['young'])
    expect(await garbageOf(made)).toHaveLength(1)
  })

  it('more than a page of objects are removed, and only below the prefix', async () => {
    const made = await served({ lifecycle: [rule({ expiration: { days: 1 } }, { prefix: 'logs/' })] })
    for (let i = 0; i < 1100; i++) await put(made, `logs/${i}`, '')
    await put(made, 'log')
    await put(made, 'logt')
    pass(made, 2)
    expect(await run(made)).toBe(1100)
    expect(await shown(made)).toEqual(['log', 'logt'])
  })

  it('tags decide, as they are when it is removed', async () => {
    const tags = [{ key: 'keep', value: 'no' }]
    const made = await served({ lifecycle: [rule({ expiration: { days: 1 } }, { tags })] })
    await putWith(made, 'tagged', { tags })
    await putWith(made, 'tagged otherwise', { tags: [{ key: 'keep', value: 'yes' }] })
    await put(made, 'untagged')
    await putWith(made, 'untagged since', { tags })
    await setTags(made.backend, scope, { key: 'untagged since' }, [])
    pass(made, 2)
    expect(await run(made)).toBe(1)
    expect(await shown(made)).toEqual(['tagged otherwise', 'untagged', 'untagged since'])
  })

  it('an object that is written anew while the old one is being removed stays', async () => {
    const made = await served({ lifecycle: [afterOneDay] })
    await put(made, 'key', 'old')
    pass(made, 2)
    // Its own backend: it does not wait for the change that is under way.
    made.kv.beforeNextCommit(() => put({ backend: { ...made.backend } }, 'key', 'new'))
    expect(await run(made)).toBe(0)
    expect((await read(made, 'key')).toString()).toBe('new')
  })

  it('nothing is removed by rules that have been removed or disabled while it is under way', async () => {
    const made = await served({ lifecycle: [afterOneDay] })
    await put(made, 'key')
    pass(made, 2)
    made.kv.beforeNextCommit(() => configure(made, { lifecycle: [{ ...afterOneDay, enabled: false }] }))
    expect(await run(made)).toBe(0)
    expect(await shown(made)).toEqual(['key'])
  })

  it('a clock that is set ahead removes nothing until an operator confirms it', async () => {
    const made = await served({ lifecycle: [rule({ expiration: { days: 30 } })] })
    await run(made)
    await put(made, 'key')
    made.clock.set(365 * dayMs)
    expect(await run(made)).toBe(0)
    await confirmLockClock(made.backend)
    expect(await run(made)).toBe(1)
  })
})

describe('in a bucket with versions', () => {
  const versioned = (...lifecycle: LifecycleRule[]) => served({ versioning: 'enabled', lifecycle })

  it('an expired object is hidden behind a delete marker, and its bytes stay', async () => {
    const made = await versioned(afterOneDay)
    await put(made, 'key')
    pass(made, 2)
    expect(await run(made)).toBe(1)
    expect(await shown(made)).toEqual(['key!', 'key-'])
    expect(await garbageOf(made)).toEqual([])
    pass(made, 9)
    expect(await run(made)).toBe(0)
  })

  it('noncurrent versions go, their newest stay, and so do delete markers that are latest', async () => {
    const made = await versioned(rule({ noncurrent: { days: 1, keeps: 1 } }))
    for (let i = 0; i < 3; i++) await put(made, 'a', `${i}`)
    for (let i = 0; i < 2; i++) await put(made, 'b', `${i}`)
    await deleteObject(made.backend, scope, { key: 'b' })
    pass(made, 2)
    expect(await run(made)).toBe(2)
    expect(await shown(made)).toEqual(['a', 'a-', 'b!', 'b-'])
    expect((await read(made, 'a')).toString()).toBe('2')
  })

  it('a version counts from when it was replaced, not from when it was written', async () => {
    const made = await versioned(rule({ noncurrent: { days: 5 } }))
    await put(made, 'key', 'first')
    pass(made, 10)
    await put(made, 'key', 'second')
    pass(made, 5)
    expect(await run(made)).toBe(0)
    pass(made, 1)
    expect(await run(made)).toBe(1)
    expect(await shown(made)).toEqual(['key'])
  })

  it('a version counts from when it was written, where a copy of something older replaced it', async () => {
    const made = await versioned(rule({ noncurrent: { days: 5 } }))
    pass(made, 10)
    await put(made, 'key', 'first')
    await putWith(made, 'key', { originalMs: 0 })
    pass(made, 5)
    expect(await run(made)).toBe(0)
    pass(made, 1)
    expect(await run(made)).toBe(1)
    expect(await shown(made)).toEqual(['key'])
  })

  it('a delete marker goes when no other version is left, a day later', async () => {
    const both = { noncurrent: { days: 1 }, expiration: { expiredDeleteMarkers: true } } as const
    const made = await versioned(rule(both))
    await put(made, 'key')
    await deleteObject(made.backend, scope, { key: 'key' })
    pass(made, 2)
    expect(await run(made)).toBe(1)
    expect(await shown(made)).toEqual(['key!'])
    pass(made, 1)
    expect(await run(made)).toBe(1)
    expect(await shown(made)).toEqual([])
  })

  it('a delete marker stays when the key was written while the marker is being removed', async () => {
    const made = await versioned(rule({ expiration: { expiredDeleteMarkers: true } }))
    await deleteObject(made.backend, scope, { key: 'key' })
    made.kv.beforeNextCommit(() => put({ backend: { ...made.backend } }, 'key'))
    expect(await run(made)).toBe(0)
    expect(await shown(made)).toEqual(['key', 'key!-'])
  })

  it('a version that became current again while it was being removed stays', async () => {
    const made = await versioned(rule({ noncurrent: { days: 1 } }))
    await put(made, 'key', 'first')
    const { versionId } = await put(made, 'key', 'second')
    pass(made, 2)
    made.kv.beforeNextCommit(() => deleteObject({ ...made.backend }, scope, { key: 'key', versionId }))
    expect(await run(made)).toBe(0)
    expect((await read(made, 'key')).toString()).toBe('first')
  })

  it('a null version that was written anew while the old one was being removed stays', async () => {
    const made = await served({ versioning: 'suspended', lifecycle: [rule({ noncurrent: { days: 1 } })] })
    await put(made, 'key', 'old null version')
    await configure(made, { versioning: 'enabled' })
    await put(made, 'key')
    pass(made, 2)
    made.kv.beforeNextCommit(async () => {
      const other = { ...made, backend: { ...made.backend } }
      await configure(other, { versioning: 'suspended' })
      await put(other, 'key', 'new null version')
      await configure(other, { versioning: 'enabled' })
      await put(other, 'key')
    })
    // The version between them has been noncurrent for no day.
    expect(await run(made)).toBe(0)
    expect((await versions(made)).map(({ version }) => version.versionId)).toEqual([
      expect.not.stringMatching('null'),
      'null',
      expect.not.stringMatching('null'),
    ])
  })

  it.each<[lock: string, attributes: (nowMs: number) => Partial<ObjectAttributes>]>([
    ['a legal hold', () => ({ legalHold: true })],
    ['COMPLIANCE', (nowMs) => ({ retention: { mode: 'COMPLIANCE', untilMs: nowMs + 30 * dayMs } })],
    ['GOVERNANCE', (nowMs) => ({ retention: { mode: 'GOVERNANCE', untilMs: nowMs + 30 * dayMs } })],
  ])('%s holds, and the others go', async (_, attributes) => {
    const made = await versioned(rule({ noncurrent: { days: 1 } }), { ...afterOneDay, id: 'current' })
    await configure(made, { objectLock: { defaultRetention: undefined } })
    await putWith(made, 'locked', attributes(made.clock.now()))
    await put(made, 'locked')
    await put(made, 'open')
    await put(made, 'open')
    pass(made, 2)
    // Both current ones are hidden, and one noncurrent one is removed.
    expect(await run(made)).toBe(3)
    expect(await shown(made)).toEqual(['locked!', 'locked-', 'locked-', 'open!', 'open-'])
  })

  it('where versions are suspended, the null version is replaced by a delete marker', async () => {
    const made = await served({ versioning: 'suspended', lifecycle: [afterOneDay] })
    await put(made, 'key')
    pass(made, 2)
    expect(await run(made)).toBe(1)
    expect(await shown(made)).toEqual(['key!'])
    expect(await garbageOf(made)).toHaveLength(1)
  })
})

describe('uploads', () => {
  const openUploads = async ({ backend }: TestStore): Promise<string[]> => {
    const query = { prefix: '', delimiter: '', max: 1000, keyMarker: undefined, uploadIdMarker: undefined }
    return (await listUploads(backend, scope, query)).page.entries.map(({ key }) => key)
  }

  it('that are not complete after their days are aborted, and those elsewhere or younger are not', async () => {
    const made = await served({ lifecycle: [rule({ abortUploadsDays: 2 }, { prefix: 'up/' })] })
    for (const key of ['other', 'up/one', 'up/two']) await begin(made, key)
    pass(made, 2)
    await begin(made, 'up/young')
    pass(made, 1)
    expect(await run(made)).toBe(2)
    expect(await openUploads(made)).toEqual(['other', 'up/young'])
  })

  it('more than a page of them', async () => {
    const made = await served({ lifecycle: [rule({ abortUploadsDays: 1 })] })
    for (let i = 0; i < 1001; i++) await begin(made, i % 2 === 0 ? 'same' : `up/${i}`)
    pass(made, 2)
    expect(await run(made)).toBe(1001)
    expect(await openUploads(made)).toEqual([])
  })

  it('one that is completed meanwhile becomes its object', async () => {
    const made = await served({ lifecycle: [rule({ abortUploadsDays: 1 })] })
    const upload = await begin(made, 'key')
    const part = await sendPart(made, upload, 1, 'data')
    pass(made, 2)
    made.kv.beforeNextCommit(() => complete({ ...made, backend: { ...made.backend } }, upload, [part]))
    expect(await run(made)).toBe(0)
    expect((await read(made, 'key')).toString()).toBe('data')
  })
})

describe('runs', () => {
  it('look at a bucket once a day, and again when its rules or its versioning have changed', async () => {
    const made = await served({ lifecycle: [afterOneDay] })
    await put(made, 'key')
    const entriesRead = async (): Promise<number> => {
      made.kv.entriesRead = 0
      await run(made)
      // One is the bucket itself.
      return made.kv.entriesRead - 1
    }
    expect(await entriesRead()).toBe(1)
    expect(await entriesRead()).toBe(0)
    await configure(made, { lifecycle: [afterOneDay, { ...afterOneDay, id: 'another' }] })
    expect(await entriesRead()).toBe(1)
    await configure(made, { versioning: 'enabled' })
    expect(await entriesRead()).toBe(1)
    made.clock.advance(dayMs)
    expect(await entriesRead()).toBe(1)
    expect(await entriesRead()).toBe(0)
  })

  it('a run that failed is made again, and other buckets do not wait for it', async () => {
    const made = await served({ lifecycle: [afterOneDay] })
    await put(made, 'key')
    pass(made, 2)
    made.kv.beforeNextCommit(() => Promise.reject(new Error('the disk is gone')))
    expect(await made.lifecycle.run()).toEqual({ removed: 0, moved: 0 })
    expect(made.errors.splice(0)).toEqual([new Error('the disk is gone')])
    expect(await run(made)).toBe(1)
  })

  it('one that is stopped ends soon', async () => {
    const made = await served({ lifecycle: [afterOneDay] })
    for (let i = 0; i < 200; i++) await put(made, `${i}`, '')
    pass(made, 2)
    const did = vi.fn(() => lifecycle.stop())
    const lifecycle = new Lifecycle({ ...made, onError: (error) => made.errors.push(error), did })
    const { removed } = await lifecycle.run()
    expect(removed).toBeGreaterThan(0)
    expect(removed).toBeLessThan(100)
    expect(await shown(made)).toHaveLength(200 - removed)
  })
})

type Step = { put: string } | { remove: string } | { days: number }

const steps = fc.array(
  fc.oneof(
    fc.record({ put: fc.constantFrom('a', 'b', 'b/c') }),
    fc.record({ remove: fc.constantFrom('a', 'b') }),
    fc.record({ days: fc.integer({ min: 1, max: 3 }) }),
  ),
  { maxLength: 25 },
)
const expiration = fc.oneof(
  fc.record({ days: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ expiredDeleteMarkers: fc.boolean() }),
)
const noncurrent = fc.record(
  { days: fc.integer({ min: 1, max: 4 }), keeps: fc.integer({ min: 1, max: 2 }) },
  { requiredKeys: ['days'] },
)
const someRules = fc.array(
  fc
    .record(
      { expiration, noncurrent, enabled: fc.boolean(), prefix: fc.constantFrom('', 'b', 'b/') },
      { requiredKeys: ['prefix'] },
    )
    .map(({ prefix, ...actions }) => rule(actions, { prefix })),
  { minLength: 1, maxLength: 3 },
)

function byKey(all: readonly ListedVersion[]): Map<string, ListedVersion[]> {
  const keys = new Set(all.map(({ key }) => key))
  return new Map([...keys].map((key) => [key, all.filter((listed) => listed.key === key)]))
}

/** What a run leaves of the versions of a key, newest first, worked out anew: every rule is asked about every version. */
function leftOf(all: readonly ListedVersion[], rules: readonly LifecycleRule[], nowMs: number): string[] {
  const isDue = (sinceMs: number, days: number): boolean => Math.ceil(sinceMs / dayMs + days) * dayMs <= nowMs
  const removed = new Set<ListedVersion>()
  let isHidden = false
  for (const { enabled, filter, expiration = { days: Infinity }, noncurrent } of rules) {
    if (!enabled) continue
    for (const [i, listed] of all.entries()) {
      const { key, version } = listed
      if (!key.startsWith(filter.prefix ?? '')) continue
      const before = all[i - 1]
      if (before !== undefined) {
        const { days = 0, keeps = 0 } = noncurrent ?? { days: Infinity }
        if (i > keeps && isDue(before.version.modifiedMs, days)) removed.add(listed)
      } else if ('days' in expiration && isDue(version.modifiedMs, expiration.days)) {
        if (version.kind === 'object') isHidden = true
        else if (all.length === 1) removed.add(listed)
      } else if ('expiredDeleteMarkers' in expiration && expiration.expiredDeleteMarkers) {
        if (version.kind === 'marker' && all.length === 1) removed.add(listed)
      }
    }
  }
  const left = all.filter((listed) => !removed.has(listed)).map(({ version }) => version.versionId)
  return isHidden ? ['a new marker', ...left] : left
}

it('random histories and rules: what is left is what the rules say', async () => {
  await fc.assert(
    fc.asyncProperty(steps, someRules, async (history, lifecycle) => {
      const made = await served({ versioning: 'enabled', lifecycle })
      for (const step of history as Step[]) {
        if ('put' in step) await put(made, step.put)
        else if ('remove' in step) await deleteObject(made.backend, scope, { key: step.remove })
        else made.clock.advance(step.days * dayMs + 12_345)
      }
      const before = byKey(await versions(made))
      await run(made)
      const after = byKey(await versions(made))
      const known = new Set([...before.values()].flat().map(({ version }) => version.versionId))
      for (const [key, all] of before) {
        const left = (after.get(key) ?? []).map(({ version }) => version.versionId)
        const named = left.map((versionId) => (known.has(versionId) ? versionId : 'a new marker'))
        expect(named, key).toEqual(leftOf(all, lifecycle, made.clock.now()))
      }
    }),
  )
})
