/** What is decided by something not being there, and cannot be undone, asks first whether all that was committed can be found. */
import { S3Error } from '../errors.ts'
import { isClean } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import type { Backend } from './backend.ts'

/** Reads and verifies all metadata, or joins a check that has yet to begin. Throws ServiceUnavailable when anything is wrong with it. */
export async function requireWholeMetadata({ kv }: Pick<Backend, 'kv'>): Promise<void> {
  if (isClean(await kv.integrity.check())) return
  throw new S3Error('ServiceUnavailable', {
    message: 'The metadata is damaged: what it does not show may be there all the same. Run holdfast scrub.',
    headers: { 'Retry-After': String(limits.retryAfterSeconds) },
  })
}
