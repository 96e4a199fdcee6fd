/** A scrub finds what no read has touched: whatever is done to shards on their disks, each is found, and made anew as it was. */
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { readLabel } from '../../../src/blobs/blobs.ts'
import type { Manifest, ShardPlace } from '../../../src/blobs/manifest.ts'
import { bytesSource } from '../../../src/byte-source.ts'
import { locationStatuses } from '../../../src/jobs/locations/location-status.ts'
import { lostBlobs, repairBlobs } from '../../../src/jobs/repairing/repair.ts'
import { repairTask } from '../../../src/jobs/repairing/repair-task.ts'
import { type ScrubSettings, scrubTask } from '../../../src/jobs/repairing/scrub.ts'
import type { PaceClock } from '../../../src/jobs/tasks/pace.ts'
import { startTasks, type TaskKind } from '../../../src/jobs/tasks/task-runner.ts'
import { isEnded, readTask, requestTask, type TaskRecord, type TaskRequest } from '../../../src/jobs/tasks/tasks.ts'
import { deleteObject } from '../../../src/objects/delete-object.ts'
import { readDescription } from '../../../src/records/description-bytes.ts'
import { objectKey, partKey, uploadKey } from '../../../src/records/keyspace.ts'
import { objectCodec, partCodec } from '../../../src/records/record-codecs.ts'
import { damages, mountAgain, spoil, swap, unmount } from '../../blobs/disks.ts'
import { begin, complete, put, read, scope, sendPart } from '../../objects/fixture.ts'
import { patternBytes } from '../../support/seeded.ts'
import { type DiskStore, erasureStore, pieces, replicaStore } from '../disk-fixture.ts'
import { waitingClock } from '../waiting-clock.ts'

let made: DiskStore
afterEach(() => made.dispose())

/** Asks for the task, and resolves with how it ended. */
async function runTask(
  kind: TaskKind,
  request: Partial<TaskRequest> = {},
  expected: readonly string[] = [],
): Promise<TaskRecord> {
  const errors: string[] = []
  const name = { kind: kind.kind, name: '' }
  const { id } = await requestTask(made.backend, { ...name, arguments: {}, ...request })
  const runner = startTasks({ backend: made.backend, kinds: [kind], onError: (error) => errors.push(String(error)) })
  try {
    for (;;) {
      const record = (await readTask(made.kv, name))?.record
      if (record?.id === id && isEnded(record)) {
        expect(errors.filter((error) => !expected.some((part) => error.includes(part)))).toEqual([])
        return record
      }
      await turn()
    }
  } finally {
    await runner.stop()
  }
}

const scrub = async (settings: Partial<ScrubSettings> = {}, request: Partial<TaskRequest> = {}) => {
  const { state, progress } = await runTask(scrubTask({ bytesPerSecond: undefined, ...settings }), request)
  expect(state).toBe('done')
  return progress
}
const clean = { snapshotPieces: 0, damaged: 0, repaired: 0, degraded: 0, lost: 0, unreachable: 0 }
const diskOf = (storeId: string) => made.disks.of(storeId)
async function shardsOf(key: string): Promise<readonly ShardPlace[]> {
  return (await made.manifestOf(key)).shards
}
async function lost(): Promise<unknown[]> {
  const found = []
  for await (const { lost } of lostBlobs(made.kv)) found.push(lost.object)
  return found
}

const sizes = [0, 1, 2999, 10_000, 300_000, 1_500_000]
const keys = sizes.map((size) => `of-${size}`)
const putAll = async (): Promise<void> => {
  for (const size of sizes) await put(made, `of-${size}`, pieces(patternBytes(size, size)))
}
const allCopies = () => Promise.all(keys.map((key) => made.copiesOf(key)))

