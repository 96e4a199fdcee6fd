/** Versions that lifecycle rules give another storage class: their data follows into the location that keeps it, and nothing else changes. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bytesSource } from '../../../src/byte-source.ts'
import { lockNow } from '../../../src/commits/lock-clock.ts'
import { Lifecycle } from '../../../src/jobs/lifecycle/lifecycle.ts'
import { moveQueued } from '../../../src/jobs/moves/queued-moves.ts'
import { changeBucket } from '../../../src/objects/buckets.ts'
import { setLegalHold, setTags } from '../../../src/objects/change-version.ts'
import { deleteObject } from '../../../src/objects/delete-object.ts'
import { findVersion } from '../../../src/objects/find-version.ts'
import { createUpload } from '../../../src/objects/uploads.ts'
import { writeObject } from '../../../src/objects/write-object.ts'
import type { BucketRecord } from '../../../src/records/bucket-record.ts'
import { objectKey, queuedEvents } from '../../../src/records/keyspace.ts'
import type { LifecycleRule } from '../../../src/records/lifecycle.ts'
import { eventCodec } from '../../../src/records/record-codecs.ts'
import { dayMs } from '../../../src/rules/lifecycle.ts'
import type { StorageClass } from '../../../src/storage-class.ts'
import { unmount } from '../../blobs/disks.ts'
import { begin, complete, elsewhere, garbageOf, plain, put, read, scope, sendPart } from '../../objects/fixture.ts'
import { patternBytes } from '../../support/seeded.ts'
import { type MovableStore, movableStore, moved, usualLocations } from '../move-fixture.ts'

/** Of all sizes: the least size of S3 is a matter of the rules' own tests. */
const everySize = { form: 'filter', tags: [], sizeGreaterThan: -1 } as const
const rule = (actions: Partial<LifecycleRule>): LifecycleRule => ({
  id: 'rule',
  enabled: true,
  filter: everySize,
  ...actions,
})
const toGlacier = rule({ transitions: [{ storageClass: 'GLACIER', days: 1 }] })
const small = patternBytes(1, 2_000)
const large = patternBytes(2, 40_000)

let made: MovableStore
let lifecycle: Lifecycle
let errors: unknown[]
beforeEach(async () => {
  made = (await movableStore()).configured((stores) => [
    ...usualLocations(stores).filter(({ name }) => name !== 'pair'),
    {
      name: 'cold',
      version: 1,
      scheme: 'replica',
      copies: 2,
      stores: stores.slice(1, 4),
      storageClasses: ['GLACIER', 'DEEP_ARCHIVE'],
    },
  ])
  errors = []
  lifecycle = new Lifecycle({ ...made, onError: (error) => errors.push(error) })
  // The first mark of the lock clock is a commit of its own.
  await lockNow(made.backend)
})
afterEach(async () => {
  expect(errors).toEqual([])
  await made.dispose()
})

const configure = (settings: Partial<BucketRecord>): Promise<void> =>
  changeBucket(made.backend, scope, (bucket) => ({ ...bucket, ...settings }))

/** Lets so many days pass, and then runs the rules. Resolves with what they did. */
async function daysLater(days: number): Promise<{ removed: number; moved: number }> {
  made.clock.advance(days * dayMs + 1)
  return lifecycle.run()
}

const recordOf = async (key: string, versionId?: string) =>
  (await findVersion(made.backend, scope, key, versionId)).record
const classOf = async (key: string, versionId?: string) => (await recordOf(key, versionId)).attributes.storageClass

/** The locations of all blobs. */
const places = async (): Promise<string[]> => (await made.manifests()).map(({ location }) => location).sort()

async function putAs(key: string, storageClass: StorageClass | undefined, bytes = small): Promise<void> {
  const attributes = { ...plain, storageClass }
  await writeObject(made.backend, scope, { key, attributes, data: { body: bytesSource(bytes) }, conditions: {} })
}

async function uploaded(key: string, storageClass?: StorageClass): Promise<void> {
  const attributes = { ...plain, storageClass }
  const { uploadId } = await createUpload(made.backend, scope, { key, attributes, checksum: undefined })
  await complete(made, { key, uploadId }, [await sendPart(made, { key, uploadId }, 1, large)])
}

