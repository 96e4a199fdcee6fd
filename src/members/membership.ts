/**
 * What a process is while it shares metadata with others: a member with a lease. One member at a time is the maintainer (ADR 0043).
 *
 * A server has two backends. Requests use `Membership.kv`, jobs use `Post.kv`. Both use `Membership.clock`, and follow the lock clock (`FollowedLockClock`), which jobs
 * advance (`isLockClockFollowed`).
 */
import type { Clock } from '../clock.ts'
import type { Kv } from '../kv/kv.ts'

/** Names a process in marks of batches. 32 hex digits, never used twice. */
export type MemberId = string

export type MemberKind = 'server' | 'worker' | 'command'

export interface Membership {
  readonly id: MemberId
  /**
   * The shared metadata. Every commit also checks the member's fence, and rejects with `KvUnavailable` once the lease is over by this process's own monotonic clock.
   * When the fence is gone, another member has declared this one dead: nothing is written, and `onFatal` ends the process.
   */
  readonly kv: Kv
  /** The clock of the database, carried on by this process's monotonic clock. All members agree on it to within a fraction of a second. */
  readonly clock: Clock
  /** The clock by which the age of requests is judged: this host's, unless more hosts agree with the database's. */
  readonly requestClock: Clock
  /** Resolves with whether that process can never commit again. Also for ids that were never members. */
  isGone(member: MemberId): Promise<boolean>
  /**
   * Calls `start` each time this process becomes the maintainer. Stops what it returned when the post is lost, given up, or the member leaves; until `stop` has resolved, the post is
   * kept, so that progress can be saved. When `start` or `stop` fails, the post is given up, and this process waits for a lease before it takes it again. `start` must not use
   * `Membership.kv`. Returns a function that gives up the post and stops.
   */
  maintain(start: (post: Post) => Promise<Maintenance>): () => Promise<void>
  /** Gives up the post, stops writing, and removes the member's records. Never rejects: without the database, other members remove them later. */
  leave(): Promise<void>
}

/** The post of the maintainer, as its holder sees it. */
export interface Post {
  /** Its fencing number: greater than that of every earlier holder. */
  readonly number: number
  /** Every commit also checks that this process still holds the post under this number. */
  readonly kv: Kv
  /** Throws once the post may be another's, by this process's own monotonic clock. Call it before each maintenance write to a store. */
  assertHeld(): void
}

export interface Maintenance {
  stop(): Promise<void>
}
