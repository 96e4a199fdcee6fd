/** Parsers of the scalar values that headers, queries and XML texts carry. Each throws the S3 error a client expects. Pure. */
import { isBase64Of } from '../checksums/checksums.ts'
import { argumentWithoutValue, invalidArgument, S3Error } from '../errors.ts'

/** `name`: the client's name for the value; it goes into the error. */
export type Parser<T> = (raw: string, name: string) => T

export const text: Parser<string> = (raw) => raw

/** A decimal integer within bounds, inclusive. */
export function integer(bounds: { min: number; max?: number }): Parser<number> {
  return integerOr(bounds, (name) =>
    bounds.max === undefined
      ? `${name} must be an integer of at least ${bounds.min}.`
      : `${name} must be an integer between ${bounds.min} and ${bounds.max}, inclusive.`,
  )
}

const int32Max = 2 ** 31 - 1

/** The most entries of a page, or the number of the part that it begins behind. S3 has one text for negative numbers and one for the rest. */
export const pageNumber: Parser<number> = pageNumberOr((name, value) =>
  invalidArgument(name, String(value), `Argument ${name} must be an integer between 0 and 2147483647`),
)

/** The most keys of a page, where S3 names a negative number otherwise than any other. */
export const keysOfPage: Parser<number> = pageNumberOr((_, value) => {
  const name = 'maxKeys'
  return invalidArgument(name, String(value), `Argument ${name} must be an integer between 0 and 2147483647`)
})

/** The most versions of a page. */
export const versionsOfPage: Parser<number> = pageNumberOr((name) =>
  argumentWithoutValue(name, `${name} cannot be negative`),
)

/** The number of a part, from 1 to `max`. */
export const partNumberUpTo = (max: number): Parser<number> =>
  integerOr({ min: 1, max }, () => `Part number must be an integer between 1 and ${max}, inclusive`)

/** The most buckets of a page, from 1 to `max`. */
export const bucketsOfPage = (max: number): Parser<number> =>
  pageNumberOr(
    (name, value) => invalidArgument(name, String(value), `Argument ${name} must be an integer between 1 and ${max}`),
    { min: 1, max },
  )

function pageNumberOr(
  refuse: (name: string, value: number) => S3Error,
  bounds: { min: number; max: number } = { min: 0, max: int32Max },
): Parser<number> {
  const anyNumber = { min: -int32Max - 1, max: int32Max }
  const parse = integerOr(anyNumber, (name) => `Provided ${name} not an integer or within integer range`)
  return (raw, name) => {
    const value = parse(raw, name)
    if (value < bounds.min || value > bounds.max) throw refuse(name, value)
    return value
  }
}

function integerOr(bounds: { min: number; max?: number }, refusal: (name: string) => string): Parser<number> {
  const max = bounds.max ?? Number.MAX_SAFE_INTEGER
  return (raw, name) => {
    const value = /^-?\d{1,15}$/.test(raw) ? Number(raw) : Number.NaN
    if (value >= bounds.min && value <= max) return value
    throw invalidArgument(name, raw, refusal(name))
  }
}

/** A parameter without a value, which S3 takes for none. */
export const unlessEmpty =
  <T>(parse: Parser<T>): Parser<T | undefined> =>
  (raw, name) =>
    raw === '' ? undefined : parse(raw, name)

/** S3 reads `true` and `false` in any case. */
export const boolean: Parser<boolean> = (raw, name) => {
  const lower = raw.toLowerCase()
  if (lower === 'true') return true
  if (lower === 'false') return false
  throw invalidArgument(name, raw, `${name} must be true or false.`)
}

export function oneOf<const T extends string>(...allowed: T[]): Parser<T> {
  return oneOfOr((name) => `${name} must be one of ${allowed.join(', ')}.`, ...allowed)
}

/** `oneOf` where S3 has a text of its own for other values. */
export function oneOfOr<const T extends string>(
  refusal: string | ((name: string, raw: string) => string),
  ...allowed: T[]
): Parser<T> {
  return (raw, name) => {
    const found = allowed.find((value) => value === raw)
    if (found !== undefined) return found
    throw invalidArgument(name, raw, typeof refusal === 'string' ? refusal : refusal(name, raw))
  }
}

/** How keys are written in a listing: `url` in any case, which S3 repeats as it was sent. */
export const encodingMethod: Parser<string> = (raw, name) => {
  if (raw.toLowerCase() === 'url') return raw
  throw invalidArgument(name, raw, 'Invalid Encoding Method specified in Request')
}

/** Milliseconds since the epoch of an HTTP date; `undefined` for an invalid one, which RFC 9110 says to ignore. */
export const lenientHttpDate: Parser<number | undefined> = (raw) => {
  const ms = Date.parse(raw)
  return Number.isNaN(ms) ? undefined : ms
}

/** Milliseconds since the epoch of an HTTP date in the form that RFC 9110 prescribes for senders. Throws InvalidArgument for anything else. */
export const httpDate: Parser<number> = (raw, name) => {
  const ms = httpInstant(raw)
  if (ms !== undefined) return ms
  throw invalidArgument(name, raw, `${name} must be a date of the form ${new Date(0).toUTCString()}.`)
}

/** Milliseconds since the epoch of an HTTP date; `undefined` for an invalid one, such as the 31st of February or a wrong day of the week. */
export function httpInstant(raw: string): number | undefined {
  const ms = Date.parse(raw)
  return Number.isNaN(ms) || new Date(ms).toUTCString() !== raw ? undefined : ms
}

const isoForm = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/

/** Milliseconds since the epoch of an ISO 8601 date and time with a zone, because without one the time would depend on the machine. `undefined` for anything else. */
export function isoInstant(raw: string): number | undefined {
  const day = isoForm.exec(raw)?.[1]
  return day === undefined || !isDay(day) || Number.isNaN(Date.parse(raw)) ? undefined : Date.parse(raw)
}

/** False for the 31st of February, which `Date` takes for the 2nd or 3rd of March. */
function isDay(day: string): boolean {
  const ms = Date.parse(day)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day)
}

/** Base64 of an MD5, kept as text. Anything else is InvalidDigest. */
export const md5Digest: Parser<string> = (raw) => {
  if (isBase64Of(16, raw)) return raw
  throw new S3Error('InvalidDigest', { details: { 'Content-MD5': raw } })
}