describe('an object of a class that a location keeps', () => {
  it.each(['default', 'striped'])(
    'lies there from the beginning, in whole and in parts, in a bucket in %s',
    async (location) => {
      await configure({ location })
      await putAs('whole', 'GLACIER', large)
      await uploaded('parts', 'DEEP_ARCHIVE')
      expect(await places()).toEqual(Array(3).fill('cold'))
      expect(await made.late()).toBe(0)
      await putAs('other', 'ONEZONE_IA')
      await putAs('usual', undefined)
      expect(await places()).toEqual([...Array(3).fill('cold'), location, location])
      expect(await made.late()).toBe(0)
      expect(await read(made, 'parts')).toEqual(large)
    },
  )

  it('stays there when its bucket is moved, and goes there when a move finds it elsewhere', async () => {
    await putAs('kept', 'GLACIER')
    await uploaded('parts', 'GLACIER')
    const before = (await made.manifests()).flatMap(({ shards }) => shards.map(({ id }) => id)).sort()
    await put(made, 'usual', large)
    expect(await moved(made, 'striped')).toMatchObject({ state: 'done', progress: { done: large.length } })
    expect(await places()).toEqual([...Array(3).fill('cold'), 'striped'])
    const now = (await made.manifests()).flatMap(({ location, shards }) =>
      location === 'cold' ? shards.map(({ id }) => id) : [],
    )
    expect(now.sort()).toEqual(before)

    const without = made.configured(usualLocations)
    const attributes = { ...plain, storageClass: 'GLACIER' as const }
    const data = { body: bytesSource(small) }
    await writeObject(without.backend, scope, { key: 'early', attributes, data, conditions: {} })
    expect(await places()).toEqual([...Array(3).fill('cold'), 'striped', 'striped'])
    expect(await moved(made, 'striped')).toMatchObject({ state: 'done', progress: { done: small.length } })
    expect(await places()).toEqual([...Array(4).fill('cold'), 'striped'])
  })
})

describe('lifecycle rules', () => {
  it('give objects another class after their days, and their data follows, in whole and in parts', async () => {
    await configure({ lifecycle: [toGlacier] })
    await put(made, 'whole', large)
    await uploaded('parts')
    await setTags(made.backend, scope, { key: 'whole' }, [{ key: 'k', value: 'v' }])
    const before = [await recordOf('whole'), await recordOf('parts')]
    expect(await lifecycle.run()).toEqual({ removed: 0, moved: 0 })
    expect(await daysLater(2)).toEqual({ removed: 0, moved: 2 })
    expect(await moveQueued(made.backend)).toBe(2)
    expect(await places()).toEqual(Array(3).fill('cold'))
    expect(await made.late()).toBe(0)
    const now = [await recordOf('whole'), await recordOf('parts')]
    for (const [i, record] of now.entries()) {
      expect(record.attributes).toEqual({ ...before[i]?.attributes, storageClass: 'GLACIER' })
      const same = { attributes: undefined, data: undefined }
      expect({ ...record, ...same }).toEqual({ ...before[i], ...same })
    }
    expect(await read(made, 'whole')).toEqual(large)
    expect(await read(made, 'parts')).toEqual(large)
    expect(await garbageOf(made)).toHaveLength(3)
    expect(await daysLater(1)).toEqual({ removed: 0, moved: 0 })
  })

  it('move data from class to class, down only', async () => {
    await configure({
      lifecycle: [
        rule({
          transitions: [
            { storageClass: 'GLACIER', days: 1 },
            { storageClass: 'DEEP_ARCHIVE', days: 10 },
          ],
        }),
      ],
    })
    await put(made, 'a', small)
    await putAs('deep', 'DEEP_ARCHIVE')
    expect(await daysLater(2)).toEqual({ removed: 0, moved: 1 })
    expect([await classOf('a'), await classOf('deep')]).toEqual(['GLACIER', 'DEEP_ARCHIVE'])
    expect(await daysLater(9)).toEqual({ removed: 0, moved: 1 })
    expect(await classOf('a')).toBe('DEEP_ARCHIVE')
    await moveQueued(made.backend)
    expect(await garbageOf(made)).toHaveLength(1)
  })

  it('give older versions another class, and no current ones, and leave delete markers', async () => {
    const noncurrentTransitions = [{ storageClass: 'GLACIER', days: 1, keeps: 1 }] as const
    await configure({ versioning: 'enabled', lifecycle: [rule({ noncurrentTransitions })] })
    const first = await put(made, 'a', '1')
    const second = await put(made, 'a', '2')
    await deleteObject(made.backend, scope, { key: 'a' })
    const last = await put(made, 'a', '3')
    expect(await daysLater(2)).toEqual({ removed: 0, moved: 2 })
    const classes = await Promise.all([first, second, last].map(({ versionId }) => classOf('a', versionId)))
    expect(classes).toEqual(['GLACIER', 'GLACIER', undefined])
    await moveQueued(made.backend)
    expect(await places()).toEqual(['cold', 'cold', 'default'])
  })

  it('remove what is due for both', async () => {
    await configure({ lifecycle: [toGlacier, rule({ expiration: { days: 2 } })] })
    await put(made, 'a')
    expect(await daysLater(3)).toEqual({ removed: 1, moved: 0 })
  })

  it('move what a lock protects, whose lock stays', async () => {
    await configure({ versioning: 'enabled', objectLock: { defaultRetention: undefined }, lifecycle: [toGlacier] })
    await put(made, 'a', small)
    await setLegalHold(made.backend, scope, { key: 'a' }, true)
    expect(await daysLater(2)).toEqual({ removed: 0, moved: 1 })
    await moveQueued(made.backend)
    expect(await places()).toEqual(['cold'])
    expect((await recordOf('a')).attributes).toMatchObject({ legalHold: true, storageClass: 'GLACIER' })
  })

  it('go by the tags as they are when the class is given', async () => {
    const tags = [{ key: 'move', value: 'yes' }]
    await configure({ lifecycle: [{ ...toGlacier, filter: { ...everySize, tags } }] })
    await put(made, 'tagged')
    await put(made, 'plain')
    await setTags(made.backend, scope, { key: 'tagged' }, tags)
    expect(await daysLater(2)).toEqual({ removed: 0, moved: 1 })
    expect([await classOf('tagged'), await classOf('plain')]).toEqual(['GLACIER', undefined])
  })

  it('leave an object that is overwritten while its class is given', async () => {
    await configure({ lifecycle: [rule({ transitions: [{ storageClass: 'GLACIER', dateMs: 0 }] })] })
    await put(made, 'a', 'old')
    made.kv.beforeCommitOf(objectKey('bucket', 'a'), () => put(elsewhere(made), 'a', 'new'))
    expect(await daysLater(2)).toEqual({ removed: 0, moved: 0 })
    expect(await classOf('a')).toBeUndefined()
    expect((await read(made, 'a')).toString()).toBe('new')
  })

  it('tell webhooks that ask for it, with the new class', async () => {
    const events = { id: 'n', queueArn: 'arn:aws:sqs:::hook', events: ['s3:LifecycleTransition'] }
    await configure({ lifecycle: [toGlacier], notifications: [events] })
    await put(made, 'a', small)
    await daysLater(2)
    const queued = await made.kv.range({ ...queuedEvents, limit: 10 })
    expect(queued.map(({ key, value }) => eventCodec.decode(key, value))).toMatchObject([
      { name: 'LifecycleTransition', key: 'a', size: small.length, storageClass: 'GLACIER' },
    ])
  })

  it('that name a class which no location keeps any more change nothing, and say so', async () => {
    await configure({ lifecycle: [rule({ transitions: [{ storageClass: 'GLACIER_IR', days: 1 }] })] })
    await put(made, 'a')
    expect(await daysLater(2)).toEqual({ removed: 0, moved: 0 })
    expect(errors.splice(0).map(String)).toEqual([
      'Error: no location keeps GLACIER_IR, to which rules of bucket bucket move objects',
    ])
    expect(await classOf('a')).toBeUndefined()
  })
})

