/** Metadata that is lost and rebuilt from the stores: everything that can happen between a snapshot, the loss, and the shards. */
import { afterEach, describe, expect, it } from 'vitest'
import { noPublicAccessBlock } from '../../src/access/grants.ts'
import { bytesSource } from '../../src/byte-source.ts'
import { serverScope } from '../../src/commits/scope.ts'
import { compactStores } from '../../src/jobs/compact.ts'
import { countUsage, UsageKeeper } from '../../src/jobs/count-usage.ts'
import { reclaimGarbage } from '../../src/jobs/reclaim.ts'
import { repairBlobs } from '../../src/jobs/repairing/repair.ts'
import { setQuota, usedOfQuota } from '../../src/objects/bucket-quota.ts'
import { changeBucket, confirmGuards, deleteBucket, findBucket } from '../../src/objects/buckets.ts'
import { setTags } from '../../src/objects/change-version.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { findVersion } from '../../src/objects/find-version.ts'
import { listVersions } from '../../src/objects/list-versions.ts'
import { createUpload } from '../../src/objects/uploads.ts'
import { writeObject } from '../../src/objects/write-object.ts'
import type { BucketRecord } from '../../src/records/bucket-record.ts'
import { partsOf, repairs, snapshotKey, snapshotPieceOf, snapshots, uploads } from '../../src/records/keyspace.ts'
import { snapshotPieceCodec } from '../../src/records/record-codecs.ts'
import type { ObjectRecord } from '../../src/records/records.ts'
import { type Damage, spoil } from '../blobs/disks.ts'
import { type Mode, modeNames, putEncrypted, putInParts, readEncrypted } from '../objects/encrypted.ts'
import {
  begin,
  complete,
  elsewhere,
  garbageOf,
  outcome,
  plain,
  put,
  read,
  scope,
  sendPart,
} from '../objects/fixture.ts'
import { patternBytes } from '../support/seeded.ts'
import { findAndRelease } from './orphans-fixture.ts'
import {
  graceMs,
  layouts,
  makeSafeBucket,
  type RecoverableStore,
  recordsOf,
  recoverableStore,
} from './recover-fixture.ts'

let made: RecoverableStore
afterEach(() => made.dispose())

const large = patternBytes(1, 300_000)
const clean = { unreadable: 0, incomplete: 0, notRecovered: [] }
/** The order of what is written at once is not told. */
const tick = (): void => made.clock.advance(1)
const enable = async (): Promise<void> => {
  tick()
  await changeBucket(made.backend, scope, (bucket) => ({ ...bucket, versioning: 'enabled' }))
  tick()
}
const remove = (key: string, versionId?: string) => deleteObject(made.backend, scope, { key, versionId })

async function sendObject(key: string, parts: readonly (string | Buffer)[]): Promise<void> {
  const upload = await begin(made, key)
  const sent = []
  for (const [i, part] of parts.entries()) sent.push(await sendPart(made, upload, i + 1, part))
  await complete(made, upload, sent)
}

async function versionsOf(store: RecoverableStore): Promise<string[]> {
  const query = { prefix: '', delimiter: '', max: 1000, keyMarker: undefined, versionIdMarker: undefined }
  const { page } = await listVersions(store.backend, scope, query)
  return page.entries.map(
    ({ key, version, latest }) => `${key} ${version.kind} ${version.sequence}${latest ? ' latest' : ''}`,
  )
}

/** Requests are over, and everything that is due is done. */
async function settle(store: RecoverableStore): Promise<void> {
  for (let i = 0; i < 2; i++) {
    store.clock.advance(2 * graceMs)
    await findAndRelease(store.backend, { graceMs })
    await reclaimGarbage(store.backend, { graceMs })
    await compactStores(store.backend, { graceMs })
  }
}

