/** What a location is made of once its stores are open, and what the manifests of its blobs say. */
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
  /** Durable shards with which a write succeeds. Absent: of copies, more than half; of an erasure code, one more than it takes to read. */
  writeAck?: number
}

export interface ReplicaLocation extends OverStores {
  scheme: 'replica'
  /** Absent: 1. */
  copies?: number
}

export interface ErasureLocation extends OverStores, ErasureScheme {
  scheme: 'erasure'
  /** Blobs smaller than this are copied whole, so often that as many losses are survived. Absent: those that share files. */
  replicateBelow?: number
}

/** A named, versioned policy: over which stores, and how, data is sharded. */
export type Location = ReplicaLocation | ErasureLocation

export interface Striping extends ErasureScheme {
  replicateBelow: number
  /** Durable shards with which a write of stripes succeeds. */
  writeAck: number
}

/** A location with everything decided. */
export interface Placing {
  name: string
  version: number
  scheme: Location['scheme']
  /** Of what is copied whole. */
  copies: number
  /** Durable copies with which a write of copies succeeds. */
  copiesAck: number
  /** Absent: everything is copied whole. */
  striping: Striping | undefined
  maxPerDomain: number
  members: readonly Member[]
}

export function placingOf(location: Location, allMembers: Members): Placing {
  const { name, version, scheme, maxPerDomain = 1 } = location
  const members = location.stores.flatMap((store) => allMembers.holder(store.storeId) ?? [])
  const common = { name, version, scheme, maxPerDomain, members }
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
  // Copies survive as many losses as stripes do, when they are whole and when their write is acknowledged.
  const [copies, copiesAck] = [parity + 1, writeAck - data + 1]
  return { ...common, copies, copiesAck, striping: { data, parity, replicateBelow, writeAck } }
}

/** Of a blob that is copied whole. */
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

/** Of a blob whose shards lie as they do, as one of that location. */
export function manifestIn(location: Placing, blob: Manifest, shards: readonly ShardPlace[]): Manifest {
  return blob.scheme === 'erasure'
    ? erasureManifest(location, codingOf(blob), shards)
    : replicaManifest(location, blob.size, shards)
}

function namesOf({ name, version }: Placing): Pick<Manifest, 'location' | 'locationVersion'> {
  return { location: name, locationVersion: version }
}

const missing = (count: number): Pick<Manifest, 'missing'> => (count > 0 ? { missing: count } : {})

/** For people: what a location is made of, and how it is. */
export interface LocationState {
  name: string
  version: number
  scheme: Location['scheme']
  /** Of what is copied whole. */
  copies: number
  /** Of what is striped. Absent: nothing is. */
  striping?: ErasureScheme & { replicateBelow: number }
  /** Durable shards with which a write succeeds. */
  writeAck: number
  maxPerDomain: number
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
