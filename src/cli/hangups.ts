/** SIGHUP: makes a server read its configuration again. It never ends one. */

export interface Hangups {
  /** From now on, calls `reload` for each signal, one call after the other; at once, if a signal came before. */
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
