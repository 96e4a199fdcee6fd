/** The search for orphans, and their way through a quarantine of no time, as one step: for tests that ask what is an orphan. */

import type { Backend } from '../../src/commits/backend.ts'
import { findOrphans } from '../../src/jobs/orphans/find-orphans.ts'
import { releaseOrphans } from '../../src/jobs/orphans/release-orphans.ts'

/** Resolves with how many were found; they are garbage then. */
export async function findAndRelease(backend: Backend, options: Parameters<typeof findOrphans>[1]): Promise<number> {
  const found = await findOrphans(backend, options)
  const check = async (): Promise<void> => {
    await backend.kv.integrity.check()
  }
  await releaseOrphans(backend, { quarantineMs: 0, check })
  return found
}