describe.each([
  ['three copies', 2, () => replicaStore({ disks: 4, copies: 3 })],
  ['4 + 2 shards', 2, () => erasureStore({ disks: 7, data: 4, parity: 2 })],
] as const)('a scrub of %s', (_, spare, open) => {
  it.each(damages)(
    'finds shards that are %s in every place, and makes them anew byte for byte',
    async (damage) => {
      made = await open()
      await putAll()
      const before = await allCopies()
      expect(await scrub()).toMatchObject({ counts: { ...clean, checked: sizes.length } })
      const shards = await shardsOf('of-0')
      for (let first = 0; first < shards.length; first += spare) {
        for (const key of keys) {
          const places = await shardsOf(key)
          for (let i = 0; i < spare; i++) {
            const place = places[(first + i) % places.length]
            // A shard without bytes has no others to lose than those that say what it is.
            if (place !== undefined) await spoil(diskOf(place.storeId), place, damage, key === 'of-0' ? 0.001 : 0.3)
          }
        }
        expect((await scrub()).counts).toEqual({
          ...clean,
          checked: sizes.length,
          damaged: sizes.length,
          repaired: sizes.length,
        })
        const after = await allCopies()
        for (const [i, copies] of after.entries()) {
          const payloads = (of: typeof copies): string[] => of.map(({ payload }) => payload.toString('hex')).sort()
          expect(payloads(copies)).toEqual(payloads(before[i] ?? []))
          expect(new Set(copies.map(({ disk }) => disk)).size).toBe(copies.length)
        }
      }
      expect((await scrub()).counts).toEqual({ ...clean, checked: sizes.length })
      expect(await made.queued()).toBe(0)
    },
    60_000,
  )

  it('finds shards that changed places', async () => {
    made = await open()
    await putAll()
    await put(made, 'other', pieces(patternBytes(7, 1_500_000)))
    const [one, another] = [await shardsOf('of-1500000'), await shardsOf('other')]
    const [a, b] = [one[1], another[1]]
    if (a === undefined || b === undefined) throw new Error('no shards')
    await swap([diskOf(a.storeId), a], [diskOf(b.storeId), b])
    expect((await scrub()).counts).toMatchObject({ damaged: 2, repaired: 2 })
    expect((await scrub()).counts).toMatchObject(clean)
    expect((await read(made, 'other')).equals(patternBytes(7, 1_500_000))).toBe(true)
  })

  it('finds shards that are whole, and of another blob or of an older one', async () => {
    made = await open()
    await put(made, 'key', pieces(patternBytes(1, 400_000)))
    const stale = await shardsOf('key')
    await put(made, 'key', pieces(patternBytes(2, 400_000)))
    await put(made, 'other', pieces(patternBytes(3, 400_000)))
    const other = await shardsOf('other')
    // A record that names shards of others, as after metadata and stores of different days were put together.
    const manifest = await made.manifestOf('key')
    const shards = manifest.shards.map((shard, i) => {
      const from = [stale, other][i]
      const same = from?.find(({ index }) => index === shard.index)
      return i < spare && same !== undefined ? same : shard
    })
    await changeManifest('key', { ...manifest, shards })
    expect((await scrub()).counts).toMatchObject({ checked: 2, damaged: 1, repaired: 1 })
    expect((await scrub()).counts).toMatchObject(clean)
    for (let i = 0; i < 10; i++) expect((await read(made, 'key')).equals(patternBytes(2, 400_000))).toBe(true)
  })

  it('sets apart what has too few shards left, names it, and looks again when somebody asks', async () => {
    made = await open()
    await putAll()
    const places = (await shardsOf('of-300000')).slice(0, spare + 1)
    const flip = async (): Promise<void> => {
      for (const place of places) await spoil(diskOf(place.storeId), place, 'flipped', 0.2)
    }
    await flip()
    expect((await scrub()).counts).toMatchObject({ damaged: 1, lost: 1, repaired: 0 })
    expect(await lost()).toEqual([{ bucket: 'bucket', key: 'of-300000', versionId: 'null' }])
    const [status] = await locationStatuses(made.backend)
    expect(status).toMatchObject({ degradedBlobs: 0, lostBlobs: 1 })
    // Its bytes are not read over and over, however often somebody asks for them.
    for (let i = 0; i < 5; i++) await read(made, 'of-300000').catch(() => {})
    await made.kv.idle()
    expect(await lost()).toHaveLength(1)
    let readBytes = 0
    const pace = async (bytes: number): Promise<void> => {
      readBytes += bytes
    }
    expect(await repairBlobs(made.backend, { pace })).toMatchObject({ lostBlobs: 1 })
    expect(readBytes).toBe(0)
    made.clock.advance(60 * 60 * 1000)
    expect(await repairBlobs(made.backend, { pace })).toMatchObject({ lostBlobs: 1 })
    expect(readBytes).toBeGreaterThan(0)
    // Flipped back, all of them: as it was.
    await flip()
    expect((await scrub()).counts).toMatchObject(clean)
    expect([await lost(), await made.queued()]).toEqual([[], 0])
    await flip()
    expect((await scrub()).counts).toMatchObject({ damaged: 1, lost: 1, repaired: 0 })
    // One of them flipped back.
    const [one] = places
    if (one === undefined) throw new Error('no shard')
    await spoil(diskOf(one.storeId), one, 'flipped', 0.2)
    expect((await scrub()).counts).toMatchObject({ damaged: 1, repaired: 1, lost: 0 })
    expect(await lost()).toEqual([])
    expect((await read(made, 'of-300000')).equals(patternBytes(300_000, 300_000))).toBe(true)
  })

  it('names the object of a lost part, and no object that was deleted', async () => {
    made = await open()
    const upload = await begin(made, 'parts')
    await complete(made, upload, [await sendPart(made, upload, 1, patternBytes(5, 300_000).toString('latin1'))])
    await made.kv.commit({ deletes: [uploadKey(upload.uploadId)] })
    await put(made, 'deleted', pieces(patternBytes(6, 300_000)))
    const { backend } = made
    const spoilAll = async (shards: readonly ShardPlace[]) => {
      for (const place of shards) await spoil(diskOf(place.storeId), place, 'zeroed', 0)
    }
    await spoilAll(await shardsOf('deleted'))
    const [part] = await made.kv.get([partKey(upload.uploadId, 1)])
    if (part === undefined) throw new Error('no part')
    await spoilAll(partCodec.decode(part.key, part.value).manifest.shards)
    expect((await scrub()).counts).toMatchObject({ lost: 2 })
    await deleteObject(backend, scope, { key: 'deleted' })
    expect(await lost()).toEqual([{ bucket: 'bucket', key: 'parts', versionId: 'null' }])
    // The part, and the note that tells of it.
    expect((await scrub()).counts).toMatchObject({ checked: 2, lost: 1 })
  })

  it('reports no damage of what is deleted, overwritten or moved while it looks', async () => {
    made = await open()
    for (let i = 0; i < 40; i++) await put(made, `key-${i}`, pieces(patternBytes(i, 20_000)))
    let looks = 0
    const moved = new Set<string>()
    await disturbed(
      async (manifest, inspect) => {
        // Just before it is read, it is no longer there.
        const key = await keyOf(manifest)
        looks++
        if (key !== undefined && !moved.has(key)) {
          moved.add(key)
          if (moved.size % 3 === 0) await move(key)
          else if (moved.size % 3 === 1) await put(made, key, 'new')
          else await deleteObject(made.backend, scope, { key })
          await made.backend.blobs.remove([manifest])
        }
        return inspect()
      },
      async () => expect((await scrub()).counts).toMatchObject(clean),
    )
    expect(moved.size).toBe(40)
    expect(looks).toBe(40 + 13)
    expect((await scrub()).counts).toEqual({ ...clean, checked: 13 + 14 })
  })

  it('says what it could not look at', async () => {
    made = await open()
    await putAll()
    const [away] = made.disks.all
    if (away === undefined) throw new Error('no disk')
    await unmount(away)
    await away.store.probe()
    const touched = (await Promise.all(keys.map(shardsOf))).filter((shards) =>
      shards.some(({ storeId }) => storeId === away.store.storeId),
    ).length
    expect((await scrub()).counts).toMatchObject({ ...clean, unreachable: touched })
    await mountAgain(away)
    await away.store.probe()
    expect((await scrub()).counts).toMatchObject(clean)
  })
})

