/** Writes and reads blobs over the stores of a location. A blob is the data of one object or part; a shard is one store's piece of it. */
import type { ByteSource } from '../byte-source.ts'
import { type Clock, systemClock } from '../clock.ts'
import { limits } from '../limits.ts'
import type { MaintenancePost, NewShard, ShardRange, ShardStore } from '../stores/shard-store.ts'
import { BlobUnreadable, copyBlob, type Pace } from './copy-blob.ts'
import { type ErasureCode, openErasureCode } from './erasure/code.ts'
import { type Location, type LocationState, manifestIn, type Placing, placingOf, stateOf } from './location.ts'
import { bytesOfShards, type Manifest, type ShardPlace } from './manifest.ts'
import { type Member, Members } from './member.ts'
import { readBlob } from './read-blob.ts'
import { removeBlobs } from './remove-blobs.ts'
import { type InspectedShard, type InspectOptions, inspectShards, type Restoration } from './restoration.ts'
import { restoreBlob } from './restore-blob.ts'
import { liesAs } from './shape.ts'
import { writeBlob } from './write-blob.ts'

export { readLabel } from './shard-label.ts'
export type { InspectOptions, Location, LocationState, Manifest, Pace, Restoration, ShardPlace }
export { BlobUnreadable, bytesOfShards }

export interface Blobs {
  /**
   * Resolves when as many shards are durable as the location promises; the manifest's `missing` counts those still to be made. Calls `describe` for each
   * shard. On rejection nothing is left behind. Errors: `StoreFull`, ServiceUnavailable, and whatever the payload rejects with.
   */
  write(location: string, blob: NewShard): Promise<Manifest>
  /**
   * Opens a range. Bytes are verified as they are read. Calls `damaged` when a shard is missing or damaged and others served instead.
   * Errors: `ShardMissing`, `ShardDamaged`; ServiceUnavailable while no store with a readable shard can be reached.
   */
  read(manifest: Manifest, range: ShardRange, damaged?: () => void): Promise<ByteSource>
  /**
   * Deletes the shards of blobs that no record references, now or later. Resolves with the shards that could not be deleted yet because their stores are out of use.
   * `post`: as for `ShardStore.delete`. Errors: `StoreFenced`.
   */
  remove(manifests: readonly Manifest[], post?: MaintenancePost): Promise<Manifest[]>
  /** Verifies every shard by reading all of it. Changes nothing. */
  inspect(manifest: Manifest, looking?: InspectOptions): Promise<Pick<InspectedShard, 'shard' | 'state'>[]>
  /** The manifest, rewritten for the location's current version, if the shards already match it. `undefined`: they don't, so `copy` is needed. */
  adopted(location: string, manifest: Manifest): Manifest | undefined
  /**
   * Writes the same bytes with the same description as a new blob of the location's current version. Leaves the old blob as it is.
   * Errors: `BlobUnreadable`; what `write` rejects with.
   */
  copy(manifest: Manifest, location: string, pace: Pace): Promise<Manifest>
  /** Verifies every shard, and writes the missing ones again. Deletes nothing. */
  restore(manifest: Manifest, looking?: InspectOptions): Promise<Restoration>
  hasLocation(name: string): boolean
  /** The stores in use now. */
  readonly stores: readonly ShardStore[]
  readonly locations: readonly LocationState[]
}

export interface BlobsOptions {
  clock?: Clock
  /** Stores that still hold shards, but that no location names any more. */
  otherStores?: readonly ShardStore[]
  /** The erasure code of this process, opened when it is first needed. */
  erasureCode?: () => ErasureCode
  raceMs?: number
  stallMs?: number
}

export function openBlobs(given: readonly Location[], options: BlobsOptions = {}): Blobs {
  const { clock = systemClock, otherStores = [], erasureCode: code = once(openErasureCode) } = options
  const { raceMs = limits.readRaceMs, stallMs = limits.storeStallMs } = options
  const members = new Members([...given.flatMap((location) => location.stores), ...otherStores])
  const locations = new Map(given.map((location) => [location.name, placingOf(location, members)] as const))
  const required = (name: string): Placing => {
    const location = locations.get(name)
    if (location === undefined) throw new Error(`there is no location ${name}`)
    return location
  }
  const random = (): number => clock.random(4).readUInt32LE() / 2 ** 32
  const context = { members, clock, random, code, raceMs, stallMs }
  const member = (storeId: string): Member | undefined => members.holder(storeId)

  const blobs: Blobs = {
    get stores() {
      return members.storesInUse
    },
    get locations() {
      return [...locations.values()].map(stateOf)
    },
    hasLocation: (name) => locations.has(name),
    write: async (location, blob) => writeBlob(required(location), blob, context),
    read: (manifest, range, damaged = () => {}) => readBlob(manifest, range, damaged, context),
    remove: (manifests, post) => removeBlobs(manifests, members, post),
    inspect: (manifest, looking = {}) => inspectShards(manifest, { member, reading: context, looking }),
    restore: (manifest, looking = {}) => restoreBlob(manifest, locations.get(manifest.location), looking, context),
    adopted: (name, manifest) => {
      const location = required(name)
      return liesAs(manifest, location, location.members) ? manifestIn(location, manifest, manifest.shards) : undefined
    },
    copy: (manifest, location, pace) => {
      const { read, write } = blobs
      return copyBlob(manifest, { member, read, write: (blob) => write(location, blob) }, pace)
    },
  }
  return blobs
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
