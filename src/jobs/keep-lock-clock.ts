/** Advances the lock clock often, for processes on other hosts that follow it: one that starts can lag by as much as the mark is old. */
import type { Backend } from '../commits/backend.ts'
import { advanceLockClock } from '../commits/lock-clock.ts'
import { KvUnavailable } from '../kv/kv.ts'
import { limits } from '../limits.ts'

interface KeepOptions {
  backend: Backend
  onError(error: unknown): void
}

export function keepLockClockAdvancing({ backend, onError }: KeepOptions): { stop(): Promise<void> } {
  let advancing: Promise<void> | undefined
  const timer = setInterval(() => {
    advancing ??= advanceLockClock(backend)
      .catch((error: unknown) => {
        if (!(error instanceof KvUnavailable)) onError(error)
      })
      .finally(() => {
        advancing = undefined
      })
  }, limits.lockClockFollowedMs)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await advancing
    },
  }
}