it('a quota comes back with its snapshot, and what its bucket holds is counted again', async () => {
  made = await recoverableStore(layouts['two copies'])
  const { signal } = new AbortController()
  await countUsage(made.backend, await setQuota(made.backend, 'bucket', { bytes: 10 }), signal)
  await put(made, 'old', '1234')
  await made.snapshot()
  tick()
  await put(made, 'new', '123')
  const recovered = await made.recovered()
  await new UsageKeeper(recovered.backend).run()
  const bucket = await findBucket(recovered.backend, scope)
  expect(await usedOfQuota(recovered.backend, bucket)).toEqual({ bytes: 7, objects: 2 })
  expect(await outcome(put(recovered, 'more', '1234'))).toBe('QuotaExceeded')
})

describe.each(Object.entries(layouts))('with %s', (_, layout) => {
  it('every record comes back as it was, from shards alone, from a snapshot, and from both', async () => {
    made = await recoverableStore(layout)
    const write = async (name: string): Promise<void> => {
      for (let i = 0; i < 3; i++) {
        tick()
        await put(made, 'overwritten', `${name} ${i}`)
      }
      await put(made, `${name} large`, large)
      await put(made, `${name} empty`, '')
      await sendObject(`${name} parts`, [patternBytes(2, 5 * 1024 * 1024), name])
      const open = await begin(made, `${name} open`)
      await sendPart(made, open, 4, 'a part')
    }
    await write('old')
    await enable()
    await write('older')
    expect(await recordsOf(await made.recovered())).toEqual(await recordsOf(made))
    tick()
    await made.snapshot()
    expect(await recordsOf(await made.recovered())).toEqual(await recordsOf(made))
    tick()
    await write('new')
    const all = await recordsOf(made)
    const whole = await made.recovered()
    expect(whole.report).toMatchObject({ ...clean, versionsFromShards: 6, openUploads: 1 })
    expect(await recordsOf(whole)).toEqual(all)
    expect((await read(whole, 'new parts', [5 * 1024 * 1024, 5 * 1024 * 1024 + 3])).toString()).toBe('new')

    for (const lost of ['disk0', 'disk1', 'disk2']) {
      const without = await made.recovered([lost])
      expect(without.report).toMatchObject(clean)
      expect((await read(without, 'new large')).equals(large)).toBe(true)
      expect((await read(without, 'old large')).equals(large)).toBe(true)
      expect(await versionsOf(without)).toEqual(await versionsOf(made))
    }
  })

  it('what lacks shards is queued, and repaired on the disks that are there', async () => {
    made = await recoverableStore(layout)
    await put(made, 'key', large)
    await made.snapshot()
    await put(made, 'later', large)
    const without = await made.recovered(['disk1'])
    expect((await without.kv.range({ ...repairs, limit: 9 })).length).toBeGreaterThanOrEqual(1)
    expect(await repairBlobs(without.backend)).toMatchObject({ lostBlobs: 0 })
    for (const key of ['key', 'later']) expect((await read(without, key)).equals(large)).toBe(true)
  })

  it.each<[string, number, Damage, number]>([
    ['end is lost', 1, 'lost', 0],
    ['first piece is flipped', 0, 'flipped', 1],
    ['first piece is lost', 0, 'lost', 1],
  ])('a snapshot whose %s is passed over for the one before', async (_, piece, damage, damagedSnapshots) => {
    made = await recoverableStore(layout)
    await put(made, 'first', 'first')
    await made.snapshot()
    tick()
    await put(made, 'second', 'second')
    tick()
    await made.snapshot()
    const all = await recordsOf(made)
    const [newest] = await made.kv.range({ ...snapshots, limit: 1, reverse: true })
    const { id } = snapshotPieceOf(newest?.key ?? Buffer.alloc(0))
    const [entry] = await made.kv.get([snapshotKey(id, piece)])
    const { manifest } = snapshotPieceCodec.decode(snapshotKey(id, piece), entry?.value ?? Buffer.alloc(0))
    for (const shard of manifest.shards) await spoil(made.disks.of(shard.storeId), shard, damage, 0.7)
    const after = await made.recovered()
    expect(after.report).toMatchObject({ ...clean, damagedSnapshots, versionsFromShards: 1 })
    expect(await recordsOf(after)).toEqual(all)
  })

  it('a snapshot that a crash cut short is none, and goes with the next', async () => {
    made = await recoverableStore(layout)
    await put(made, 'first', 'first')
    await made.snapshot()
    tick()
    await put(made, 'second', 'second')
    tick()
    const killed = made.snapshot(3, () => Promise.reject(new Error('killed')))
    await expect(killed).rejects.toThrow('killed')
    expect(await made.kv.range({ ...snapshots, limit: 9 })).toHaveLength(3)
    const after = await made.recovered()
    expect(after.report).toMatchObject({ ...clean, versionsFromShards: 1 })
    // Its piece is nobody's there; here, the next run takes it away.
    expect(await after.kv.range({ ...snapshots, limit: 9 })).toHaveLength(2)
    await made.snapshot()
    expect(await made.kv.range({ ...snapshots, limit: 9 })).toHaveLength(4)
    expect(await garbageOf(made)).toHaveLength(1)
  })

  it('recovering again gives the same, also after what is due was done in between', async () => {
    made = await recoverableStore(layout)
    await enable()
    await put(made, 'key', 'one')
    await made.snapshot()
    await put(made, 'key', 'two')
    await sendObject('parts', [large])
    const all = await recordsOf(made)
    const once = await made.recovered()
    await settle(once)
    expect((await read(once, 'parts')).equals(large)).toBe(true)
    const twice = await once.recovered()
    expect(twice.report).toMatchObject(clean)
    expect(await versionsOf(twice)).toEqual(await versionsOf(made))
    expect(Object.keys(await recordsOf(twice))).toEqual(Object.keys(all))
  })
})

