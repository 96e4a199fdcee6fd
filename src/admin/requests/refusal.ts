/** Refusals of the admin port that neither S3 nor IAM has a code for. */

const statuses = {
  NoSuchQuota: 404,
  NoSuchStore: 404,
  NoSuchTask: 404,
  /** The request is valid, but the current state does not allow it. */
  Refused: 409,
  TooManyStreams: 503,
} as const

/** Thrown before anything has changed. The message is for the operator. */
export class AdminRefused extends Error {
  readonly code: keyof typeof statuses

  constructor(code: keyof typeof statuses, message: string) {
    super(message)
    this.name = 'AdminRefused'
    this.code = code
  }

  get status(): number {
    return statuses[this.code]
  }
}
