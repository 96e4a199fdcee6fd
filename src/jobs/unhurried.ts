/** A reader of the metadata for long counts in the background: it leaves most of the time to other work. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Kv } from '../kv/kv.ts'
import { limits } from '../limits.ts'

export type RangeReader = Pick<Kv, 'range'>

/**
 * For one walk at a time. Before each page it pauses in proportion to the time since the page before, so that what the walk makes of a page is counted, too. Rejects
 * when the signal is aborted.
 */
export function unhurried(kv: RangeReader, signal: AbortSignal): RangeReader {
  let beganMs: number | undefined
  return {
    range: async (query) => {
      const { countIdleShare } = limits
      if (beganMs !== undefined) {
        const idleMs = ((performance.now() - beganMs) * countIdleShare) / (1 - countIdleShare)
        await delay(idleMs, undefined, { signal })
      }
      beganMs = performance.now()
      return kv.range(query)
    },
  }
}
