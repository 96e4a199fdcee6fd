/**
 * Shards lost, cut, flipped, zeroed, exchanged, or older than they should be, on as many disks as a location survives, and on more: every byte that is read is
 * right or the read fails, and repair gives back the very shards.
 */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shardBytes } from '../../src/blobs/erasure/stripes.ts'
import { codingOf, type ShardPlace } from '../../src/blobs/manifest.ts'
import { repairBlobs } from '../../src/jobs/repairing/repair.ts'
import { limits } from '../../src/limits.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { bytesOnDisk, type Disk, damages, mountAgain, overwrite, spoil, unmount } from '../blobs/disks.ts'
import { type DiskStore, erasureStore, pieces, replicaStore } from '../jobs/disk-fixture.ts'
import { garbageOf, put, read, scope } from '../objects/fixture.ts'
import { tinySizes } from '../stores/directory/opened-store.ts'
import { patternBytes } from '../support/seeded.ts'

const scale = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1')
const seed = Number(process.env.HOLDFAST_ROT_SEED ?? Math.floor(Math.random() * 2 ** 31))
/** How many cases one scheme has, and the largest body of most and of a few. */
const numRuns = scale > 1 ? 4 * scale : 2
const usualBytesMax = 1_500_000
const fewBytesMax = scale > 1 ? 64 * 1024 * 1024 : 8_000_000

interface Scheme {
  name: string
  /** Shards that give a blob back, and shards beyond those. */
  data: number
  parity: number
  open(): Promise<DiskStore>
}

const copiesOn = (copies: number): Scheme => ({
  name: copies === 1 ? '1 + 0' : `${copies} copies`,
  data: 1,
  parity: copies - 1,
  open: () => replicaStore({ disks: copies === 1 ? 1 : copies + 1, copies, location: { writeAck: copies } }),
})
const striped = (data: number, parity: number): Scheme => ({
  name: `${data} + ${parity}`,
  data,
  parity,
  open: () => erasureStore({ disks: data + parity + 1, data, parity, location: { writeAck: data + parity } }),
})
const schemes = [copiesOn(1), copiesOn(2), copiesOn(3), striped(2, 1), striped(4, 2), striped(8, 3), striped(10, 4)]

const harmKinds = [...damages, 'exchanged', 'stale', 'away'] as const
type HarmKind = (typeof harmKinds)[number]

/** What happens to a shard. `at`: where, from 0 up to 1. */
interface Harm {
  kind: HarmKind
  at: number
}

interface Case {
  sizes: number[]
  /** One for each disk; those that are spared come last. */
  harms: Harm[]
  order: number[]
  ranges: [number, number][]
}

const fraction = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })

/** Around the limits of units, stripes, blocks, chunks, and of what shares a segment; and anywhere. */
function sizesFor({ data }: Scheme): fc.Arbitrary<number> {
  const { stripeUnitBytes, smallShardBytesMax } = limits
  const { checksumBlockBytes, readChunkBytes, segmentBytesMax } = tinySizes
  const borders = [
    data,
    checksumBlockBytes,
    data * tinySizes.smallShardBytesMax,
    data * readChunkBytes,
    stripeUnitBytes,
    segmentBytesMax,
    data * stripeUnitBytes,
    smallShardBytesMax,
    2 * data * stripeUnitBytes,
  ]
  const near = fc.tuple(fc.constantFrom(...borders), fc.constantFrom(-1, 0, 1)).map(([border, off]) => border + off)
  return fc.oneof(
    { weight: 30, arbitrary: near },
    { weight: 15, arbitrary: fc.nat({ max: 5_000 }) },
    { weight: 15, arbitrary: fc.nat({ max: usualBytesMax }) },
    { weight: scale > 1 ? 4 : 1, arbitrary: fc.nat({ max: fewBytesMax }) },
  )
}

