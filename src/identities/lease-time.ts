/** The clock of leases: nobody sets it, and it goes on while a process is stopped. */

export interface LeaseTime {
  nowMs(): number
  /** `ended` resolves no sooner than in `ms`, unless it is cancelled. */
  sleep(ms: number): { ended: Promise<void>; cancel(): void }
  /** Keeps no process alive. Gives what ends it. */
  every(ms: number, work: () => void): () => void
}

export const systemLeaseTime: LeaseTime = {
  nowMs: () => performance.now(),
  sleep(ms) {
    const untilMs = performance.now() + ms
    let timer: NodeJS.Timeout | undefined
    const ended = new Promise<void>((resolve) => {
      // Timers count from the beginning of a turn of the event loop, so one may end too soon.
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
