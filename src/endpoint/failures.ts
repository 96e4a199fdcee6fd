/** What can go wrong with an S3 endpoint elsewhere. */
import type { IncomingHttpHeaders } from 'node:http'
import { connectionFailure } from '../connection-failure.ts'

/** What was asked of other endpoints can't be done. The message says why, to people. */
export class TransferFailed extends Error {}

interface Refusal {
  /** The origin of the endpoint. */
  at: string
  asked: { method: string; bucket?: string; key?: string; query?: Readonly<Record<string, string | undefined>> }
  status: number
  code: string | undefined
  message: string | undefined
  headers: IncomingHttpHeaders
}

/** The endpoint answered with an error. The message says what it was asked for. */
export class EndpointRefused extends TransferFailed {
  readonly status: number
  /** S3's name of the error. Absent: the answer had none, as those to HEAD. */
  readonly code: string | undefined
  readonly headers: IncomingHttpHeaders

  constructor({ at, asked, status, code, message, headers }: Refusal) {
    const { method, bucket, key, query = {} } = asked
    const detail = Object.keys(query).find((name) => query[name] !== undefined)
    const what = [bucket, key].filter((name) => name !== undefined).join('/')
    const said = [code ?? `status ${status}`, ...(message === undefined ? [] : [message])].join(': ')
    super(`${at}: ${method} ${what === '' ? '/' : what}${detail === undefined ? '' : `?${detail}`}: ${said}`)
    this.name = 'EndpointRefused'
    this.status = status
    this.code = code
    this.headers = headers
  }
}

/** The endpoint can't be reached, or broke off. */
export class EndpointUnreachable extends TransferFailed {
  constructor(at: string, cause: unknown) {
    super(`${at}: ${connectionFailure(cause, { isSecure: at.startsWith('https:') })}`, { cause })
    this.name = 'EndpointUnreachable'
  }
}

const transientStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504])
const transientCodes: ReadonlySet<string | undefined> = new Set([
  'InternalError',
  'RequestTimeout',
  'SlowDown',
  'ConditionalRequestConflict',
])

/** Whether the same request can succeed a little later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof EndpointUnreachable) return true
  return error instanceof EndpointRefused && (transientStatuses.has(error.status) || transientCodes.has(error.code))
}
