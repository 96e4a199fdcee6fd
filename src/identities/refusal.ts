/** What a verb answers that can't do what it is asked: the codes of IAM, with a message for the operator. */

/** HTTP status codes, as IAM has them. */
export const refusalStatus = {
  EntityAlreadyExists: 409,
  NoSuchEntity: 404,
  /** Something still depends on it. */
  DeleteConflict: 409,
  /** The configuration declares it, or it is built in: no verb changes it. */
  UnmodifiableEntity: 400,
  InvalidInput: 400,
  MalformedPolicyDocument: 400,
  LimitExceeded: 409,
} as const

export type RefusalCode = keyof typeof refusalStatus

/** Nothing has changed. */
export class IdentityRefused extends Error {
  readonly code: RefusalCode

  constructor(code: RefusalCode, message: string) {
    super(message)
    this.name = 'IdentityRefused'
    this.code = code
  }

  get status(): number {
    return refusalStatus[this.code]
  }
}
