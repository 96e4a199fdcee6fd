/** Readers of the values that condition operators compare: numbers, times, Booleans, bytes, ARNs. `undefined`: not such a value. Pure. */

export function readNumber(text: string): number | undefined {
  return /^[+-]?\d{1,32}(?:\.\d{1,32})?$/.test(text) ? Number(text) : undefined
}

const isoTime = /^\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d))?)?)?$/

/** Milliseconds since the epoch. `text`: ISO 8601 in W3C's profile, or seconds since the epoch. Four digits are a year. */
export function readTime(text: string): number | undefined {
  if (isoTime.test(text)) {
    const ms = Date.parse(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
    return Number.isNaN(ms) ? undefined : ms
  }
  return /^-?\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) * 1000 : undefined
}

export function readBoolean(text: string): boolean | undefined {
  const lower = text.toLowerCase()
  return lower === 'true' ? true : lower === 'false' ? false : undefined
}

/** `text`: base64. */
export function readBinary(text: string): Buffer | undefined {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined
}

/** The six parts of an ARN. The last can contain colons. */
export function arnParts(text: string): readonly string[] | undefined {
  const parts = text.split(':')
  if (parts.length < 6 || parts[0] !== 'arn') return undefined
  return [...parts.slice(0, 5), parts.slice(5).join(':')]
}