describe('what guards a bucket', () => {
  const guarded = { policy: '{}' }
  const change = async (fields: Partial<BucketRecord>): Promise<void> => {
    tick()
    await changeBucket(made.backend, scope, (bucket) => ({ ...bucket, ...fields }))
    tick()
  }
  const begins: Record<string, Partial<BucketRecord>> = { open: {}, guarded }

  it.each<[what: string, begin: keyof typeof begins, since: () => Promise<unknown>, unconfirmed: boolean]>([
    ['is of the snapshot alone', 'guarded', async () => {}, true],
    ['is of the snapshot, and told by newer shards', 'guarded', () => put(made, 'later', 'x'), true],
    [
      'came after the snapshot, before the last write',
      'open',
      async () => {
        await change(guarded)
        await put(made, 'later', 'x')
      },
      true,
    ],
    [
      'was taken away after the snapshot: that it comes back is told',
      'guarded',
      async () => {
        await change({ policy: undefined })
        await put(made, 'later', 'x')
      },
      true,
    ],
    [
      'came and went since the snapshot',
      'open',
      async () => {
        await change(guarded)
        await put(made, 'later', 'x')
        await change({ policy: undefined })
        await put(made, 'last', 'x')
      },
      false,
    ],
    ['came after the last write, so that no shard tells it', 'open', () => change(guarded), false],
    ['was never there', 'open', () => put(made, 'later', 'x'), false],
  ])('%s', async (_, begin, since, unconfirmed) => {
    made = await recoverableStore(layouts['two copies'])
    await change(begins[begin] ?? {})
    await put(made, 'first', 'x')
    await made.snapshot()
    await since()
    const after = await made.recovered()
    expect(after.report.unconfirmed).toEqual(unconfirmed ? ['bucket'] : [])
    expect((await findBucket(after.backend, scope)).unconfirmed).toBe(unconfirmed ? true : undefined)
  })

  it('is told by shards alone, and again by those that are written before anybody confirms', async () => {
    made = await recoverableStore(layouts['two copies'])
    await change({ publicAccessBlock: { ...noPublicAccessBlock, restrictPublicBuckets: true } })
    await put(made, 'key', 'x')
    const once = await made.recovered()
    expect(once.report.unconfirmed).toEqual(['bucket'])
    expect((await findBucket(once.backend, scope)).publicAccessBlock).toBeUndefined()
    tick()
    await put(once, 'later', 'x')
    expect((await once.recovered()).report.unconfirmed).toEqual(['bucket'])
    await confirmGuards(once.backend, 'bucket')
    tick()
    await put(once, 'last', 'x')
    expect((await once.recovered()).report.unconfirmed).toEqual([])
  })
})

