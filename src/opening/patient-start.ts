/** The patience of a start: whatever part of it finds the database away runs again, until the database has been away for too long. */
import { setTimeout as delay } from 'node:timers/promises'
import { KvUnavailable } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { MetadataUnreachable } from './metadata-failures.ts'

/**
 * Runs `work` again from its beginning whenever the metadata can't be reached, so it must undo what it did before it rejects. Each run learns how much
 * patience is left. `url`: of the database; absent: the metadata is in the data directory, and `work` runs once. Throws `MetadataUnreachable`.
 */
export async function patientStart<T>(url: string | undefined, work: (leftMs: number) => Promise<T>): Promise<T> {
  if (url === undefined) return work(0)
  const givesUpMs = performance.now() + limits.metadataPatienceMs
  for (;;) {
    try {
      return await work(Math.max(0, givesUpMs - performance.now()))
    } catch (error) {
      if (!(error instanceof KvUnavailable)) throw error
      if (performance.now() > givesUpMs) throw new MetadataUnreachable(url, error)
      await delay(limits.metadataRetryMs)
    }
  }
}
