/** Lets some jobs run at a time and the others wait, first come, first served. */
export function takingTurns(most: number): <T>(job: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (job) => {
    if (running < most) running++
    else await new Promise<void>((go) => waiting.push(go))
    try {
      return await job()
    } finally {
      // The turn passes to the next one, or is given back.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
