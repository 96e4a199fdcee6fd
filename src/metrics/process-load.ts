/** How busy a process is: its event loop, processors and memory. The report is plain data, so that one process can report for several. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

interface LoopDelays {
  p50: number
  p99: number
  max: number
}

export interface ProcessLoad {
  /** Delays of the event loop within the last one or two minutes, in milliseconds. */
  loopDelayMs: LoopDelays
  cpuSeconds: number
  residentBytes: number
  heapBytes: number
}

/** Coarse, because the timer runs all the time. */
const resolutionMs = 20

const perMs = 1e6

/** The delays of a window are reported until the next one has ended. */
const windowMs = 60_000

/** Measures from now on. Reports take nothing from each other: several scrapers and the console may ask. `nowMs`: milliseconds of a monotonic clock. */
export function openProcessLoad(nowMs: () => number = () => performance.now()): {
  report(): ProcessLoad
  stop(): void
} {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  let before: LoopDelays = { p50: 0, p99: 0, max: 0 }
  let beganMs = nowMs()
  // The histogram holds the whole time between two of its timers, which is the resolution at least.
  const late = (ns: number): number => (Number.isFinite(ns) ? Math.max(0, ns / perMs - resolutionMs) : 0)
  const worst = (): LoopDelays => {
    const now = { p50: late(delays.percentile(50)), p99: late(delays.percentile(99)), max: late(delays.max) }
    const found = {
      p50: Math.max(before.p50, now.p50),
      p99: Math.max(before.p99, now.p99),
      max: Math.max(before.max, now.max),
    }
    if (nowMs() - beganMs < windowMs) return found
    before = now
    beganMs = nowMs()
    delays.reset()
    return found
  }
  return {
    report: () => {
      const { user, system } = process.cpuUsage()
      const { rss, heapUsed } = process.memoryUsage()
      return { loopDelayMs: worst(), cpuSeconds: (user + system) / 1e6, residentBytes: rss, heapBytes: heapUsed }
    },
    stop: () => delays.disable(),
  }
}
