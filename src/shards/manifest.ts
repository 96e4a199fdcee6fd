/** Where the shards of one blob lie: part of an object's record. */
import type { ShardId } from './shard-store.ts'

export interface ShardPlace {
  storeId: string
  id: ShardId
}

/** Never edited in place. Another scheme adds a shape of its own. */
export interface Manifest {
  /** The location, and its version, that placed the shards. */
  location: string
  locationVersion: number
  /** `replica`: every shard is a whole copy. */
  scheme: 'replica'
  size: number
  shards: readonly ShardPlace[]
  /** How many copies the location asks for beyond those in `shards`. Absent: none. */
  missing?: number | undefined
}
