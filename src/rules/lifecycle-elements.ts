/** What several actions of a lifecycle rule can say, and S3's words where it is wrong. Pure. */
import { invalidArgument } from '../errors.ts'
import { limits } from '../limits.ts'
import type { LifecycleFilter } from '../records/lifecycle.ts'
import { dayMs } from './lifecycle.ts'
import { invalidRequest } from './rule-filter.ts'

/** Throws InvalidArgument. */
export function checkMidnight(dateMs: number): void {
  if (dateMs % dayMs === 0) return
  throw invalidArgument('Date', new Date(dateMs).toISOString(), "'Date' must be at midnight GMT")
}

/** `keeps`: how many noncurrent versions the action leaves. Throws InvalidArgument, InvalidRequest. */
export function checkKeeps(action: string, keeps: number | undefined, { form }: LifecycleFilter): void {
  if (keeps === undefined) return
  if (keeps < 1 || keeps > limits.lifecycleNewerVersionsMax) {
    const text = `'NewerNoncurrentVersions' for ${action} action must be from 1 to ${limits.lifecycleNewerVersionsMax}`
    throw invalidArgument('NewerNoncurrentVersions', String(keeps), text)
  }
  if (form === 'prefix') throw invalidRequest('NewerNoncurrentVersions element can only be used in Lifecycle V2.')
}
