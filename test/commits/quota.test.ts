/** A bucket with a quota holds no more than that, and its usage is always what it holds. Random histories run by several processes at once, over metadata that they share. */
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { readUsage } from '../../src/commits/usage.ts'
import { countUsage, UsageKeeper } from '../../src/jobs/count-usage.ts'
import { everyEntry } from '../../src/jobs/every-entry.ts'
import { expireUploads } from '../../src/jobs/expire-uploads.ts'
import { known } from '../../src/known.ts'
import { limits } from '../../src/limits.ts'
import { setQuota, usedOfQuota } from '../../src/objects/bucket-quota.ts'
import { changeBucket, deleteBucket, findBucket } from '../../src/objects/buckets.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { deleteObjects } from '../../src/objects/delete-objects.ts'
import { listVersions } from '../../src/objects/list-versions.ts'
import { listUploads, type UploadAddress } from '../../src/objects/uploads.ts'
import type { BucketRecord } from '../../src/records/bucket-record.ts'
import { objectKey, usageOf, usages } from '../../src/records/keyspace.ts'
import type { BucketQuota, Usage } from '../../src/records/usage.ts'
import {
  abort,
  begin,
  complete,
  elsewhere,
  makeBucket,
  outcome,
  partNumbers,
  put,
  scope,
  sendPart,
  storeWithBucket,
  type TestStore,
} from '../objects/fixture.ts'

const { signal } = new AbortController()

let made: TestStore
beforeEach(async () => {
  made = await storeWithBucket()
})

const keepUsages = ({ backend }: TestStore): Promise<void> => new UsageKeeper(backend).run()
const bucket = (): Promise<BucketRecord> => findBucket(made.backend, scope)
async function limit(quota: BucketQuota): Promise<void> {
  await countUsage(made.backend, await setQuota(made.backend, 'bucket', quota), signal)
}
const used = async (): Promise<Usage | undefined> => usedOfQuota(made.backend, await bucket())
const version = (versioning: BucketRecord['versioning']): Promise<void> =>
  changeBucket(made.backend, scope, (record) => ({ ...record, versioning }))

/** What listings show. */
async function held(): Promise<Usage> {
  const found = { bytes: 0, objects: 0 }
  const all = { prefix: '', delimiter: '', max: 1000 }
  const versions = await listVersions(made.backend, scope, { ...all, keyMarker: undefined, versionIdMarker: undefined })
  for (const { version: listed } of versions.page.entries) {
    if (listed.kind === 'marker') continue
    found.bytes += listed.size
    found.objects++
  }
  const uploads = await listUploads(made.backend, scope, { ...all, keyMarker: undefined, uploadIdMarker: undefined })
  for (const upload of uploads.page.entries) {
    found.objects++
    for (const number of await partNumbers(made, upload)) found.bytes += sizeOfPart(number)
  }
  return found
}
const sizeOfPart = (number: number): number => number
const bytes = (size: number): Buffer => Buffer.alloc(size, 'x')

