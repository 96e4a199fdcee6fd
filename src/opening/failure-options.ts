/** What a test asks of `Server.fail`, and its check. */
import { ConfigurationError } from '../config/configuration-error.ts'
import { didYouMean } from '../config/suggestion.ts'
import { type ErrorCode, errorTable } from '../errors.ts'
import type { FailurePlan, HowItFails } from '../http/planned-failures.ts'
import { operations } from '../operations/table.ts'

/** Requests that are to fail, and how. One of `error`, `disconnect`, `truncateAt` and `corruptAt`, or `delayMs`, or both. */
export interface FailureOptions {
  /** Names of S3 operations, such as `PutObject`. Default: any. */
  operation?: string | readonly string[]
  /** Default: any. */
  bucket?: string
  /** Default: any. */
  key?: string | RegExp
  /** Requests of this kind that are served before. Default: 0. */
  skip?: number
  /** How many fail then. `Infinity`: all, until `end`. Default: 1. */
  times?: number
  /** The code of an S3 error, such as `SlowDown`. The request is refused with it, and nothing is done. */
  error?: string
  /** Closes the connection without an answer: `before` the request is carried out, or `after` it, so that the client never learns that it was. */
  disconnect?: 'before' | 'after'
  /** Closes the connection when so many bytes of the answer's body are sent. */
  truncateAt?: number
  /** The byte of the answer's body at this offset is another one. */
  corruptAt?: number
  /** Waits so long before anything is done. */
  delayMs?: number
}

/** A failure that a test has planned. It ends with its `using` scope, too. */
export interface Failure extends Disposable {
  /** How many requests have failed by it. */
  readonly met: number
  /** No further request fails by it. */
  end(): void
}

const known: Record<keyof FailureOptions, true> = {
  operation: true,
  bucket: true,
  key: true,
  skip: true,
  times: true,
  error: true,
  disconnect: true,
  truncateAt: true,
  corruptAt: true,
  delayMs: true,
}

/** Throws `ConfigurationError`. */
export function failurePlan(options: FailureOptions): FailurePlan {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name))
  if (unknown !== undefined) {
    throw new ConfigurationError(`fail: there is no ${unknown}${didYouMean(unknown, Object.keys(known))}`)
  }
  const { operation, bucket, key, skip = 0, times = 1, delayMs = 0 } = options
  if (times !== Number.POSITIVE_INFINITY) checkCount('times', times)
  checkCount('skip', skip)
  checkCount('delayMs', delayMs)
  return {
    requests: { operations: operation === undefined ? undefined : operationsIn(operation), bucket, key },
    how: howOf(options),
    delayMs,
    skipped: skip,
    times,
  }
}

function operationsIn(asked: string | readonly string[]): ReadonlySet<string> {
  const names = operations.map(({ name }) => name)
  const wanted = typeof asked === 'string' ? [asked] : asked
  for (const name of wanted) {
    if (!names.includes(name))
      throw new ConfigurationError(`fail: no operation is named ${name}${didYouMean(name, names)}`)
  }
  return new Set(wanted)
}

function howOf({ error, disconnect, truncateAt, corruptAt, delayMs }: FailureOptions): HowItFails {
  const ways: HowItFails[] = []
  if (error !== undefined) ways.push({ kind: 'error', code: errorCode(error) })
  if (disconnect !== undefined) ways.push({ kind: closing(disconnect) })
  if (truncateAt !== undefined) ways.push({ kind: 'truncated', at: checkCount('truncateAt', truncateAt) })
  if (corruptAt !== undefined) ways.push({ kind: 'corrupted', at: checkCount('corruptAt', corruptAt) })
  if (ways.length === 0 && delayMs !== undefined) return { kind: 'late' }
  const [way] = ways
  if (way !== undefined && ways.length === 1) return way
  throw new ConfigurationError('fail: expects one of error, disconnect, truncateAt and corruptAt, or delayMs')
}

function closing(disconnect: 'before' | 'after'): 'closed before' | 'closed after' {
  if (disconnect === 'before') return 'closed before'
  if (disconnect === 'after') return 'closed after'
  throw new ConfigurationError(`fail: disconnect expects 'before' or 'after', not '${String(disconnect)}'`)
}

function errorCode(code: string): ErrorCode {
  const codes = Object.keys(errorTable)
  if (isErrorCode(code)) return code
  throw new ConfigurationError(`fail: no error has the code ${code}${didYouMean(code, codes)}`)
}

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorTable, code)

function checkCount(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new ConfigurationError(`fail: ${name} expects a whole number that is not negative, not ${value}`)
}
