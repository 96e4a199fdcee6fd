/** Writes and reads blobs over the stores that a location names. A blob is what one object or part keeps; a shard is one store's piece of it. */
import type { ByteSource } from '../byte-source.ts'
import { type Clock, systemClock } from '../clock.ts'
import { limits } from '../limits.ts'
import { BlobUnreadable, copyBlob, type Pace } from './copy-blob.ts'
import { type ErasureCode, openErasureCode } from './erasure/code.ts'
import {
  erasureManifest,
  type Location,
  type LocationState,
  type Placing,
  placingOf,
  replicaManifest,
  type Striping,
  stateOf,
} from './location.ts'
import { bytesOfShards, codingOf, type ErasureManifest, type Manifest, type ShardPlace } from './manifest.ts'
import { type Member, memberOf } from './member.ts'
import { choosePlaces } from './placement.ts'
import { type ReadableCopy, readCopies } from './read-copies.ts'
import { readStripes } from './read-stripes.ts'
import { type InspectedShard, inspectShards, type Looking, type Restoration } from './restoration.ts'
import { restoreCopies } from './restore-copies.ts'
import { restoreStripes } from './restore-stripes.ts'
import { liesAs } from './shape.ts'
import { labelling } from './shard-label.ts'
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
import { placeOf } from './write-shards.ts'
import { writeStripes } from './write-stripes.ts'

export { readLabel } from './shard-label.ts'
export type { Location, LocationState, Looking, Manifest, Pace, Restoration, ShardPlace }
export { BlobUnreadable, bytesOfShards }

export interface Blobs {
  /**
   * Resolves when as many shards as the location promises are durable; `missing` says how many have yet to be made.
   * On rejection nothing is left behind. Errors: `StoreFull`, ServiceUnavailable, whatever the payload rejects with.
   */
  write(location: string, blob: NewShard): Promise<Manifest>
  /**
   * Opens a range. Verified as it is read. `damaged` is called when a shard is missing or damaged and others served.
   * Errors: `ShardMissing`, `ShardDamaged`; ServiceUnavailable while no store that has the blob can be reached.
   */
  read(manifest: Manifest, range: ShardRange, damaged?: () => void): Promise<ByteSource>
  /** Deletes the shards of blobs that no record references, and none will. Resolves with what could not be deleted yet: their store is out of use. */
  remove(manifests: readonly Manifest[]): Promise<Manifest[]>
  /** Verifies every shard: reads all of it. Changes nothing. */
  inspect(manifest: Manifest, looking?: Looking): Promise<Pick<InspectedShard, 'shard' | 'state'>[]>
  /** Verifies every shard, and makes those that are to be and are not there. Deletes nothing. */
  /** The blob's manifest as one of that location as it is now, if its shards lie as the location lays them. `undefined`: they don't, and `copy` is needed. */
  adopted(location: string, manifest: Manifest): Manifest | undefined
  /**
   * Writes the blob again, as the location lays it now: the same bytes, with the same description. Changes nothing of the old one.
   * Errors: `BlobUnreadable`; what `write` throws.
   */
  copy(manifest: Manifest, location: string, pace: Pace): Promise<Manifest>
  restore(manifest: Manifest, looking?: Looking): Promise<Restoration>
  hasLocation(name: string): boolean
  /** Those in use now. */
  readonly stores: readonly ShardStore[]
  readonly locations: readonly LocationState[]
}

export interface BlobsOptions {
  clock?: Clock
  /** Stores that no location names any more, and that still hold shards. */
  otherStores?: readonly ShardStore[]
  /** The one of this process, opened when it is first needed. */
  erasureCode?: () => ErasureCode
  raceMs?: number
  stallMs?: number
}

