/** A store whose default location keeps whole copies on several disks. */
import { bytesSource } from '../../src/byte-source.ts'
import { type Location, openBlobs } from '../../src/shards/blobs.ts'
import type { Manifest } from '../../src/shards/manifest.ts'
import { objectKey, repairs } from '../../src/store/keyspace.ts'
import { objectCodec } from '../../src/store/record-codecs.ts'
import { type Disks, openDisks } from '../shards/disks.ts'
import { seededClock, seededRandom } from '../shards/seeded.ts'
import { makeBucket, memoryStore, storeOfBlobs, type TestStore } from '../store/fixture.ts'

export interface ReplicaStore extends TestStore {
  disks: Disks
  manifestOf(key: string): Promise<Manifest>
  /** Entries of the repair queue. */
  queued(): Promise<number>
  /** The bytes of each copy, and what it says of itself, however it is read. */
  copiesOf(key: string): Promise<{ disk: string; payload: Buffer; description: string }[]>
  dispose(): Promise<void>
}

export interface ReplicaOptions {
  disks: number
  copies: number
  location?: Partial<Location>
  domainOf?: (i: number) => string
  stallMs?: number
  raceMs?: number
}

export async function replicaStore({ disks: count, domainOf, ...options }: ReplicaOptions): Promise<ReplicaStore> {
  const clock = seededClock(seededRandom(1))
  const disks = await openDisks(count, clock, domainOf)
  const { copies, location, ...timing } = options
  const blobs = openBlobs(
    [{ name: 'default', version: 1, scheme: 'replica', copies, stores: disks.stores, ...location }],
    { clock, ...timing },
  )
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
      const { shards, size } = await manifestOf(key)
      return Promise.all(
        shards.map(async ({ storeId, id }) => {
          const { store, name } = disks.of(storeId)
          const payload = await (await store.get(id, { start: 0, end: size })).read()
          return { disk: name, payload, description: (await store.description(id)).toString() }
        }),
      )
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
