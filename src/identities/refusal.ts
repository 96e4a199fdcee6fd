/** The refusals of verbs: IAM's error codes, with a message for the operator. */

/** IAM's HTTP status codes. */
export const refusalStatus = {
  EntityAlreadyExists: 409,
  NoSuchEntity: 404,
  /** Something still depends on the entity. */
  DeleteConflict: 409,
  /** The configuration declares the entity, or it is built in, so no verb changes it. */
  UnmodifiableEntity: 400,
  InvalidInput: 400,
  MalformedPolicyDocument: 400,
  LimitExceeded: 409,
} as const

export type RefusalCode = keyof typeof refusalStatus

/** Thrown before anything has changed. */
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
