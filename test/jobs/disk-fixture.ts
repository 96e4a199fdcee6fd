/** Stores whose default location keeps whole copies, or the shards of an erasure code, on several disks. */

import { openBlobs } from '../../src/blobs/blobs.ts'
import { openErasureCode } from '../../src/blobs/erasure/code.ts'
import type { ErasureScheme } from '../../src/blobs/erasure/generator-matrix.ts'
import { shardBytes } from '../../src/blobs/erasure/stripes.ts'
import type { ErasureLocation, Location, ReplicaLocation } from '../../src/blobs/location.ts'
import { codingOf, type Manifest } from '../../src/blobs/manifest.ts'
import { bytesSource } from '../../src/byte-source.ts'
import { repairPut } from '../../src/commits/repair-queue.ts'
import { objectKey, repairs } from '../../src/records/keyspace.ts'
import { objectCodec } from '../../src/records/record-codecs.ts'
import type { ShardStore } from '../../src/stores/shard-store.ts'
import { type Disks, openDisks } from '../blobs/disks.ts'
import { makeBucket, memoryStore, storeOfBlobs, type TestStore } from '../objects/fixture.ts'
import { seededClock, seededRandom } from '../support/seeded.ts'

export interface DiskStore extends TestStore {
  disks: Disks
  manifestOf(key: string): Promise<Manifest>
  /** Entries of the repair queue. */
  queued(): Promise<number>
  /** The bytes of each copy or shard, and what it says of itself, however it is read. */
  copiesOf(key: string): Promise<{ disk: string; payload: Buffer; description: string }[]>
  /** Queues an object for repair, as a read does that finds a shard damaged. */
  report(key: string): Promise<void>
  /** Shards that can be read in any store. */
  liveShards(): Promise<number>
  dispose(): Promise<void>
}

interface DiskOptions {
  disks: number
  domainOf?: (i: number) => string
  stallMs?: number
  raceMs?: number
}

export interface ReplicaOptions extends DiskOptions {
  copies: number
  location?: Partial<ReplicaLocation>
}

export interface ErasureOptions extends DiskOptions, ErasureScheme {
  location?: Partial<ErasureLocation>
}

export function replicaStore({ copies, location, ...options }: ReplicaOptions): Promise<DiskStore> {
  return diskStore(options, (stores) => ({
    name: 'default',
    version: 1,
    scheme: 'replica',
    copies,
    stores,
    ...location,
  }))
}

/** Everything is striped, however small, unless `location` says otherwise. */
export function erasureStore({ data, parity, location, ...options }: ErasureOptions): Promise<DiskStore> {
  return diskStore(options, (stores) => ({
    name: 'default',
    version: 1,
    scheme: 'erasure',
    data,
    parity,
    replicateBelow: 0,
    stores,
    ...location,
  }))
}

const code = openErasureCode()

async function diskStore(
  { disks: count, domainOf, ...timing }: DiskOptions,
  locationOver: (stores: ShardStore[]) => Location,
): Promise<DiskStore> {
  const clock = seededClock(seededRandom(1))
  const disks = await openDisks(count, clock, domainOf)
  const blobs = openBlobs([locationOver(disks.stores)], { clock, erasureCode: () => code, ...timing })
  const made = { ...storeOfBlobs(blobs, clock), shards: memoryStore({ clock }).shards }
  await makeBucket(made)
  const { kv } = made
  const manifestOf = async (key: string): Promise<Manifest> => {
    const [entry] = await kv.get([objectKey('bucket', key)])
    const data = entry && objectCodec.decode(entry.key, entry.value).data
    if (data?.kind !== 'blob') throw new Error(`${key} is no blob`)
    return data.manifest
  }
  return {
    ...made,
    disks,
    manifestOf,
    queued: async () => (await kv.range({ ...repairs, limit: 10_000 })).length,
    copiesOf: async (key) => {
      const manifest = await manifestOf(key)
      const { shards } = manifest
      const size = manifest.scheme === 'erasure' ? shardBytes(codingOf(manifest)) : manifest.size
      return Promise.all(
        shards.map(async ({ storeId, id }) => {
          const { store, name } = disks.of(storeId)
          const payload = await (await store.get(id, { start: 0, end: size })).read()
          return { disk: name, payload, description: (await store.description(id)).toString() }
        }),
      )
    },
    report: async (key) => {
      const [entry] = await kv.get([objectKey('bucket', key)])
      if (entry === undefined) throw new Error(`there is no ${key}`)
      const { sequence } = objectCodec.decode(entry.key, entry.value)
      await kv.commit({ puts: [repairPut({ clock }, { kind: 'version', bucket: 'bucket', key, sequence })] })
    },
    liveShards: async () => {
      let live = 0
      for (const { store, fault } of disks.all) {
        fault(undefined)
        await store.probe()
        for await (const _ of store.list()) live++
      }
      return live
    },
    dispose: () => disks.dispose(),
  }
}

/** A body in pieces, as it comes from a connection. `before` is called ahead of each piece, and may reject. */
export function pieces(bytes: Buffer, before: (at: number) => Promise<void> = async () => {}) {
  const whole = bytesSource(bytes)
  return {
    ...whole,
    async drain(sink: (chunk: Buffer) => void | Promise<void>): Promise<void> {
      for (let at = 0; at < bytes.length; at += 50_000) {
        await before(at)
        // The buffer is lent: whoever keeps it sees it spoilt.
        const lent = Buffer.from(bytes.subarray(at, at + 50_000))
        await sink(lent)
        lent.fill(0xee)
      }
    },
  }
}
