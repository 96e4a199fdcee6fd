/** Repeats a start while the database is away, until it has been away for too long. */
import { KvUnavailable } from '../../kv/kv.ts'
import { limits } from '../../limits.ts'
import { MetadataUnreachable } from './metadata-failures.ts'
import { untilAvailable } from './until-available.ts'

/**
 * Runs `work` again from the beginning whenever the metadata can't be reached, so `work` must undo what it did before it rejects. Each run is told how much
 * patience is left. `url`: the database; absent: the metadata is in the data directory, and `work` runs once. Throws `MetadataUnreachable`.
 */
export async function patientStart<T>(url: string | undefined, work: (leftMs: number) => Promise<T>): Promise<T> {
  if (url === undefined) return work(0)
  try {
    return await untilAvailable(limits.metadataPatienceMs, work)
  } catch (error) {
    throw error instanceof KvUnavailable ? new MetadataUnreachable(url, error) : error
  }
}
