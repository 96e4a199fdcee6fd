/** Where the shards of one blob lie. It is part of an object's record. */

import type { ShardId } from '../stores/shard-store.ts'
import type { ErasureScheme } from './erasure/generator-matrix.ts'
import { type StripeGeometry, shardBytes } from './erasure/stripes.ts'

export interface ShardPlace {
  storeId: string
  id: ShardId
  /** The shard's index in its erasure code. Absent: it is a whole copy. */
  index?: number
}

interface Placed {
  /** The location, and its version, that placed the shards. */
  location: string
  locationVersion: number
  size: number
  shards: readonly ShardPlace[]
  /** How many shards are missing from `shards`. Absent: none. */
  missing?: number | undefined
}

/** Every shard is a whole copy. */
export interface ReplicaManifest extends Placed {
  scheme: 'replica'
}

/** Each shard has its own index, and lies in its own store. An index that no shard has is missing. */
export interface ErasureManifest extends Placed, ErasureScheme {
  scheme: 'erasure'
  /** Bytes of a unit: what one shard keeps of one stripe. */
  unitBytes: number
}

/** It is never edited in place. */
export type Manifest = ReplicaManifest | ErasureManifest

/** What determines where a byte lies in which shard. */
export type Coding = StripeGeometry & ErasureScheme

export function codingOf({ size, data, parity, unitBytes }: ErasureManifest): Coding {
  return { size, data, parity, unitBytes }
}

/** Bytes of each shard. */
export function bytesOfShards(manifest: Manifest): number {
  return manifest.scheme === 'erasure' ? shardBytes(codingOf(manifest)) : manifest.size
}
