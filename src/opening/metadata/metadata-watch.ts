/** Watches whether the metadata's database answers, for health checks. When that changes, it tells the operator once, so that requests and jobs need not. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Kv } from '../../kv/kv.ts'
import { packKey } from '../../kv/ordered-key.ts'
import { limits } from '../../limits.ts'
import { unreachableReason } from './metadata-failures.ts'

export interface MetadataWatch {
  /** Whether the database answered when it was last asked. */
  answers(): boolean
  stop(): Promise<void>
}

export interface WatchLog {
  warn(message: string): void
}

/** The key does not matter: only whether an answer comes. */
const askedKey = packKey('s', 'metadata-id')

export function watchMetadata(kv: Pick<Kv, 'get'>, log: WatchLog): MetadataWatch {
  const stopping = new AbortController()
  let downSinceMs: number | undefined
  const ask = async (): Promise<void> => {
    try {
      await kv.get([askedKey])
      if (downSinceMs === undefined || stopping.signal.aborted) return
      const seconds = Math.round((performance.now() - downSinceMs) / 1000)
      log.warn(`the metadata database answers again, after ${seconds} s`)
      downSinceMs = undefined
    } catch (error) {
      if (downSinceMs !== undefined || stopping.signal.aborted) return
      log.warn(`requests are refused until the metadata database answers: ${unreachableReason(error)}`)
      downSinceMs = performance.now()
    }
  }
  const asking = (async () => {
    while (!stopping.signal.aborted) {
      await ask()
      await delay(limits.metadataLookMs, undefined, { ref: false, signal: stopping.signal }).catch(() => {})
    }
  })()
  return {
    answers: () => downSinceMs === undefined,
    stop: async () => {
      stopping.abort()
      await asking
    },
  }
}
