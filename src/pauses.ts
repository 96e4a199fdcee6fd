/** Pauses of work that may compute for long: between its steps, other requests get their turn. */
import { setImmediate as nextTurn } from 'node:timers/promises'

const busyMsMax = 10

/** Returns what is called between two steps of one work. It returns a promise to wait for when the steps since the last pause took long. */
export function pauses(): () => Promise<void> | undefined {
  let sinceMs = performance.now()
  const pause = async (): Promise<void> => {
    await nextTurn()
    sinceMs = performance.now()
  }
  return () => (performance.now() - sinceMs < busyMsMax ? undefined : pause())
}