describe('a quota', () => {
  it('admits what fits exactly, and nothing more', async () => {
    await limit({ bytes: 10, objects: 3 })
    expect(await outcome(put(made, 'a', bytes(6)))).toBe('ok')
    expect(await outcome(put(made, 'b', bytes(5)))).toBe('QuotaExceeded')
    expect(await outcome(put(made, 'b', bytes(4)))).toBe('ok')
    expect(await outcome(put(made, 'c', bytes(1)))).toBe('QuotaExceeded')
    expect(await outcome(put(made, 'c', bytes(0)))).toBe('ok')
    expect(await outcome(put(made, 'd', bytes(0)))).toBe('QuotaExceeded')
    expect(await used()).toEqual({ bytes: 10, objects: 3 })
  })

  it('says what is in use', async () => {
    await limit({ bytes: 10 })
    await put(made, 'a', bytes(6))
    await expect(put(made, 'b', bytes(5))).rejects.toThrow('6 of 10 bytes are in use')
  })

  it('lets objects be overwritten by smaller ones, and deleted, whatever it is', async () => {
    await put(made, 'a', bytes(8))
    await put(made, 'b', bytes(8))
    await limit({ bytes: 10, objects: 1 })
    expect(await used()).toEqual({ bytes: 16, objects: 2 })
    expect(await outcome(put(made, 'a', bytes(9)))).toBe('QuotaExceeded')
    expect(await outcome(put(made, 'a', bytes(7)))).toBe('ok')
    expect(await outcome(deleteObject(made.backend, scope, { key: 'b' }))).toBe('ok')
    expect(await outcome(put(made, 'a', bytes(10)))).toBe('ok')
    expect(await used()).toEqual({ bytes: 10, objects: 1 })
  })

  it('counts noncurrent versions, but no delete markers', async () => {
    await version('enabled')
    await limit({ bytes: 10 })
    const first = await put(made, 'a', bytes(6))
    expect(await outcome(put(made, 'a', bytes(6)))).toBe('QuotaExceeded')
    await deleteObject(made.backend, scope, { key: 'a' })
    expect(await used()).toEqual({ bytes: 6, objects: 1 })
    expect(await outcome(put(made, 'a', bytes(6)))).toBe('QuotaExceeded')
    await deleteObject(made.backend, scope, { key: 'a', versionId: first.versionId })
    expect(await outcome(put(made, 'a', bytes(6)))).toBe('ok')
  })

  it('counts parts of open uploads, so that no Complete fails', async () => {
    await limit({ bytes: 10, objects: 2 })
    const upload = await begin(made, 'a')
    const part = await sendPart(made, upload, 1, bytes(6))
    expect(await outcome(sendPart(made, upload, 2, bytes(5)))).toBe('QuotaExceeded')
    expect(await outcome(sendPart(made, upload, 1, bytes(6)))).toBe('ok')
    await sendPart(made, upload, 2, bytes(4))
    await put(made, 'b', bytes(0))
    expect(await outcome(begin(made, 'c'))).toBe('QuotaExceeded')
    expect(await outcome(complete(made, upload, [part]))).toBe('ok')
    expect(await used()).toEqual({ bytes: 6, objects: 2 })
  })

  it.each(['abort', 'expiry'])('gives the room of an upload back after its %s', async (how) => {
    await limit({ bytes: 10 })
    const upload = await begin(made, 'a')
    await sendPart(made, upload, 1, bytes(10))
    if (how === 'abort') await abort(made, upload)
    else await expireUploads(made.backend, { abandonedUploadMs: -1 })
    expect(await used()).toEqual({ bytes: 0, objects: 0 })
    expect(await outcome(put(made, 'a', bytes(10)))).toBe('ok')
  })

  it('refuses a body before it reads it', async () => {
    await limit({ bytes: 10 })
    const unread = { ...unreadableBody(), size: 11 }
    expect(await outcome(put(made, 'a', unread))).toBe('QuotaExceeded')
    const upload = await begin(made, 'a')
    expect(await outcome(sendPart(made, upload, 1, { ...unreadableBody(), size: 11 }))).toBe('QuotaExceeded')
  })

  it('holds against writers that all come at once', async () => {
    await limit({ bytes: 100 })
    const outcomes = await Promise.all(Array.from({ length: 64 }, (_, i) => outcome(put(made, `${i}`, bytes(10)))))
    expect(outcomes.filter((code) => code === 'ok')).toHaveLength(10)
    expect(await used()).toEqual({ bytes: 100, objects: 10 })
  })

  it('holds where writes begin to take turns', async () => {
    await limit({ objects: 1000 })
    let admitted = 0
    for (let round = 0; round < 11; round++) {
      const outcomes = await Promise.all(Array.from({ length: 100 }, (_, i) => outcome(put(made, `${round} ${i}`))))
      admitted += outcomes.filter((code) => code === 'ok').length
    }
    expect(admitted).toBe(1000)
  })

  it('holds against many small writers that all come at once', async () => {
    await limit({ objects: 1000 })
    const outcomes = await Promise.all(Array.from({ length: 1100 }, (_, i) => outcome(put(made, `${i}`))))
    expect(outcomes.filter((code) => code === 'ok')).toHaveLength(1000)
  })

  it('holds against a large writer beside a small one that is slow to commit', async () => {
    await limit({ bytes: 1000 })
    made.kv.beforeNextCommit(() => made.kv.idle())
    const small = outcome(put(made, 'small', bytes(1)))
    expect(await outcome(put(made, 'large', bytes(1000)))).toBe('QuotaExceeded')
    expect(await small).toBe('ok')
  })

  it('holds against another process that writes at the last moment', async () => {
    await limit({ bytes: 10 })
    await put(made, 'a', bytes(5))
    made.kv.beforeNextCommit(() => put(elsewhere(made), 'b', bytes(5)))
    expect(await outcome(put(made, 'c', bytes(5)))).toBe('QuotaExceeded')
    expect(await used()).toEqual({ bytes: 10, objects: 2 })
  })

  it('ends when it is removed, and what was kept about it goes', async () => {
    await limit({ bytes: 1 })
    await deleteObject(made.backend, scope, { key: 'a' })
    await put(made, 'a', bytes(1))
    await setQuota(made.backend, 'bucket', undefined)
    expect(await outcome(put(made, 'a', bytes(11)))).toBe('ok')
    await keepUsages(made)
    expect(await made.kv.range({ ...usages, limit: 1 })).toEqual([])
  })

  it('keeps its count when it is set again while an earlier one is forgotten', async () => {
    await limit({ bytes: 10 })
    await put(made, 'a', bytes(6))
    await setQuota(made.backend, 'bucket', undefined)
    made.kv.beforeNextCommit(() => limit({ bytes: 10 }))
    await keepUsages(made)
    expect(await used()).toEqual({ bytes: 6, objects: 1 })
  })

  it('goes with its bucket', async () => {
    await limit({ bytes: 10 })
    await put(made, 'a', bytes(1))
    await deleteObject(made.backend, scope, { key: 'a' })
    await deleteBucket(made.backend, scope)
    await keepUsages(made)
    expect(await made.kv.range({ ...usages, limit: 1 })).toEqual([])
    await makeBucket(made)
    expect(await outcome(put(made, 'a', bytes(11)))).toBe('ok')
  })

  it('is followed again by a bucket that has lost its count', async () => {
    await put(made, 'a', bytes(6))
    await limit({ bytes: 10 })
    const entries = await made.kv.range({ ...usages, limit: 10 })
    await made.kv.commit({ deletes: entries.map(({ key }) => key) })
    await put(made, 'b', bytes(1))
    await keepUsages(made)
    expect(await used()).toEqual({ bytes: 7, objects: 2 })
    expect(await outcome(put(made, 'c', bytes(4)))).toBe('QuotaExceeded')
  })

  it('counts what is readable where a record is damaged', async () => {
    await put(made, 'a', bytes(6))
    await put(made, 'b', bytes(1))
    const key = objectKey('bucket', 'a')
    const [entry] = await made.kv.get([key])
    const value = Buffer.from(known(entry).value)
    value.writeUInt8(value.readUInt8(20) ^ 1, 20)
    await made.kv.commit({ puts: [{ key, value }] })
    await limit({ bytes: 10 })
    expect(await used()).toEqual({ bytes: 1, objects: 1 })
  })

  it('keeps few records of its usage, however much is written and deleted', async () => {
    await limit({ objects: 1e6 })
    const keys = Array.from({ length: 3 * limits.usageChangesMax }, (_, i) => `${i}`)
    for (const key of keys) await put(made, key, bytes(1))
    for (let from = 1; from < keys.length; from += limits.usageChangesMax) {
      const some = keys.slice(from, from + limits.usageChangesMax)
      await deleteObjects(
        made.backend,
        'bucket',
        some.map((key) => ({ key, scope })),
      )
    }
    await made.kv.idle()
    const { id } = await bucket()
    let left = 0
    for await (const _ of everyEntry(made.kv, usageOf(id))) left++
    expect(left).toBeLessThanOrEqual(2 * limits.usageChangesMax)
    expect(await used()).toEqual({ bytes: 1, objects: 1 })
  })
})

