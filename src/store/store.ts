/** What every part of the store works with. Built once by the composition root. */
import type { Clock } from '../clock.ts'
import type { KeyRing } from '../encryption/key-ring.ts'
import type { Kv } from '../kv/kv.ts'
import type { Blobs } from '../shards/blobs.ts'
import type { Threads } from '../threads/threads.ts'

export interface Store {
  kv: Kv
  blobs: Blobs
  clock: Clock
  /** Wraps the keys of encrypted objects. */
  keys: KeyRing
  /** Work on the bytes of large bodies. */
  threads: Threads
}
