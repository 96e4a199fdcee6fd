/** What every part of the store works with. Built once by the composition root. */

import type { Blobs } from '../blobs/blobs.ts'
import type { CrcAlgorithm } from '../checksums/checksums.ts'
import type { Clock } from '../clock.ts'
import type { KeyRing } from '../encryption/key-ring.ts'
import type { Check, Kv } from '../kv/kv.ts'
import type { Threads } from '../threads/threads.ts'

/** The ring as a process uses it, while a command beside it may replace it. */
export interface KeysInUse extends KeyRing {
  /** Hold while no other ring has taken this one's place. Each commit that writes a key wrapped by the ring has them. The same array until `refresh`. */
  readonly checks: readonly Check[]
  /** Reads the ring again: a commit with `checks` was refused. Rejects when the newer ring is not to be had. */
  refresh(): Promise<void>
}

/** The keys of a store that no other process shares. */
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
