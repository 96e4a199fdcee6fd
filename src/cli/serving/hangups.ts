/** SIGHUP makes a server read its configuration again. It never ends the process. */

export interface Hangups {
  /** Calls `reload` for each signal from now on, one call at a time. Calls it at once if a signal came earlier. */
  handle(reload: () => Promise<void>): void
}

export function watchHangups(): Hangups {
  let isDue = false
  let reload: (() => Promise<void>) | undefined
  let isReloading = false

  const look = async (): Promise<void> => {
    if (isReloading) return
    isReloading = true
    while (isDue && reload !== undefined) {
      isDue = false
      await reload()
    }
    isReloading = false
  }
  process.on('SIGHUP', () => {
    isDue = true
    void look()
  })
  return {
    handle: (asked) => {
      reload = asked
      void look()
    },
  }
}
