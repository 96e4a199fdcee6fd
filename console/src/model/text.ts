/** Sizes, times and counts as people read them. Pure. */

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const power = Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${units[power]}`
}

const whole = new Intl.NumberFormat()
export const countText = (count: number): string => whole.format(count)

const times = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** `''` for a value that is no time. */
export function timeText(time: string | number): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? '' : times.format(date)
}

export const percentText = (part: number, all: number): string =>
  all <= 0 ? '0 %' : `${Math.floor((100 * part) / all)} %`

/** The last part of a key: `b/` of `a/b/`, `c` of `a/b/c`. */
export const lastName = (key: string): string => /[^/]*\/?$/.exec(key)?.[0] ?? key

/** Why something failed, in words. */
export const failureText = (error: unknown): string => {
  if (error instanceof TypeError) return 'The server cannot be reached.'
  return error instanceof Error ? error.message : String(error)
}