function casesFor(scheme: Scheme, disks: number): fc.Arbitrary<Case> {
  return fc.record({
    sizes: fc.array(sizesFor(scheme), { minLength: 2, maxLength: 4 }),
    harms: fc.array(fc.record({ kind: fc.constantFrom(...harmKinds), at: fraction }), {
      minLength: disks,
      maxLength: disks,
    }),
    order: fc.shuffledSubarray([...Array(disks).keys()], { minLength: disks, maxLength: disks }),
    ranges: fc.array(fc.tuple(fraction, fraction), { minLength: 3, maxLength: 3 }),
  })
}

/** A key, what it holds, and its shards as they were written. */
interface Written {
  key: string
  bytes: Buffer
  shards: readonly ShardPlace[]
  /** Of what the key held before. */
  older: readonly ShardPlace[]
  contents: string[]
}

let keys = 0

async function write(made: DiskStore, size: number): Promise<Written> {
  const key = `key-${keys++}`
  await put(made, key, pieces(patternBytes(keys + 1_000_000, size)))
  const { shards: older } = await made.manifestOf(key)
  const bytes = patternBytes(keys, size)
  await put(made, key, pieces(bytes))
  const { shards } = await made.manifestOf(key)
  return { key, bytes, shards, older, contents: await contentsOf(made, key) }
}

/** Of every shard, in their order; copies have none. */
async function contentsOf(made: DiskStore, key: string): Promise<string[]> {
  const copies = await made.copiesOf(key)
  return copies.map(({ payload, description }) => payload.toString('latin1') + description)
}

async function inflict(made: DiskStore, { shards, older }: Written, at: number, harm: Harm): Promise<void> {
  const shard = shards[at]
  if (shard === undefined) return
  const disk = made.disks.of(shard.storeId)
  if (harm.kind === 'away') return
  if (harm.kind !== 'exchanged' && harm.kind !== 'stale') return spoil(disk, shard, harm.kind, harm.at)
  const other = harm.kind === 'stale' ? older[at] : shards[(at + 1) % shards.length]
  // A single copy has no other to be exchanged with.
  if (other === undefined || other === shard) return spoil(disk, shard, 'zeroed', harm.at)
  const others = await bytesOnDisk(made.disks.of(other.storeId), other).catch(() => undefined)
  // It may be lost by now.
  if (others === undefined) return spoil(disk, shard, 'zeroed', harm.at)
  await overwrite(disk, shard, others)
}

/** Rejects where a read gives bytes that are not right; `mayFail`: whether it may give none. */
async function readAll(made: DiskStore, { key, bytes }: Written, ranges: Case['ranges'], mayFail: boolean) {
  const asked = ranges.map(([one, other]) =>
    [one, other].map((part) => Math.floor(part * bytes.length)).toSorted(ascending),
  )
  for (const [start = 0, end = bytes.length] of [[], ...asked]) {
    const given = await read(made, key, start === 0 && end === bytes.length ? undefined : [start, end]).catch(
      (error) => {
        if (mayFail) return undefined
        throw error
      },
    )
    if (given === undefined) continue
    expect(given.equals(bytes.subarray(start, end)), `${start} to ${end} of ${bytes.length}`).toBe(true)
  }
}

const ascending = (a: number, b: number): number => a - b

async function mount(disks: readonly Disk[], change: (disk: Disk) => Promise<void>): Promise<void> {
  for (const disk of disks) {
    await change(disk)
    await disk.store.probe()
  }
}

/** Harms what lies on `harmed` of the disks, reads, repairs, and compares. */
async function survive(made: DiskStore, { sizes, harms, order, ranges }: Case, harmed: number): Promise<void> {
  const written: Written[] = []
  for (const size of sizes) written.push(await write(made, size))
  const { all } = made.disks
  const away = all.filter((_, i) => order.indexOf(i) < harmed && harms[i]?.kind === 'away')
  for (const blob of written) {
    for (const [at, { storeId }] of blob.shards.entries()) {
      const disk = all.findIndex(({ store }) => store.storeId === storeId)
      const harm = harms[disk]
      if (harm !== undefined && order.indexOf(disk) < harmed) await inflict(made, blob, at, harm)
    }
  }
  await mount(away, unmount)
  for (const blob of written) await readAll(made, blob, ranges, false)
  await mount(away, mountAgain)
  for (const { key } of written) await made.report(key)
  const report = await repairBlobs(made.backend)
  expect(report).toMatchObject({ degradedBlobs: 0, lostBlobs: 0 })
  for (const blob of written) {
    expect(await contentsOf(made, blob.key), `shards of ${blob.bytes.length} bytes`).toEqual(blob.contents)
    await readAll(made, blob, ranges, false)
  }
}

