/** The parameters of a request for temporary keys, read and checked as AWS STS checks them. Pure. */
import { StsError } from './sts-error.ts'

/** Values by parameter name. */
export type Parameters = ReadonlyMap<string, string>

/** Throws ValidationError when a parameter comes twice: two readers could each take a different one. */
export function onceEach(sent: Iterable<readonly [name: string, value: string]>): Parameters {
  const parameters = new Map<string, string>()
  for (const [name, value] of sent) {
    if (parameters.has(name)) throw new StsError('ValidationError', `${name} was sent more than once.`)
    parameters.set(name, value)
  }
  return parameters
}

/** `undefined`: it was not sent, or is empty. Some clients send parameters empty that they don't use. */
export function optionalText(parameters: Parameters, name: string): string | undefined {
  return parameters.get(name) || undefined
}

export function requiredText(parameters: Parameters, name: string): string {
  const value = optionalText(parameters, name)
  if (value === undefined) throw violation('null', name, 'Member must not be null')
  return value
}

export function checkLength(name: string, value: string, charsMin: number, charsMax: number): string {
  if (value.length < charsMin)
    throw violation(value, name, `Member must have length greater than or equal to ${charsMin}`)
  // The message leaves the value out, because it is long.
  if (value.length > charsMax) throw violation('', name, `Member must have length less than or equal to ${charsMax}`)
  return value
}

export function checkPattern(name: string, value: string, pattern: RegExp): string {
  if (pattern.test(value)) return value
  throw violation(value, name, `Member must satisfy regular expression pattern: ${pattern.source}`)
}

export interface SecondsRange {
  min: number
  max: number
  initial: number
}

/** Reads DurationSeconds. Throws ValidationError. */
export function readDuration(parameters: Parameters, { min, max, initial }: SecondsRange): number {
  const name = 'DurationSeconds'
  const text = optionalText(parameters, name)
  if (text === undefined) return initial
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(seconds)) throw violation(text, name, 'Member must be a number of seconds')
  if (seconds < min) throw violation(text, name, `Member must have value greater than or equal to ${min}`)
  if (seconds > max) throw violation(text, name, `Member must have value less than or equal to ${max}`)
  return seconds
}

/** Throws NotImplemented for parameters that the server would not enforce. Matches lists too, which are sent as `Tags.member.1.Key`. */
export function refuseParameters(parameters: Parameters, refused: readonly string[]): void {
  for (const [name, value] of parameters) {
    const head = name.split('.')[0] ?? name
    if (value !== '' && refused.includes(head)) {
      throw new StsError('NotImplemented', `${head} is not implemented by this server.`)
    }
  }
}

function violation(value: string, name: string, constraint: string): StsError {
  const field = name.charAt(0).toLowerCase() + name.slice(1)
  return new StsError(
    'ValidationError',
    `1 validation error detected: Value '${value}' at '${field}' failed to satisfy constraint: ${constraint}`,
  )
}
