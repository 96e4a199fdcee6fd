/** The clock of leases. It is monotonic, and continues while a process is stopped. */

export interface LeaseTime {
  nowMs(): number
  /** `ended` resolves after at least `ms`, or never when cancelled. */
  sleep(ms: number): { ended: Promise<void>; cancel(): void }
  /** Does not keep the process alive. Returns a function that stops it. */
  every(ms: number, work: () => void): () => void
}

export const systemLeaseTime: LeaseTime = {
  nowMs: () => performance.now(),
  sleep(ms) {
    const untilMs = performance.now() + ms
    let timer: NodeJS.Timeout | undefined
    const ended = new Promise<void>((resolve) => {
      // Timers count from the start of a turn of the event loop, so one can fire too early.
      const wait = (): void => {
        const leftMs = untilMs - performance.now()
        if (leftMs <= 0) resolve()
        else timer = setTimeout(wait, leftMs)
      }
      wait()
    })
    return { ended, cancel: () => clearTimeout(timer) }
  },
  every(ms, work) {
    const timer = setInterval(work, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
}
