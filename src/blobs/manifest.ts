/** Where the shards of one blob lie: part of an object's record. */

import type { ShardId } from '../stores/shard-store.ts'
import type { ErasureScheme } from './erasure/generator-matrix.ts'
import { type StripeGeometry, shardBytes } from './erasure/stripes.ts'

export interface ShardPlace {
  storeId: string
  id: ShardId
  /** Which shard of an erasure code it is. Absent: a whole copy. */
  index?: number
}

interface Placed {
  /** The location, and its version, that placed the shards. */
  location: string
  locationVersion: number
  size: number
  shards: readonly ShardPlace[]
  /** How many shards there should be beyond those in `shards`. Absent: none. */
  missing?: number | undefined
}

/** Every shard is a whole copy. */
export interface ReplicaManifest extends Placed {
  scheme: 'replica'
}

/** Each shard has an index of its own, and lies in a store of its own. An index that none has is missing. */
export interface ErasureManifest extends Placed, ErasureScheme {
  scheme: 'erasure'
  /** Of a stripe, in each shard. */
  unitBytes: number
}

/** Never edited in place. */
export type Manifest = ReplicaManifest | ErasureManifest

/** What decides where in which shard a byte lies. */
export type Coding = StripeGeometry & ErasureScheme

export function codingOf({ size, data, parity, unitBytes }: ErasureManifest): Coding {
  return { size, data, parity, unitBytes }
}

/** Bytes of each shard. */
export function bytesOfShards(manifest: Manifest): number {
  return manifest.scheme === 'erasure' ? shardBytes(codingOf(manifest)) : manifest.size
}
