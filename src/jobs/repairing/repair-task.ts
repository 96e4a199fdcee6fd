/** Repair on request: works through the whole queue now, and counts it first. The background jobs repair in any case. */
import { bytesOfShards } from '../../blobs/blobs.ts'
import type { Backend } from '../../commits/backend.ts'
import { repairOwnerOf, repairs } from '../../records/keyspace.ts'
import { findReference } from '../blob-reference.ts'
import { everyEntry } from '../every-entry.ts'
import { openPace, rateOf } from '../tasks/pace.ts'
import type { TaskKind } from '../tasks/task-runner.ts'
import { repairBlobs } from './repair.ts'

export const repairKind = 'repair'

/** `bytesPerSecond`: how fast it reads and writes, unless the request says otherwise. Absent: no limit. */
export function repairTask({ bytesPerSecond }: { bytesPerSecond: number | undefined }): TaskKind {
  return {
    kind: repairKind,
    async run(backend, task) {
      const pace = openPace(() => rateOf(task, bytesPerSecond))
      // A store that was replaced just now takes the shards that are missing.
      await backend.blobs.lookAtStores()
      const counts = { repaired: 0, degraded: 0, lost: 0 }
      let done = 0
      /** Bytes of the blob that is under way. */
      let [size, read, toRead] = [0, 0, 1]
      await task.advance({ done, total: await queuedBytes(backend), counts })
      await repairBlobs(backend, {
        all: true,
        begins: ({ manifest }) => {
          size = manifest.size
          read = 0
          // Repair verifies all shards, then reads as much as the blob has.
          toRead = bytesOfShards(manifest) * manifest.shards.length + size
        },
        pace: async (bytes) => {
          await pace.take(bytes, task.signal)
          read += bytes
          await task.advance({ done: done + Math.floor(size * Math.min(1, read / toRead)) })
        },
        did: async (outcome, reference) => {
          if (outcome === 'whole') counts.repaired++
          else if (outcome === 'lost') counts.lost++
          else if (outcome === 'degraded') counts.degraded++
          done += reference?.manifest.size ?? 0
          await task.advance({ done, counts: { ...counts } })
        },
      })
    },
  }
}

async function queuedBytes({ kv }: Backend): Promise<number> {
  let bytes = 0
  for await (const { key } of everyEntry(kv, repairs)) {
    bytes += (await findReference(kv, repairOwnerOf(key)))?.manifest.size ?? 0
  }
  return bytes
}
