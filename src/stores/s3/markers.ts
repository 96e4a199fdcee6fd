/** Markers of batches as empty objects under `pending/`. */
import { limits } from '../../limits.ts'
import type { MarkerStorage } from '../batches/marker-storage.ts'
import type { ShardBucket } from './bucket.ts'

const prefix = 'pending/'

/** `beforeChange`: called before each request that changes something. */
export function bucketMarkers(bucket: ShardBucket, beforeChange: () => Promise<void> = async () => {}): MarkerStorage {
  const storage: MarkerStorage = {
    create: async (name) => {
      await beforeChange()
      await bucket.put(prefix + name, Buffer.alloc(0))
    },
    list: async () => {
      const names: string[] = []
      for await (const { key } of bucket.list(prefix)) names.push(key.slice(prefix.length))
      return names
    },
    replace: async (name, by) => {
      await beforeChange()
      await bucket.put(prefix + by, Buffer.alloc(0), limits.remoteProbeMs)
      await storage.remove([name])
    },
    remove: async (names) => {
      await beforeChange()
      await bucket.delete(names.map((name) => prefix + name))
    },
  }
  return storage
}