export function openBlobs(given: readonly Location[], options: BlobsOptions = {}): Blobs {
  const { clock = systemClock, otherStores = [], erasureCode = once(openErasureCode) } = options
  const { raceMs = limits.readRaceMs, stallMs = limits.storeStallMs } = options
  const members = new Map<string, Member>()
  for (const store of [...given.flatMap((location) => location.stores), ...otherStores]) {
    if (!members.has(store.storeId)) members.set(store.storeId, memberOf(store))
  }
  const locations = new Map(given.map((location) => [location.name, placingOf(location, members)] as const))

  let byId: ReadonlyMap<string, Member> = members
  const holderOf = (storeId: string): Member | undefined => {
    const found = byId.get(storeId)
    if (found?.storeId === storeId) return found
    // A store that was lost may have got a successor, with an identity of its own.
    byId = new Map([...members.values()].map((each) => [each.storeId, each]))
    return byId.get(storeId)
  }
  const reading = { raceMs, stallMs }
  const random = (): number => clock.random(4).readUInt32LE() / 2 ** 32
  const places = (location: Placing, count: number, beside: readonly Member[], not: readonly Member[]): Member[] =>
    choosePlaces({
      count,
      maxPerDomain: location.maxPerDomain,
      candidates: location.members.filter((member) => member.condition().state === 'up' && !not.includes(member)),
      taken: beside,
      random,
    })

  const anotherOf = (location: Placing) => (beside: readonly Member[], tried: readonly Member[]) =>
    places(location, 1, beside, tried)[0]

  function openCopy({ storeId, id }: ShardPlace, damaged: () => void): ReadableCopy {
    const member = holderOf(storeId)
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

  /** Throws `StoreFull` when that is why there are too few. */
  function chosenFor(location: Placing, count: number, least: number, { payload }: NewShard): Member[] {
    const chosen = places(location, count, [], [])
    if (chosen.length < least && location.members.some((member) => member.condition().state === 'full')) {
      payload.cancel()
      throw new StoreFull(`location ${location.name}: too few of its stores have room`)
    }
    return chosen
  }

  async function writeStriped(location: Placing, striping: Striping, blob: NewShard): Promise<Manifest> {
    const { data, parity, writeAck } = striping
    const coding = { size: blob.payload.size, data, parity, unitBytes: limits.stripeUnitBytes }
    const written = await writeStripes(blob, {
      coding,
      code: erasureCode(),
      label: labelling(coding, clock),
      places: chosenFor(location, data + parity, writeAck, blob),
      another: anotherOf(location),
      least: writeAck,
      stallMs,
    })
    const shards = written.map((shard) => ({ ...placeOf(shard), index: shard.at }))
    return erasureManifest(location, coding, shards)
  }

  function readStriped(manifest: ErasureManifest, range: ShardRange, damaged: () => void): Promise<ByteSource> {
    const shards = manifest.shards.flatMap((shard) =>
      shard.index === undefined ? [] : [{ ...openCopy(shard, damaged), index: shard.index, storeId: shard.storeId }],
    )
    const late = shards.flatMap(({ index, storeId }) => {
      const member = holderOf(storeId)
      return member !== undefined && isInUse(member) ? [] : [index]
    })
    return readStripes(shards, range, { coding: codingOf(manifest), code: erasureCode, late, raceMs, stallMs })
  }

  function required(name: string): Placing {
    const location = locations.get(name)
    if (location === undefined) throw new Error(`there is no location ${name}`)
    return location
  }

  const blobs: Blobs = {
    get stores() {
      return [...members.values()].filter(isInUse).map(({ store }) => store)
    },
    get locations() {
      return [...locations.values()].map(stateOf)
    },
    hasLocation: (name) => locations.has(name),

    async write(locationName, blob) {
      const location = required(locationName)
      const { striping } = location
      if (striping !== undefined && blob.payload.size >= striping.replicateBelow) {
        return writeStriped(location, striping, blob)
      }
      const { copies, copiesAck, members: all } = location
      const [only] = all
      if (all.length === 1 && only !== undefined && only.condition().state === 'up') {
        const id = await only.store.put(blob)
        return replicaManifest(location, blob.payload.size, [{ storeId: only.storeId, id }])
      }
      const chosen = chosenFor(location, copies, copiesAck, blob)
      const written = await writeCopies(blob, {
        places: chosen,
        another: anotherOf(location),
        least: copiesAck,
        stallMs,
      })
      return replicaManifest(location, blob.payload.size, written.map(placeOf))
    },

    async read(manifest, range, damaged = () => {}) {
      if (manifest.scheme === 'erasure') return readStriped(manifest, range, damaged)
      const [only] = manifest.shards
      if (manifest.shards.length === 1 && only !== undefined) {
        const member = holderOf(only.storeId)
        if (member === undefined) throw new ShardMissing(only.id)
        if (member.isVital) return await member.store.get(only.id, range)
      }
      const rank = new Map(manifest.shards.map(({ storeId }) => [storeId, preference(holderOf(storeId), random())]))
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
          const member = holderOf(storeId)
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

    inspect: (manifest, looking = {}) => inspectShards(manifest, { member: holderOf, reading, looking }),

    async restore(manifest, looking = {}) {
      // A shard on a store that is lost for good is none; on one that is only away it is.
      await Promise.all(manifest.shards.map(({ storeId }) => holderOf(storeId)?.follow()))
      const location = locations.get(manifest.location)
      const context = {
        member: holderOf,
        looking,
        reading,
        places: (count: number, beside: readonly Member[], not: readonly Member[]) =>
          location === undefined ? [] : places(location, count, beside, not),
      }
      if (manifest.scheme === 'erasure') {
        const manifestOf = (shards: readonly ShardPlace[]): Manifest =>
          location === undefined ? { ...manifest, shards } : erasureManifest(location, codingOf(manifest), shards)
        return restoreStripes(manifest, { ...context, manifestOf, code: erasureCode })
      }
      const copies = location?.copies ?? manifest.shards.length
      const manifestOf = (shards: readonly ShardPlace[]): Manifest =>
        location === undefined ? { ...manifest, shards } : replicaManifest(location, manifest.size, shards)
      return restoreCopies(manifest, { ...context, manifestOf, copies })
    },

    adopted(name, manifest) {
      const location = required(name)
      if (!liesAs(manifest, location, location.members)) return undefined
      return manifest.scheme === 'erasure'
        ? erasureManifest(location, codingOf(manifest), manifest.shards)
        : replicaManifest(location, manifest.size, manifest.shards)
    },

    copy(manifest, location, pace) {
      const { read, write } = blobs
      return copyBlob(manifest, { member: holderOf, read, write: (blob) => write(location, blob) }, pace)
    },
  }
  return blobs
}

/** Stores that are out come last; among the others chance decides, so that all have their share of reads. */
function preference(member: Member | undefined, chance: number): number {
  return chance + (member !== undefined && isInUse(member) ? 0 : 1)
}

function isInUse(member: Member): boolean {
  return member.condition().state !== 'out'
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
