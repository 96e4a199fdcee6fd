/** What every verb and job works with: metadata, blobs, clock, keys and threads. Built once, in `opening/`. */

import type { Blobs } from '../blobs/blobs.ts'
import type { CrcAlgorithm } from '../checksums/checksums.ts'
import type { Clock } from '../clock.ts'
import type { KeyRing } from '../encryption/key-ring.ts'
import type { Check, Kv } from '../kv/kv.ts'
import type { Threads } from '../threads/threads.ts'

/** The ring as a process uses it. A command in another process may replace it meanwhile. */
export interface KeysInUse extends KeyRing {
  /** They hold until another ring replaces this one. Every commit that writes a key wrapped by the ring carries them. The same array until `refresh`. */
  readonly checks: readonly Check[]
  /** Reads the ring again, after a commit with `checks` was refused. Rejects when the newer ring can't be had. */
  refresh(): Promise<void>
}

/** The keys of metadata that no other process shares. */
export function unsharedKeys(ring: KeyRing): KeysInUse {
  return { ...ring, checks: [], refresh: async () => {} }
}

export interface Backend {
  kv: Kv
  blobs: Blobs
  clock: Clock
  /** Wraps the keys of encrypted objects. */
  keys: KeysInUse
  /** Work on the bytes of large bodies. */
  threads: Threads
  /** Computed of data that comes without any. Parts have it joined, so it can only be a CRC. Absent: none. */
  defaultChecksum?: CrcAlgorithm
}
