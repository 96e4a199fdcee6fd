/** Locations with open stores, and the manifests of their blobs. */
import { limits } from '../limits.ts'
import type { StoreCondition } from '../stores/guarded-store.ts'
import type { ShardStore } from '../stores/shard-store.ts'
import type { ErasureScheme } from './erasure/generator-matrix.ts'
import { usualWriteAck, usualWriteAckOfStripes } from './location-policy.ts'
import {
  type Coding,
  codingOf,
  type ErasureManifest,
  type Manifest,
  type ReplicaManifest,
  type ShardPlace,
} from './manifest.ts'
import type { Member, Members } from './member.ts'

interface OverStores {
  name: string
  version: number
  /** Where new shards go. */
  stores: readonly ShardStore[]
  /** Most shards of a blob in one failure domain. Absent: 1. */
  maxPerDomain?: number
  /** A write succeeds once this many shards are durable. Absent: more than half of the copies; for an erasure code, one more than reading needs. */
  writeAck?: number
  /** See `LocationPolicy`. */
  storageClasses?: readonly string[] | undefined
}

export interface ReplicaLocation extends OverStores {
  scheme: 'replica'
  /** Absent: 1. */
  copies?: number
}

export interface ErasureLocation extends OverStores, ErasureScheme {
  scheme: 'erasure'
  /** Smaller blobs are copied whole, in enough copies to survive as many losses as stripes. Absent: the size below which blobs share files. */
  replicateBelow?: number
}

/** A named, versioned policy: the stores over which data is sharded, and how. */
export type Location = ReplicaLocation | ErasureLocation

export interface Striping extends ErasureScheme {
  replicateBelow: number
  /** A write of stripes succeeds once this many shards are durable. */
  writeAck: number
}

/** A location with every default filled in. */
export interface Placing {
  name: string
  version: number
  scheme: Location['scheme']
  /** For blobs that are copied whole. */
  copies: number
  /** A write of copies succeeds once this many are durable. */
  copiesAck: number
  /** Absent: everything is copied whole. */
  striping: Striping | undefined
  maxPerDomain: number
  storageClasses: readonly string[]
  members: readonly Member[]
}

export function placingOf(location: Location, allMembers: Members): Placing {
  const { name, version, scheme, maxPerDomain = 1, storageClasses = [] } = location
  const members = location.stores.flatMap((store) => allMembers.holder(store.storeId) ?? [])
  const common = { name, version, scheme, maxPerDomain, storageClasses, members }
  if (location.scheme === 'replica') {
    const { copies = 1, writeAck = usualWriteAck(copies) } = location
    return { ...common, copies, copiesAck: writeAck, striping: undefined }
  }
  const {
    data,
    parity,
    replicateBelow = limits.smallShardBytesMax,
    writeAck = usualWriteAckOfStripes(location),
  } = location
  // Whole copies survive as many losses as stripes do, and so do the copies that a write waits for.
  const [copies, copiesAck] = [parity + 1, writeAck - data + 1]
  return { ...common, copies, copiesAck, striping: { data, parity, replicateBelow, writeAck } }
}

/** The manifest of a blob that is copied whole. */
export function replicaManifest(location: Placing, size: number, shards: readonly ShardPlace[]): ReplicaManifest {
  const { name, version, copies } = location
  const manifest: ReplicaManifest = { location: name, locationVersion: version, scheme: 'replica', size, shards }
  if (shards.length < copies) manifest.missing = copies - shards.length
  return manifest
}

export function erasureManifest(location: Placing, coding: Coding, shards: readonly ShardPlace[]): ErasureManifest {
  const lacking = coding.data + coding.parity - shards.length
  return { ...namesOf(location), scheme: 'erasure', ...coding, shards, ...missing(lacking) }
}

/** The manifest of a blob whose shards stay where they are, rewritten for this location. */
export function manifestIn(location: Placing, blob: Manifest, shards: readonly ShardPlace[]): Manifest {
  return blob.scheme === 'erasure'
    ? erasureManifest(location, codingOf(blob), shards)
    : replicaManifest(location, blob.size, shards)
}

function namesOf({ name, version }: Placing): Pick<Manifest, 'location' | 'locationVersion'> {
  return { location: name, locationVersion: version }
}

const missing = (count: number): Pick<Manifest, 'missing'> => (count > 0 ? { missing: count } : {})

/** A location's policy and state, for display. */
export interface LocationState {
  name: string
  version: number
  scheme: Location['scheme']
  /** For blobs that are copied whole. */
  copies: number
  /** For blobs that are striped. Absent: none are. */
  striping?: ErasureScheme & { replicateBelow: number }
  /** A write succeeds once this many shards are durable. */
  writeAck: number
  maxPerDomain: number
  /** The storage classes whose objects lie here, whatever their bucket's location is. */
  storageClasses: readonly string[]
  stores: readonly ({ name: string; domain: string; store: ShardStore } & StoreCondition)[]
}

export function stateOf({ members, striping, copiesAck, ...location }: Placing): LocationState {
  const { writeAck, ...shape } = striping ?? { writeAck: copiesAck }
  return {
    ...location,
    ...('data' in shape ? { striping: shape } : {}),
    writeAck,
    stores: members.map(({ name, domain, store, condition }) => ({ name, domain, store, ...condition() })),
  }
}