describe('a scrub', () => {
  it('knows how much there is to read, and goes at its rate', async () => {
    made = await replicaStore({ disks: 2, copies: 2 })
    await putAll()
    const bytes = 2 * sizes.reduce((sum, size) => sum + size, 0)
    const clock = waitingClock()
    const progress = await scrub({ bytesPerSecond: 1_000_000, clock })
    expect(progress).toMatchObject({ done: bytes, total: bytes, unit: 'bytes' })
    const tookMs = clock.nowMs
    // What was read last is not paid for any more: at most a chunk of each copy.
    expect(tookMs).toBeGreaterThan((bytes - 2_100_000) / 1000 - 101)
    expect(tookMs).toBeLessThanOrEqual(bytes / 1000)
    await scrub({ bytesPerSecond: 1_000_000, clock }, { arguments: { bytesPerSecond: 500_000 } })
    expect(clock.nowMs - tookMs).toBeGreaterThan(1.5 * tookMs)
  })

  it('goes on where it was stopped, and begins anew when that is asked for', async () => {
    made = await replicaStore({ disks: 2, copies: 2 })
    await putAll()
    for (let i = 0; i < 30; i++) await put(made, `small-${i}`, pieces(patternBytes(i, 500)))
    const upload = await begin(made, 'parts')
    for (let i = 1; i <= 20; i++) await sendPart(made, upload, i, 'x'.repeat(1000 + i))
    const blobs = sizes.length + 30 + 20

    // Cut off after so many looks, as often as it takes.
    let looks = 0
    let left = 0
    let record = await requestTask(made.backend, { kind: 'scrub', name: '', arguments: {} })
    let runs = 0
    while (record.state !== 'done' && runs < 100) {
      left = 17
      runs++
      await disturbed(
        async (_, inspect) => {
          looks++
          if (left-- <= 0) throw new Error('cut off')
          return inspect()
        },
        async () => {
          record = await runTask(scrubTask({ bytesPerSecond: undefined }), {}, ['cut off'])
        },
      )
    }
    expect(record).toMatchObject({ state: 'done', progress: { counts: { ...clean, checked: blobs } } })
    expect(runs).toBeGreaterThan(3)
    expect(looks).toBeLessThan(2 * blobs)
    const bytes = record.progress.done
    expect((await scrub({}, { restart: true })).done).toBe(bytes)
  })
})

