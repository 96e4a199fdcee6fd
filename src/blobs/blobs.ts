/** Writes and reads blobs over the stores of a location. A blob is the data of one object or part; a shard is one store's piece of it. */
import type { ByteSource } from '../byte-source.ts'
import { type Clock, systemClock } from '../clock.ts'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { MaintenancePost, NewShard, ShardRange, ShardStore } from '../stores/shard-store.ts'
import { BlobUnreadable, copyBlob, type Pace } from './copy-blob.ts'
import { type ErasureCode, openErasureCode } from './erasure/code.ts'
import { type Location, type LocationState, manifestIn, type Placing, placingOf, stateOf } from './location.ts'
import { locationFor, ownLocation } from './location-policy.ts'
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
export { BlobUnreadable, bytesOfShards, locationFor, ownLocation }

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
  /** Where the data of an object belongs: see `location-policy`. */
  locationFor(bucketLocation: string, storageClass: string | undefined): string
  /** Looks at once whether every store is there and has not been replaced. The regular look may be seconds away. Never rejects. */
  lookAtStores(): Promise<void>
  /** Where servers share the metadata, looks there first for a location that this process does not know. */
  hasLocation(name: string): Promise<boolean>
  /** The location for buckets that are created without one. */
  readonly defaultLocation: string
  /** The stores in use now. */
  readonly stores: readonly ShardStore[]
  /** The storage classes that have a location of their own. */
  readonly keptClasses: ReadonlySet<string>
  readonly locations: readonly LocationState[]
}

/** Tells of locations that other processes have changed. */
export interface LocationFeed {
  /** Calls `relocate` with all locations, and the name of the default one, whenever something has changed. */
  subscribe(relocate: (locations: readonly Location[], defaultLocation: string) => void): void
  /** Looks for changes now. Rejects with `KvUnavailable`. */
  look(): Promise<void>
}

export interface BlobsOptions {
  /** Absent: `ownLocation`. */
  defaultLocation?: string
  /** Absent: the locations never change. */
  feed?: LocationFeed | undefined
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
  const locations = new LocationsInUse(given, members, options)
  const random = (): number => clock.random(4).readUInt32LE() / 2 ** 32
  const context = { members, clock, random, code, raceMs, stallMs }
  const member = (storeId: string): Member | undefined => members.holder(storeId)

  const blobs: Blobs = {
    get stores() {
      return members.storesInUse
    },
    get locations() {
      return [...locations.all].map(stateOf)
    },
    get keptClasses() {
      return new Set([...locations.all].flatMap(({ storageClasses }) => storageClasses))
    },
    get defaultLocation() {
      return locations.defaultName
    },
    locationFor: (bucketLocation, storageClass) => locationFor(locations.all, bucketLocation, storageClass),
    lookAtStores: () => members.look(),
    hasLocation: async (name) => (await locations.find(name)) !== undefined,
    write: async (location, blob) => {
      const placing = locations.get(location) ?? (await found(locations, location, blob))
      return writeBlob(placing, blob, context)
    },
    read: (manifest, range, damaged = () => {}) => readBlob(manifest, range, damaged, context),
    remove: (manifests, post) => removeBlobs(manifests, members, post),
    inspect: (manifest, looking = {}) => inspectShards(manifest, { member, reading: context, looking }),
    restore: (manifest, looking = {}) => restoreBlob(manifest, locations.get(manifest.location), looking, context),
    adopted: (name, manifest) => {
      const location = locations.required(name)
      return liesAs(manifest, location, location.members) ? manifestIn(location, manifest, manifest.shards) : undefined
    },
    copy: (manifest, location, pace) => {
      const { read, write } = blobs
      return copyBlob(manifest, { member, read, write: (blob) => write(location, blob) }, pace)
    },
  }
  return blobs
}

/** Looks for a location that this process does not know yet. A bucket may name one that another process has just added. */
async function found(locations: LocationsInUse, name: string, { payload }: NewShard): Promise<Placing> {
  try {
    await locations.find(name)
    return locations.required(name)
  } catch (error) {
    payload.cancel()
    throw error
  }
}

/** The locations of a process, as they are now. */
class LocationsInUse {
  readonly #members: Members
  readonly #feed: LocationFeed | undefined
  #byName: ReadonlyMap<string, Placing> = new Map()
  #defaultName = ownLocation

  constructor(given: readonly Location[], members: Members, { defaultLocation = ownLocation, feed }: BlobsOptions) {
    this.#members = members
    this.#feed = feed
    this.#relocate(given, defaultLocation)
    feed?.subscribe((locations, name) => this.#relocate(locations, name))
  }

  get all(): Iterable<Placing> {
    return this.#byName.values()
  }

  get defaultName(): string {
    return this.#defaultName
  }

  get(name: string): Placing | undefined {
    return this.#byName.get(name)
  }

  async find(name: string): Promise<Placing | undefined> {
    if (!this.#byName.has(name)) await this.#feed?.look()
    return this.#byName.get(name)
  }

  required(name: string): Placing {
    const location = this.#byName.get(name)
    if (location !== undefined) return location
    if (this.#feed === undefined) throw new Error(`there is no location ${name}`)
    throw new S3Error('ServiceUnavailable', { message: `This server can't use the location ${name} yet.` })
  }

  #relocate(given: readonly Location[], defaultName: string): void {
    this.#byName = new Map(given.map((location) => [location.name, placingOf(location, this.#members)]))
    this.#defaultName = defaultName
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