describe('data that is to follow', () => {
  it('stays where it is, and readable, while its location takes nothing, and follows later', async () => {
    await configure({ lifecycle: [toGlacier] })
    await put(made, 'a', small)
    for (const disk of made.disks.all.slice(1, 4)) await unmount(disk)
    expect(await daysLater(2)).toEqual({ removed: 0, moved: 1 })
    expect(await moveQueued(made.backend)).toBe(0)
    expect(await places()).toEqual(['default'])
    expect(await made.late()).toBe(1)
    expect(await read(made, 'a')).toEqual(small)
  })

  it('follows after a crash at any commit, and no byte is lost', async () => {
    await configure({ lifecycle: [toGlacier] })
    await uploaded('parts')
    await daysLater(2)
    expect(await places()).toEqual(['default', 'default'])
    for (let commits = 0; (await made.late()) > 0; commits++) {
      made.kv.failAfterCommits(commits)
      await moveQueued(made.backend).catch((error: unknown) => expect(String(error)).toContain('killed'))
      made.kv.failAfterCommits(undefined)
      expect(await read(made, 'parts')).toEqual(large)
    }
    expect(await places()).toEqual(['cold', 'cold'])
  })

  it('is not brought back by a move of the bucket', async () => {
    await configure({ lifecycle: [toGlacier] })
    await put(made, 'a', large)
    const upload = await begin(made, 'open')
    await sendPart(made, upload, 1, small)
    await daysLater(2)
    expect(await moved(made, 'striped')).toMatchObject({ state: 'done' })
    expect(await places()).toEqual(['cold', 'striped'])
    expect(await made.late()).toBe(0)
  })
})