describe('what happened since the snapshot', () => {
  it('shards that were moved are found where they are', async () => {
    made = await recoverableStore(layouts['two copies'])
    for (let i = 0; i < 60; i++) await put(made, `key-${i}`, patternBytes(i, 2000))
    await sendObject('parts', ['a part'])
    await made.snapshot()
    for (let i = 0; i < 60; i++) if (i % 4 !== 0) await remove(`key-${i}`)
    await settle(made)
    expect((await compactStores(made.backend, { graceMs })).movedShards).toBeGreaterThanOrEqual(0)
    const after = await made.recovered()
    for (let i = 0; i < 60; i += 4) expect((await read(after, `key-${i}`)).equals(patternBytes(i, 2000))).toBe(true)
    expect((await read(after, 'parts')).toString()).toBe('a part')
    // What was deleted and reclaimed is listed again, and told of: nobody can know that it was not lost.
    expect(after.report.unreadable).toBe(45)
    expect(after.report.notRecovered[0]).toContain('0 of its shards are there')
  })

  it('deletes come back, and delete markers are gone, but what was garbage by then stays so', async () => {
    made = await recoverableStore(layouts['two copies'])
    await put(made, 'gone before', 'x')
    await put(made, 'gone after', 'x')
    await put(made, 'over', 'old')
    await put(made, 'over', 'new')
    await remove('gone before')
    await made.snapshot()
    tick()
    await remove('gone after')
    await enable()
    await remove('over')
    const after = await made.recovered()
    expect(await versionsOf(after)).toEqual(['gone after object 1 latest', 'over object 2 latest'])
    expect((await read(after, 'over')).toString()).toBe('new')
    await settle(after)
    expect((await read(after, 'over')).toString()).toBe('new')
    expect(await outcome(read(after, 'gone before'))).toBe('NoSuchKey')
  })

  it('changes of tags and of buckets come back as of the snapshot', async () => {
    made = await recoverableStore(layouts['two copies'])
    await put(made, 'key', 'x')
    await setTags(made.backend, scope, { key: 'key', versionId: undefined }, [{ key: 'a', value: '1' }])
    await made.snapshot()
    tick()
    await setTags(made.backend, scope, { key: 'key', versionId: undefined }, [{ key: 'a', value: '2' }])
    const after = await made.recovered()
    expect((await findVersion(after.backend, scope, 'key', undefined)).record.attributes.tags).toEqual([
      { key: 'a', value: '1' },
    ])
  })

  it.each([false, true])('an object keeps its owner, and is open to nobody else (in parts: %s)', async (inParts) => {
    made = await recoverableStore(layouts['two copies'])
    const everyone = { grantee: { kind: 'everyone' }, permission: 'READ' } as const
    await changeBucket(made.backend, scope, (bucket) => ({ ...bucket, ownership: 'ObjectWriter', grants: [everyone] }))
    const attributes = { ...plain, owner: 'other', grants: [everyone] }
    if (inParts) {
      const { uploadId } = await createUpload(made.backend, scope, { key: 'key', attributes, checksum: undefined })
      await complete(made, { key: 'key', uploadId }, [await sendPart(made, { key: 'key', uploadId }, 1, 'x')])
    } else {
      const data = { body: bytesSource(Buffer.from('x')) }
      await writeObject(made.backend, scope, { key: 'key', attributes, data, conditions: {} })
    }
    const { backend } = await made.recovered()
    const { bucket, record } = await findVersion(backend, scope, 'key', undefined)
    expect(record.attributes).toMatchObject({ owner: 'other' })
    expect(record.attributes.grants).toBeUndefined()
    expect([bucket.record.ownership, bucket.record.grants]).toEqual([undefined, undefined])
  })

  it('a bucket that was made again has its new objects, and none of the old', async () => {
    made = await recoverableStore(layouts['two copies'])
    await put(made, 'old', 'x')
    await made.snapshot()
    tick()
    await remove('old')
    await deleteBucket(made.backend, scope)
    await makeSafeBucket(made)
    await put(made, 'new', 'y')
    const after = await made.recovered()
    expect(await versionsOf(after)).toEqual(['new object 1 latest'])
    await settle(after)
    expect((await read(after, 'new')).toString()).toBe('y')
  })

  it('an upload goes on, or is completed, as its client did', async () => {
    made = await recoverableStore(layouts['two copies'])
    const [open, done] = [await begin(made, 'open'), await begin(made, 'done')]
    const first = await sendPart(made, done, 1, patternBytes(1, 5 * 1024 * 1024))
    await sendPart(made, open, 1, 'sent before')
    await sendPart(made, done, 7, 'not listed')
    await made.snapshot()
    tick()
    const second = await sendPart(made, done, 2, 'last')
    await sendPart(made, done, 3, 'not listed')
    await complete(made, done, [first, second])
    const again = await sendPart(made, open, 1, 'sent again')
    const all = await recordsOf(made)
    const after = await made.recovered()
    expect(after.report).toMatchObject(clean)
    expect(await recordsOf(after)).toEqual(all)
    // The parts that were not listed, and the one that was sent again.
    expect(await garbageOf(after)).toHaveLength(3)
    // The answer to a Complete that is repeated.
    expect(await complete(after, done, [first, second])).toMatchObject({ etag: expect.stringContaining('-2') })
    await complete(after, open, [again])
    expect((await read(after, 'open')).toString()).toBe('sent again')
    await settle(after)
    expect((await read(after, 'done', [5 * 1024 * 1024, 5 * 1024 * 1024 + 4])).toString()).toBe('last')
    expect(await after.kv.range({ ...partsOf(done.uploadId), limit: 9 })).toHaveLength(2)
  })

  it('writers of one key that came at once are all there, also encrypted', async () => {
    made = await recoverableStore(layouts['two copies'])
    await enable()
    const processes = [made, elsewhere(made), elsewhere(made)]
    const modes: Mode[] = ['SSE-S3', 'SSE-C', 'SSE-KMS']
    await Promise.all(
      processes.map(({ backend }, i) =>
        putEncrypted(backend, { key: 'key', mode: modes[i] as Mode }, patternBytes(i, 100)),
      ),
    )
    await Promise.all(processes.map((one, i) => put(one as RecoverableStore, 'plain', `data ${i}`)))
    const after = await made.recovered()
    expect((await versionsOf(after)).filter((line) => line.startsWith('key'))).toHaveLength(3)
    const contents = new Set<string>()
    for (const { page } of [
      await listVersions(after.backend, scope, {
        prefix: 'key',
        delimiter: '',
        max: 9,
        keyMarker: undefined,
        versionIdMarker: undefined,
      }),
    ]) {
      for (const { version } of page.entries) {
        for (const mode of modes) {
          const bytes = await readEncrypted(after.backend, { key: 'key', mode, versionId: version.versionId }).catch(
            () => undefined,
          )
          if (bytes !== undefined) contents.add(bytes.toString('hex'))
        }
      }
    }
    expect(contents).toEqual(new Set([0, 1, 2].map((i) => patternBytes(i, 100).toString('hex'))))
  })
})

