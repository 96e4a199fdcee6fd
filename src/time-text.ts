/** Times as text: ISO 8601 in documents, HTTP dates in headers. A page of a listing has a thousand, so the platform formats only the day. Pure. */

const dayMs = 24 * 60 * 60 * 1000

/** `2026-11-21T07:31:02.005Z`, from milliseconds since the epoch. Throws RangeError as `Date` does. */
export function isoTime(ms: number): string {
  const whole = Math.trunc(ms)
  // Not by `%`: the remainder of a number of more than 31 bits takes as long as everything else.
  const secondMs = Math.floor(whole / 1000) * 1000
  return isoSeconds.textOf(secondMs) + thousandths[whole - secondMs]
}

/** `Sat, 21 Nov 2026 07:31:02 GMT`: RFC 9110 section 5.6.7. */
export function httpDate(ms: number): string {
  const whole = Math.trunc(ms)
  const ofDay = msOfDay(whole)
  return `${httpDays.textOf(whole - ofDay)}${clockTime(ofDay)} GMT`
}

/** Remembers the text of the last day, or the last second. */
class LastText {
  readonly #format: (startMs: number) => string
  #startMs = Number.NaN
  #text = ''

  constructor(format: (startMs: number) => string) {
    this.#format = format
  }

  textOf(startMs: number): string {
    if (startMs !== this.#startMs) {
      this.#text = this.#format(startMs)
      this.#startMs = startMs
    }
    return this.#text
  }
}

const midnight = '00:00:00'
const isoDays = new LastText((dayMs) => new Date(dayMs).toISOString().slice(0, -`${midnight}.000Z`.length))
const httpDays = new LastText((dayMs) => new Date(dayMs).toUTCString().slice(0, -`${midnight} GMT`.length))
/** Objects that were written in the same second are often listed together. */
const isoSeconds = new LastText((secondMs) => {
  const ofDay = msOfDay(secondMs)
  return isoDays.textOf(secondMs - ofDay) + clockTime(ofDay)
})
const thousandths = Array.from({ length: 1000 }, (_, n) => `.${String(n).padStart(3, '0')}Z`)

/** Correct before the epoch, too, where `%` alone would be negative. */
const msOfDay = (ms: number): number => ((ms % dayMs) + dayMs) % dayMs

const twoDigits = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'))

function clockTime(msOfDay: number): string {
  const seconds = Math.floor(msOfDay / 1000)
  const minutes = Math.floor(seconds / 60)
  return `${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}`
}
