/** Writes and reads blobs over the stores that a location names. A blob is what one object or part keeps; a shard is one store's piece of it. */
import type { ByteSource } from '../byte-source.ts'
import { type Clock, systemClock } from '../clock.ts'
import { limits } from '../limits.ts'
import type { StoreCondition } from './guarded-store.ts'
import { usualWriteAck } from './location-policy.ts'
import type { Manifest, ShardPlace } from './manifest.ts'
import { type Member, memberOf } from './member.ts'
import { choosePlaces } from './placement.ts'
import { type ReadableCopy, readCopies } from './read-copies.ts'
import { type Restoration, restoreCopies } from './restore-copies.ts'
import {
  type NewShard,
  ShardDamaged,
  type ShardId,
  ShardMissing,
  type ShardRange,
  type ShardStore,
  StoreFull,
} from './shard-store.ts'
import { writeCopies } from './write-copies.ts'

export type { Manifest, Restoration, ShardPlace }

/** A named, versioned policy: over which stores, and how, data is sharded. */
export interface Location {
  name: string
  version: number
  scheme: 'replica'
  /** Where new shards go. */
  stores: readonly ShardStore[]
  /** Absent: 1. */
  copies?: number
  /** Most copies in one failure domain. Absent: 1. */
  maxPerDomain?: number
  /** Durable copies with which a write succeeds. Absent: more than half. */
  writeAck?: number
}

export interface Blobs {
  /**
   * Resolves when as many shards as the location promises are durable; `missing` says how many copies have yet to be made.
   * On rejection nothing is left behind. Errors: `StoreFull`, ServiceUnavailable, whatever the payload rejects with.
   */
  write(location: string, blob: NewShard): Promise<Manifest>
  /**
   * Opens a range. Verified as it is read. `damaged` is called when a copy is missing or damaged and another one served.
   * Errors: `ShardMissing`, `ShardDamaged`; ServiceUnavailable while no store that has the blob can be reached.
   */
  read(manifest: Manifest, range: ShardRange, damaged?: () => void): Promise<ByteSource>
  /** Deletes the shards of blobs that no record references, and none will. Resolves with what could not be deleted yet: their store is out of use. */
  remove(manifests: readonly Manifest[]): Promise<Manifest[]>
  /** Verifies every copy, and makes those that the location asks for and that are not there. Deletes nothing. */
  restore(manifest: Manifest): Promise<Restoration>
  hasLocation(name: string): boolean
  /** Those in use now. */
  readonly stores: readonly ShardStore[]
  readonly locations: readonly LocationState[]
}

/** For people: what a location is made of, and how it is. */
export interface LocationState {
  name: string
  version: number
  scheme: 'replica'
  copies: number
  writeAck: number
  maxPerDomain: number
  stores: readonly ({ name: string; domain: string; store: ShardStore } & StoreCondition)[]
}

export interface BlobsOptions {
  clock?: Clock
  /** Stores that no location names any more, and that still hold shards. */
  otherStores?: readonly ShardStore[]
  raceMs?: number
  stallMs?: number
}

/** A location with everything decided. */
interface Placing {
  name: string
  version: number
  scheme: 'replica'
  copies: number
  maxPerDomain: number
  writeAck: number
  members: readonly Member[]
}