describe('a scrub that is stopped half-way', () => {
  it.each([
    ['while it looks', false],
    ['while it repairs', true],
  ])('%s blames no store', async (_, isDamaged) => {
    made = await replicaStore({ disks: 3, copies: 2 })
    for (let i = 0; i < 16; i++) await put(made, `a-${i}`, pieces(patternBytes(i, 5_000)))
    await putAll()
    for (const key of isDamaged ? keys.slice(1) : []) {
      const [place] = await shardsOf(key)
      if (place !== undefined) await spoil(diskOf(place.storeId), place, 'lost', 0)
    }
    let waits = 0
    let begun = (): void => {}
    const waiting = new Promise<void>((resolve) => {
      begun = resolve
    })
    const clock: PaceClock = {
      monotonicMs: () => 0,
      delay: (_, signal) => {
        if (waits++ > (isDamaged ? 52 : 3)) begun()
        else return Promise.resolve()
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
      },
    }
    await requestTask(made.backend, { kind: 'scrub', name: '', arguments: {} })
    const runner = startTasks({
      backend: made.backend,
      kinds: [scrubTask({ bytesPerSecond: 1, clock })],
      onError: (error) => {
        throw error
      },
    })
    await waiting
    await runner.stop()
    expect((await readTask(made.kv, { kind: 'scrub', name: '' }))?.record.state).toBe('running')
    expect(made.disks.stores.map((store) => store.condition().state)).toEqual(['up', 'up', 'up'])
    const { counts } = await scrub()
    expect(counts).toMatchObject({ degraded: 0, lost: 0, unreachable: 0, checked: 16 + sizes.length })
    expect((await scrub()).counts).toMatchObject(clean)
  })
})

