/** A scrub of the snapshots of metadata: their pieces are verified, made anew and told of as the blobs of objects are. */
import { afterEach, describe, expect, it } from 'vitest'
import { lostBlobs } from '../../src/jobs/repairing/repair.ts'
import { type ScrubCounts, scrubTask } from '../../src/jobs/repairing/scrub.ts'
import type { RunningTask } from '../../src/jobs/tasks/task-runner.ts'
import { snapshots } from '../../src/records/keyspace.ts'
import { snapshotPieceCodec } from '../../src/records/record-codecs.ts'
import { damages, spoil } from '../blobs/disks.ts'
import { put, read } from '../objects/fixture.ts'
import { patternBytes } from '../support/seeded.ts'
import { layouts, type RecoverableStore, recoverableStore } from './recover-fixture.ts'

let made: RecoverableStore
afterEach(() => made.dispose())

const cutOff = new Error('cut off')

/** One run of a scrub, from `cursor`; cut off after so many blobs. */
async function scrub({
  cursor,
  blobs = Number.POSITIVE_INFINITY,
}: {
  cursor?: string | undefined
  blobs?: number
} = {}) {
  let left = blobs
  let counts: Readonly<Record<string, number>> = {}
  let at = cursor
  const task: RunningTask = {
    name: '',
    arguments: {},
    get cursor() {
      return at
    },
    progress: { done: 0, unit: 'bytes', counts: {} },
    signal: new AbortController().signal,
    advance: async (step) => {
      counts = step.counts ?? counts
      at = step.cursor ?? at
      if (step.cursor !== undefined && --left === 0) throw cutOff
    },
  }
  await scrubTask({ bytesPerSecond: undefined })
    .run(made.backend, task)
    .catch((error: unknown) => {
      if (error !== cutOff) throw error
    })
  return { counts, cursor: at }
}

async function pieces() {
  const found = await made.kv.range({ ...snapshots, limit: 100 })
  return found.map(({ key, value }) => snapshotPieceCodec.decode(key, value).manifest)
}

const clean: ScrubCounts = {
  checked: 3,
  snapshotPieces: 2,
  damaged: 0,
  repaired: 0,
  degraded: 0,
  lost: 0,
  unreachable: 0,
}
const large = patternBytes(1, 30_000)

describe.each(Object.entries(layouts))('of %s', (_, layout) => {
  it.each(damages)('finds shards that are %s in every place, and makes them anew', async (damage) => {
    made = await recoverableStore(layout)
    await put(made, 'key', large)
    await made.snapshot()
    expect((await scrub()).counts).toEqual(clean)
    for (let place = 0; place < (layout.scheme === 'erasure' ? 3 : 2); place++) {
      for (const { shards } of await pieces()) {
        const shard = shards[place]
        if (shard === undefined) throw new Error('no shard')
        await spoil(made.disks.of(shard.storeId), shard, damage, 0.001)
      }
      expect((await scrub()).counts).toEqual({ ...clean, damaged: 2, repaired: 2 })
    }
    expect((await scrub()).counts).toEqual(clean)
    const after = await made.recovered()
    expect(after.report).toMatchObject({ damagedSnapshots: 0, versions: 1, versionsFromShards: 0 })
    expect(await read(after, 'key')).toEqual(large)
  })

  it('sets apart what has too few shards left, and says which piece it is', async () => {
    made = await recoverableStore(layout)
    await made.snapshot()
    const [first] = await pieces()
    for (const shard of first?.shards ?? []) await spoil(made.disks.of(shard.storeId), shard, 'zeroed', 0)
    expect((await scrub()).counts).toEqual({ ...clean, checked: 2, damaged: 1, lost: 1 })
    const lost = []
    for await (const { owner } of lostBlobs(made.kv)) lost.push(owner)
    expect(lost).toEqual([{ kind: 'snapshot', id: expect.any(String), piece: 0 }])
    // Newer ones take its place, and it is nobody's loss any more.
    for (let i = 0; i < 3; i++) {
      made.clock.advance(1)
      await made.snapshot()
    }
    for await (const { owner } of lostBlobs(made.kv)) throw new Error(`${owner.kind} is lost`)
    expect((await scrub()).counts).toEqual({ ...clean, checked: 6, snapshotPieces: 6 })
  })
})

it('goes on where it was cut off, among buckets or snapshots', async () => {
  made = await recoverableStore(layouts['two copies'])
  // More than are looked at together, of both.
  for (let i = 0; i < 20; i++) await put(made, `key-${i}`, 'bytes')
  for (let i = 0; i < 10; i++) {
    made.clock.advance(1)
    await made.snapshot(10)
  }
  const seen = { checked: 0, snapshotPieces: 0 }
  let cursor: string | undefined
  const cursors: unknown[] = []
  do {
    const run = await scrub({ cursor, blobs: 1 })
    if (run.cursor === cursor) break
    cursor = run.cursor
    seen.checked += run.counts.checked ?? 0
    seen.snapshotPieces += run.counts.snapshotPieces ?? 0
    cursors.push(Object.keys(JSON.parse(cursor ?? '')))
  } while (cursors.length < 100)
  expect(seen).toEqual({ checked: 40, snapshotPieces: 20 })
  expect(cursors).toEqual([
    ['bucket', 'place', 'bytes'],
    ['snapshot', 'piece', 'bytes'],
    ['snapshot', 'piece', 'bytes'],
  ])
})

it('starts again when its cursor is none that it knows', async () => {
  made = await recoverableStore(layouts['two copies'])
  await put(made, 'key', 'bytes')
  const whole = await scrub()
  for (const cursor of ['{"bucket":"bucket","position":"1:","bytes":0}', '{"bytes":5}', '"none"']) {
    expect((await scrub({ cursor })).counts).toEqual(whole.counts)
  }
})