function unreadableBody() {
  const fail = () => Promise.reject(new Error('the body was read'))
  return { drain: fail, read: fail, cancel: () => {} }
}

type Step =
  | { do: 'put'; key: string; size: number }
  | { do: 'delete'; key: string }
  | { do: 'delete newest version' }
  | { do: 'delete several'; keys: string[] }
  | { do: 'begin'; key: string }
  | { do: 'part'; number: number }
  | { do: 'complete' | 'abort' }
  | { do: 'version'; versioning: BucketRecord['versioning'] }
  | { do: 'limit'; bytes: number }
  | { do: 'add up' }

const aKey = fc.constantFrom('a', 'b', 'c')
const step: fc.Arbitrary<{ by: number; step: Step }> = fc.record({
  by: fc.nat(1),
  step: fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), key: aKey, size: fc.nat(40) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), key: aKey }) },
    { weight: 2, arbitrary: fc.constant({ do: 'delete newest version' as const }) },
    fc.record({ do: fc.constant('delete several' as const), keys: fc.uniqueArray(aKey, { minLength: 1 }) }),
    { weight: 2, arbitrary: fc.record({ do: fc.constant('begin' as const), key: aKey }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('part' as const), number: fc.integer({ min: 1, max: 30 }) }) },
    { weight: 2, arbitrary: fc.constantFrom({ do: 'complete' as const }, { do: 'abort' as const }) },
    fc.record({ do: fc.constant('version' as const), versioning: fc.constantFrom('enabled' as const, 'suspended') }),
    fc.record({ do: fc.constant('limit' as const), bytes: fc.integer({ min: 1, max: 200 }) }),
    fc.constant({ do: 'add up' as const }),
  ),
})