describe('shards that say the same of their blob', () => {
  it('and belong to another write of it are found by the id of the blob', async () => {
    made = await erasureStore({ disks: 6, data: 4, parity: 2 })
    const { blobs } = made.backend
    const write = (seed: number) =>
      blobs.write('default', {
        payload: bytesSource(patternBytes(seed, 300_000)),
        describe: () => Buffer.from('one and the same'),
      })
    const [one, other] = [await write(1), await write(2)]
    const mixed = { ...one, shards: one.shards.map((shard, i) => (i % 3 === 0 ? (other.shards[i] ?? shard) : shard)) }
    const states = (await blobs.inspect(mixed)).map(({ state }) => state)
    expect(states).toEqual(['bad', 'good', 'good', 'bad', 'good', 'good'])
    const restored = await blobs.restore(mixed)
    if (restored.outcome !== 'restored') throw new Error(restored.outcome)
    const source = await blobs.read(restored.manifest, { start: 0, end: 300_000 })
    expect((await source.read()).equals(patternBytes(1, 300_000))).toBe(true)
  })

  it("and lie in each other's places are found by their index", async () => {
    made = await erasureStore({ disks: 6, data: 4, parity: 2 })
    await put(made, 'key', pieces(patternBytes(1, 300_000)))
    const manifest = await made.manifestOf('key')
    const exchanged: Record<number, number> = { 1: 5, 5: 1 }
    const shards = manifest.shards.map((shard) => ({
      ...shard,
      index: exchanged[shard.index ?? 0] ?? shard.index ?? 0,
    }))
    const states = (await made.backend.blobs.inspect({ ...manifest, shards })).map(({ state }) => state)
    expect(states).toEqual(['good', 'bad', 'good', 'good', 'good', 'bad'])
  })
})

describe('repair that was asked for', () => {
  it('says how much there is to do, and what came of it', async () => {
    made = await replicaStore({ disks: 3, copies: 2 })
    await putAll()
    for (const key of keys) {
      const [place] = await shardsOf(key)
      if (place !== undefined) await spoil(diskOf(place.storeId), place, 'lost', 0)
      await made.report(key)
    }
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    const { state, progress } = await runTask(repairTask({ bytesPerSecond: undefined }))
    expect({ state, progress }).toEqual({
      state: 'done',
      progress: { done: bytes, total: bytes, unit: 'bytes', counts: { repaired: sizes.length, degraded: 0, lost: 0 } },
    })
    expect((await scrub()).counts).toMatchObject(clean)
  })

  it('fills a store that was replaced just now, before anybody has looked there', async () => {
    made = await replicaStore({ disks: 2, copies: 2, location: { writeAck: 1 } })
    await put(made, 'key', patternBytes(1, 300_000))
    const [lost] = made.disks.all
    if (lost === undefined) throw new Error('no disk')
    await unmount(lost)
    await lost.replace()
    await made.report('key')
    const { progress } = await runTask(repairTask({ bytesPerSecond: undefined }))
    expect(progress.counts).toEqual({ repaired: 1, degraded: 0, lost: 0 })
    expect((await made.copiesOf('key')).map(({ disk }) => disk).sort()).toEqual(['disk0', 'disk1'])
  })
})

type Inspect = DiskStore['backend']['blobs']['inspect']

/** Has `during` come first whenever a scrub looks at a blob. */
async function disturbed(
  during: (manifest: Manifest, inspect: () => ReturnType<Inspect>) => ReturnType<Inspect>,
  work: () => Promise<unknown>,
): Promise<void> {
  const { blobs } = made.backend
  const { inspect } = blobs
  blobs.inspect = (manifest, looking) => during(manifest, () => inspect(manifest, looking))
  try {
    await work()
  } finally {
    blobs.inspect = inspect
  }
}

async function keyOf(manifest: Manifest): Promise<string | undefined> {
  const [{ storeId = '', id = '' } = {}] = manifest.shards
  try {
    const description = readDescription(await diskOf(storeId).store.description(id))
    return description?.kind === 'snapshot' ? undefined : description?.key
  } catch {
    return undefined
  }
}

/** As compaction does: the same bytes elsewhere. */
async function move(key: string): Promise<void> {
  const manifest = await made.manifestOf(key)
  const [shard] = manifest.shards
  if (shard === undefined) throw new Error('no shard')
  const { description } = readLabel(await diskOf(shard.storeId).store.description(shard.id))
  const payload = await made.backend.blobs.read(manifest, { start: 0, end: manifest.size })
  await changeManifest(key, await made.backend.blobs.write('default', { payload, describe: () => description }))
}

async function changeManifest(key: string, manifest: Manifest): Promise<void> {
  const packed = objectKey('bucket', key)
  const [entry] = await made.kv.get([packed])
  if (entry === undefined) throw new Error(`there is no ${key}`)
  const record = objectCodec.decode(packed, entry.value)
  const value = objectCodec.encode(packed, { ...record, data: { kind: 'blob', manifest } })
  await made.kv.commit({ puts: [{ key: packed, value }] })
}