/** Harms one shard more than may be, of each blob. */
async function failSafely(made: DiskStore, scheme: Scheme, { sizes, harms, order, ranges }: Case): Promise<void> {
  for (const size of sizes.filter((bytes) => bytes > 0)) {
    const blob = await write(made, size)
    for (const at of order.filter((shard) => shard < blob.shards.length).slice(0, scheme.parity + 1)) {
      const harm = harms[at]
      if (harm !== undefined) await inflict(made, blob, at, harm.kind === 'away' ? { ...harm, kind: 'lost' } : harm)
    }
    const garbage = await garbageOf(made)
    await readAll(made, blob, ranges, true)
    await made.report(blob.key)
    // A bit may have flipped where a file is only padded: then the shard is as good as before.
    if ((await goodShards(made, blob)) >= scheme.data) {
      expect(await repairBlobs(made.backend)).toMatchObject({ degradedBlobs: 0, lostBlobs: 0 })
      await readAll(made, blob, ranges, false)
      continue
    }
    // Copies that are damaged in different places give all bytes together, and few bytes may lie in shards that are good.
    if (scheme.data > 1 && size > 100_000) await expect(read(made, blob.key)).rejects.toThrow()
    expect(await repairBlobs(made.backend)).toMatchObject({ repairedBlobs: 0, lostBlobs: 1 })
    expect(await made.manifestOf(blob.key)).toMatchObject({ shards: blob.shards })
    expect(await garbageOf(made)).toEqual(garbage)
    await readAll(made, blob, ranges, true)
    await deleteObject(made.backend, scope, { key: blob.key })
  }
}

/** Shards that their stores can give in full. */
async function goodShards(made: DiskStore, { key, shards }: Written): Promise<number> {
  const manifest = await made.manifestOf(key)
  const end = manifest.scheme === 'erasure' ? shardBytes(codingOf(manifest)) : manifest.size
  const reads = shards.map(async ({ storeId, id }) => {
    const { store } = made.disks.of(storeId)
    await (await store.get(id, { start: 0, end })).drain(() => {})
    await store.description(id)
  })
  return (await Promise.allSettled(reads)).filter(({ status }) => status === 'fulfilled').length
}

console.info(`rotten shards seed: HOLDFAST_ROT_SEED=${seed}`)

describe.each(schemes)('$name', (scheme) => {
  const { parity, open } = scheme
  const within = async (use: (made: DiskStore) => Promise<void>): Promise<void> => {
    const made = await open()
    try {
      await use(made)
    } finally {
      await made.dispose()
    }
  }

  const survivable = parity > 0 ? it : () => {}
  survivable(
    `${numRuns} times, shards on ${parity} disks harmed: every byte is right, and the shards come back as they were`,
    () =>
      within(async (made) => {
        const cases = casesFor(scheme, made.disks.all.length)
        await fc.assert(
          fc.asyncProperty(cases, (each) => survive(made, each, parity)),
          { numRuns, seed, endOnFailure: true },
        )
      }),
    60_000 * scale,
  )

  it(
    `${numRuns} times, ${parity + 1} shards harmed: an error, or what is right; and nothing is thrown away`,
    () =>
      within(async (made) => {
        const cases = casesFor(scheme, made.disks.all.length)
        await fc.assert(
          fc.asyncProperty(cases, (each) => failSafely(made, scheme, each)),
          { numRuns, seed, endOnFailure: true },
        )
      }),
    60_000 * scale,
  )
})
