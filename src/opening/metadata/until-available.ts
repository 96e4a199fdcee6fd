/** Repeats work while the metadata is away, until it has been away for too long. */
import { setTimeout as delay } from 'node:timers/promises'
import { KvUnavailable } from '../../kv/kv.ts'
import { limits } from '../../limits.ts'

/** Each run of `work` is told how much patience is left. Rejects with the last `KvUnavailable` when that is used up, and with any other error at once. */
export async function untilAvailable<T>(patienceMs: number, work: (leftMs: number) => Promise<T>): Promise<T> {
  const givesUpMs = performance.now() + patienceMs
  for (;;) {
    try {
      return await work(Math.max(0, givesUpMs - performance.now()))
    } catch (error) {
      if (!(error instanceof KvUnavailable) || performance.now() > givesUpMs) throw error
      await delay(limits.metadataRetryMs)
    }
  }
}