it('a lock that its bucket gave it comes back to the millisecond, however late the commit', async () => {
  made = await recoverableStore(layouts['two copies'])
  const objectLock = { defaultRetention: { mode: 'COMPLIANCE' as const, period: { days: 1 } } }
  await changeBucket(made.backend, scope, (bucket) => ({ ...bucket, versioning: 'enabled', objectLock }))
  made.kv.beforeNextCommit(async () => {
    made.clock.advance(5)
    await put(elsewhere(made), 'key', 'came between')
  })
  const locked = await put(made, 'key', 'was outrun')
  const after = await made.recovered()
  const found = Object.values(await recordsOf(after)) as Partial<ObjectRecord>[]
  expect(locked.attributes.retention?.untilMs).toBeDefined()
  expect(found.find(({ etag }) => etag === locked.etag)?.attributes).toEqual(locked.attributes)
})

it.each(modeNames)('what is encrypted by %s opens again', async (mode) => {
  made = await recoverableStore(layouts['2 + 1 shards'])
  await putEncrypted(made.backend, { key: 'key', mode }, large)
  await putInParts(made.backend, { key: 'parts', mode }, [large])
  const after = await made.recovered(['disk1'])
  for (const key of ['key', 'parts'])
    expect((await readEncrypted(after.backend, { key, mode })).equals(large)).toBe(true)
})