/** Refusals that a step can meet. Anything else fails the test. */
const refusals = new Set(['ok', 'QuotaExceeded', 'NoSuchUpload', 'InvalidPart', 'EntityTooSmall', 'OperationAborted'])

describe('whatever several processes do', () => {
  it('the usage is what the bucket holds, and never grows beyond the quota', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { maxLength: 12 }), async (rounds) => {
        made = await storeWithBucket()
        const processes = [made, elsewhere(made)]
        const uploads: UploadAddress[] = []
        let quota = Number.POSITIVE_INFINITY
        for (const round of rounds) {
          const before = await held()
          const asked = round.map(({ by, step: one }) => outcome(perform(processes[by] ?? made, one, uploads)))
          for (const code of await Promise.all(asked)) expect(refusals).toContain(code)
          const limits = round.flatMap(({ step: one }) => (one.do === 'limit' ? [one.bytes] : []))
          const after = await held()
          if (limits.length === 0) expect(after.bytes).toBeLessThanOrEqual(Math.max(quota, before.bytes))
          quota = (await bucket()).quota?.bytes ?? Number.POSITIVE_INFINITY
          if (quota !== Number.POSITIVE_INFINITY) expect(await used()).toEqual(after)
        }
      }),
      { numRuns: 300 },
    )
  })
})

async function perform(by: TestStore, one: Step, uploads: UploadAddress[]): Promise<unknown> {
  const [upload = { key: 'a', uploadId: 'none' }] = uploads
  switch (one.do) {
    case 'put':
      return put(by, one.key, bytes(one.size))
    case 'delete':
      return deleteObject(by.backend, scope, { key: one.key })
    case 'delete newest version': {
      const query = { prefix: '', delimiter: '', max: 1, keyMarker: undefined, versionIdMarker: undefined }
      const [newest] = (await listVersions(by.backend, scope, query)).page.entries
      return newest && deleteObject(by.backend, scope, { key: newest.key, versionId: newest.version.versionId })
    }
    case 'delete several':
      return deleteObjects(
        by.backend,
        'bucket',
        one.keys.map((key) => ({ key, scope })),
      )
    case 'begin':
      return uploads.push(await begin(by, one.key))
    case 'part':
      return sendPart(by, upload, one.number, bytes(sizeOfPart(one.number)))
    case 'complete': {
      uploads.shift()
      const [number = 1] = await partNumbers(by, upload)
      return complete(by, upload, [await sendPart(by, upload, number, bytes(sizeOfPart(number)))])
    }
    case 'abort':
      uploads.shift()
      return abort(by, upload)
    case 'version':
      return changeBucket(by.backend, scope, (record) => ({ ...record, versioning: one.versioning }))
    case 'limit':
      return countUsage(by.backend, await setQuota(by.backend, 'bucket', { bytes: one.bytes }), signal)
    case 'add up':
      return readUsage(by.kv, (await findBucket(by.backend, scope)).id).then(() => keepUsages(by))
  }
}
