/**
 * What Object Lock promises, reasoned from AWS's documentation ("Locking objects with Object Lock", "PutObjectRetention", "DeleteObject") and from nothing
 * in this server. Time is the time that the server may believe.
 */
import type { Retention } from '../../src/records/object-attributes.ts'
import type { Lock } from './direct-client.ts'

/** "A retention period protects an object version for a fixed amount of time." */
function isRetained({ retention }: Lock, nowMs: number): boolean {
  return retention !== undefined && retention.untilMs > nowMs
}

/**
 * Whether a version may not be removed, by someone who may bypass governance and asks to, or not. "A legal hold doesn't have an associated retention period
 * and remains in effect until removed", whatever the retention. "A protected object version can't be overwritten or deleted by any user" in compliance mode;
 * in governance mode it can by who has the permission and sends the header.
 */
export function isProtected(lock: Lock, nowMs: number, bypass: boolean): boolean {
  if (lock.hold === true) return true
  return isRetained(lock, nowMs) && !(lock.retention?.mode === 'GOVERNANCE' && bypass)
}

/**
 * Whether a retention may become `next`. Compliance: "its retention mode can't be changed, and its retention period can't be shortened". Governance: "users
 * can't alter its lock settings unless they have special permissions", but "you can extend a retention period" by PutObjectRetention alone. What has expired
 * binds nobody, and a legal hold has no say in it.
 */
export function mayBecome(lock: Lock, next: Retention | undefined, nowMs: number, bypass: boolean): boolean {
  const { retention } = lock
  if (retention === undefined || !isRetained(lock, nowMs)) return true
  const onlyExtends = next?.mode === retention.mode && next.untilMs >= retention.untilMs
  return onlyExtends || (retention.mode === 'GOVERNANCE' && bypass)
}
