/** The search for orphans, and their way through a quarantine of no time, as one step: for tests that ask what is an orphan. */

import type { Store } from '../../src/commits/store.ts'
import { findOrphans } from '../../src/jobs/find-orphans.ts'
import { releaseOrphans } from '../../src/jobs/release-orphans.ts'

/** Resolves with how many were found; they are garbage then. */
export async function findAndRelease(store: Store, options: Parameters<typeof findOrphans>[1]): Promise<number> {
  const found = await findOrphans(store, options)
  const check = async (): Promise<void> => {
    await store.kv.integrity.check()
  }
  await releaseOrphans(store, { quarantineMs: 0, check })
  return found
}
