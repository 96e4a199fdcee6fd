/** How busy a process is: its event loop, processors and memory. The report is plain data, so that one process can report for several. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

export interface ProcessLoad {
  /** Delays of the event loop since the last report, in milliseconds. */
  loopDelayMs: { p50: number; p99: number; max: number }
  cpuSeconds: number
  residentBytes: number
  heapBytes: number
}

/** Coarse, because the timer runs all the time. */
const resolutionMs = 20

const perMs = 1e6

/** Measures from the call on. */
export function openProcessLoad(): { report(): ProcessLoad; stop(): void } {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  return {
    report: () => {
      // The histogram records the time between two of its timers, which is at least the resolution.
      const late = (ns: number): number => (Number.isFinite(ns) ? Math.max(0, ns / perMs - resolutionMs) : 0)
      const loopDelayMs = {
        p50: late(delays.percentile(50)),
        p99: late(delays.percentile(99)),
        max: late(delays.max),
      }
      delays.reset()
      const { user, system } = process.cpuUsage()
      const { rss, heapUsed } = process.memoryUsage()
      return { loopDelayMs, cpuSeconds: (user + system) / 1e6, residentBytes: rss, heapBytes: heapUsed }
    },
    stop: () => delays.disable(),
  }
}
