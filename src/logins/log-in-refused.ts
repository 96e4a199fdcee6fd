/** Refusals of log-ins and of browser sessions. */

const statuses = {
  LogInFailed: 403,
  TooManyLogIns: 429,
  /** There is no such session, or it has ended. The browser asks its user to log in again. */
  SessionEnded: 401,
  /** The request may come from a page of another origin. */
  ForeignRequest: 403,
  /** The Host header is none of this server's names. */
  UnknownHost: 421,
  NoSuchProvider: 404,
  ProviderFailed: 502,
} as const

export class LogInRefused extends Error {
  readonly code: keyof typeof statuses
  readonly retryAfterSeconds: number | undefined
  /** The reason, for the log only. Clients don't see it. */
  readonly reason: string | undefined

  constructor(
    code: keyof typeof statuses,
    message: string,
    { retryAfterSeconds, reason }: { retryAfterSeconds?: number; reason?: string } = {},
  ) {
    super(message)
    this.name = 'LogInRefused'
    this.code = code
    this.retryAfterSeconds = retryAfterSeconds
    this.reason = reason
  }

  get status(): number {
    return statuses[this.code]
  }
}

/** A browser comes back from an issuer without what the log-in left in it. */
export const notBegun = (): LogInRefused =>
  new LogInRefused('LogInFailed', 'The log-in was not begun in this browser, or took too long. Begin again.')
