/** Guards decisions that rest on the absence of a record and cannot be undone: first makes sure that no committed record is hidden by damage. */
import { S3Error } from '../errors.ts'
import { isClean } from '../kv/kv.ts'
import type { Backend } from './backend.ts'

/** Reads and verifies all metadata, or joins a check that has not begun yet. Throws ServiceUnavailable when any of it is damaged. */
export async function requireWholeMetadata({ kv }: Pick<Backend, 'kv'>): Promise<void> {
  if (isClean(await kv.integrity.check())) return
  throw new S3Error('ServiceUnavailable', {
    message: 'The metadata is damaged: what it does not show may be there all the same. Run holdfast scrub.',
  })
}
