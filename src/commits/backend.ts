/** Everything that verbs and jobs work with: metadata, blobs, clock, keys and threads. `opening/` builds it once. */

import type { Blobs } from '../blobs/blobs.ts'
import type { CrcAlgorithm } from '../checksums/checksums.ts'
import type { Clock, Uptime } from '../clock.ts'
import type { KeyRing } from '../encryption/key-ring.ts'
import type { Check, Kv } from '../kv/kv.ts'
import type { LockClockRecord } from '../records/records.ts'
import type { Threads } from '../threads/threads.ts'

/** The key ring as a process uses it. A command in another process can replace the ring at any time. */
export interface KeysInUse extends KeyRing {
  /** Hold until another ring replaces this one. Every commit that writes a key wrapped by the ring includes them. The same array until `refresh`. */
  readonly checks: readonly Check[]
  /** Reads the ring again after a commit with `checks` was refused. Rejects when the newer ring can't be read. */
  refresh(): Promise<void>
}

/** The ring of a backend whose metadata no other process shares: nothing can replace it. */
export function unsharedKeys(ring: KeyRing): KeysInUse {
  return { ...ring, checks: [], refresh: async () => {} }
}

/** See `FollowedLockClock`. */
export interface LockClockFollower {
  /** Milliseconds since the epoch. */
  timeAfter(mark: LockClockRecord, uptime: Uptime): number
}

/** A server elsewhere to which buckets can be copied. */
export interface ReplicationSite {
  /** Whether the operator lets this account's buckets be copied there. */
  mayUse(accountId: string): boolean
  /** Why its bucket of this name takes no copies now. `undefined`: it does. Never rejects. */
  fault(bucket: string): Promise<string | undefined>
}

export interface Backend {
  kv: Kv
  blobs: Blobs
  clock: Clock
  /** Judges the age of requests. Absent: the machine's clock does. */
  requestClock?: Clock | undefined
  /** Other processes may advance the lock clock by a clock that this one does not believe. Absent: only processes of this machine advance it. */
  lockClock?: LockClockFollower
  /** Wraps the keys of encrypted objects. */
  keys: KeysInUse
  /** Process the bytes of large bodies. */
  threads: Threads
  /** Computed for data that arrives without a checksum. It must be a CRC, because the checksums of parts are joined. Absent: none. */
  defaultChecksum?: CrcAlgorithm
  /** Names of the webhooks that buckets can tell of events. Absent: none. */
  webhooks?: ReadonlySet<string>
  /** Servers elsewhere, by name, to which buckets can be copied. Absent: none. */
  sites?: ReadonlyMap<string, ReplicationSite>
}