export function openBlobs(given: readonly Location[], options: BlobsOptions = {}): Blobs {
  const { clock = systemClock, otherStores = [] } = options
  const { raceMs = limits.readRaceMs, stallMs = limits.storeStallMs } = options
  const members = new Map<string, Member>()
  for (const store of [...given.flatMap((location) => location.stores), ...otherStores]) {
    if (!members.has(store.storeId)) members.set(store.storeId, memberOf(store))
  }
  const locations = new Map(given.map((location) => [location.name, placingOf(location, members)] as const))

  const random = (): number => clock.random(4).readUInt32LE() / 2 ** 32
  const places = (location: Placing, count: number, beside: readonly Member[], not: readonly Member[]): Member[] =>
    choosePlaces({
      count,
      maxPerDomain: location.maxPerDomain,
      candidates: location.members.filter((member) => member.condition().state === 'up' && !not.includes(member)),
      taken: beside,
      random,
    })

  function openCopy({ storeId, id }: ShardPlace, damaged: () => void): ReadableCopy {
    const member = members.get(storeId)
    return {
      open: async (range) => {
        if (member === undefined) throw new ShardMissing(id)
        return member.store.get(id, range)
      },
      failed: (error) => {
        member?.blame(error)
        if (error instanceof ShardDamaged) damaged()
      },
    }
  }

  return {
    get stores() {
      return [...members.values()].filter(isInUse).map(({ store }) => store)
    },
    get locations() {
      return [...locations.values()].map(stateOf)
    },
    hasLocation: (name) => locations.has(name),

    async write(locationName, blob) {
      const location = locations.get(locationName)
      if (location === undefined) throw new Error(`there is no location ${locationName}`)
      const { copies, writeAck, members: all } = location
      const [only] = all
      if (all.length === 1 && only !== undefined && only.condition().state === 'up') {
        const id = await only.store.put(blob)
        return manifestOf(location, { size: blob.payload.size, shards: [{ storeId: only.storeId, id }] })
      }
      const chosen = places(location, copies, [], [])
      if (chosen.length < writeAck && all.some((member) => member.condition().state === 'full')) {
        blob.payload.cancel()
        throw new StoreFull(`location ${location.name}: too few of its stores have room`)
      }
      const written = await writeCopies(blob, {
        places: chosen,
        another: (beside, tried) => places(location, 1, beside, tried)[0],
        least: writeAck,
        stallMs,
      })
      return manifestOf(location, {
        size: blob.payload.size,
        shards: written.map(({ member, id }) => ({ storeId: member.storeId, id })),
      })
    },

    async read(manifest, range, damaged = () => {}) {
      const [only] = manifest.shards
      if (manifest.shards.length === 1 && only !== undefined) {
        const member = members.get(only.storeId)
        if (member === undefined) throw new ShardMissing(only.id)
        if (member.isVital) return member.store.get(only.id, range)
      }
      const rank = new Map(manifest.shards.map(({ storeId }) => [storeId, preference(members.get(storeId), random())]))
      const ordered = [...manifest.shards].sort((a, b) => (rank.get(a.storeId) ?? 0) - (rank.get(b.storeId) ?? 0))
      const copies = ordered.map((shard) => openCopy(shard, damaged))
      return readCopies(copies, range, { raceMs, stallMs })
    },

    async remove(manifests) {
      const idsByStore = new Map<string, ShardId[]>()
      for (const { storeId, id } of manifests.flatMap((manifest) => manifest.shards)) {
        const ids = idsByStore.get(storeId)
        if (ids === undefined) idsByStore.set(storeId, [id])
        else ids.push(id)
      }
      const outOfReach = new Set<string>()
      await Promise.all(
        [...idsByStore].map(async ([storeId, ids]) => {
          const member = members.get(storeId)
          if (member === undefined) return
          try {
            await member.store.delete(ids)
          } catch (error) {
            if (member.isVital) throw error
            outOfReach.add(storeId)
          }
        }),
      )
      return manifests.flatMap((manifest) => {
        const shards = manifest.shards.filter(({ storeId }) => outOfReach.has(storeId))
        return shards.length === 0 ? [] : [{ ...manifest, shards }]
      })
    },

    restore(manifest) {
      const location = locations.get(manifest.location)
      return restoreCopies(manifest, {
        member: (storeId) => members.get(storeId),
        copies: location?.copies ?? manifest.shards.length,
        places: (count, beside, not) => (location === undefined ? [] : places(location, count, beside, not)),
        manifestOf: (shards) =>
          location === undefined ? { ...manifest, shards } : manifestOf(location, { size: manifest.size, shards }),
        reading: { raceMs, stallMs },
      })
    },
  }
}

function placingOf(location: Location, members: ReadonlyMap<string, Member>): Placing {
  const { copies = 1, maxPerDomain = 1, writeAck = usualWriteAck(copies) } = location
  const { name, version, scheme } = location
  return {
    name,
    version,
    scheme,
    copies,
    maxPerDomain,
    writeAck,
    members: location.stores.flatMap((store) => members.get(store.storeId) ?? []),
  }
}

function manifestOf(location: Placing, blob: Pick<Manifest, 'size' | 'shards'>): Manifest {
  const missing = location.copies - blob.shards.length
  return {
    location: location.name,
    locationVersion: location.version,
    scheme: location.scheme,
    ...blob,
    ...(missing > 0 ? { missing } : {}),
  }
}

/** Stores that are out come last; among the others chance decides, so that all have their share of reads. */
function preference(member: Member | undefined, chance: number): number {
  return chance + (member !== undefined && isInUse(member) ? 0 : 1)
}

function isInUse(member: Member): boolean {
  return member.condition().state !== 'out'
}

function stateOf({ members, ...location }: Placing): LocationState {
  return {
    ...location,
    stores: members.map(({ name, domain, store, condition }) => ({ name, domain, store, ...condition() })),
  }
}