it('snapshots that are due to go do so, and those that are kept are no orphans', async () => {
  made = await recoverableStore(layouts['2 + 1 shards'])
  for (let i = 0; i < 5; i++) {
    await put(made, 'key', `data ${i}`)
    made.clock.advance(1000)
    await made.snapshot(2)
  }
  // A piece and an end each.
  const kept = async (): Promise<number> => (await made.kv.range({ ...snapshots, limit: 100 })).length
  expect(await kept()).toBe(4)
  await settle(made)
  expect(await kept()).toBe(4)
  const after = await made.recovered()
  expect(after.report.snapshot).toBeDefined()
  expect((await after.kv.range({ ...snapshots, limit: 100 })).length).toBe(4)
  expect((await read(after, 'key')).toString()).toBe('data 4')
})

it('snapshots of a clock that was ahead hide neither what was written after it was set right, nor the snapshots made since', async () => {
  made = await recoverableStore(layouts['two copies'])
  const aheadMs = 10 * 24 * 60 * 60 * 1000
  made.clock.set(aheadMs)
  for (let i = 0; i < 3; i++) {
    await put(made, 'key', `ahead ${i}`)
    await made.snapshot()
    tick()
  }
  made.clock.set(-aheadMs)
  await put(made, 'first', 'first')
  await makeSafeBucket(made, 'second-bucket')
  const data = { body: bytesSource(Buffer.from('inside')) }
  await writeObject(made.backend, serverScope('second-bucket'), { key: 'key', attributes: plain, data, conditions: {} })
  const afterSetBack = await made.recovered()
  expect((await read(afterSetBack, 'first')).toString()).toBe('first')
  expect(await recordsOf(afterSetBack)).toEqual(await recordsOf(made))

  made.clock.advance(2 * graceMs)
  await remove('first')
  await made.snapshot()
  made.clock.advance(2 * graceMs)
  await put(made, 'last', 'last')
  // Also when the time of the earlier snapshots has come.
  made.clock.advance(aheadMs)
  const { report, ...after } = await made.recovered()
  expect(report.versionsFromShards).toBe(1)
  expect(await recordsOf(after)).toEqual(await recordsOf(made))
})

it('blobs with too few shards are told of, and hide nothing', async () => {
  made = await recoverableStore(layouts['2 + 1 shards'])
  await put(made, 'key', 'old')
  tick()
  await put(made, 'key', large)
  const after = await made.recovered(['disk0', 'disk1'])
  expect(after.report).toMatchObject({ incomplete: 2, versions: 0 })
  expect(after.report.notRecovered[0]).toMatch(/bucket\/key: 1 shards, and 2 are needed/)
  expect(await after.kv.range({ ...uploads, limit: 9 })).toEqual([])
})
