/** The error table of the API for temporary keys: AWS STS's codes with their HTTP status. */

export const stsErrorTable = {
  AccessDenied: 403,
  ExpiredToken: 403,
  ExpiredTokenException: 400,
  IDPCommunicationError: 400,
  IDPRejectedClaim: 403,
  IncompleteSignature: 400,
  InternalFailure: 500,
  InvalidAction: 400,
  InvalidClientTokenId: 403,
  InvalidIdentityToken: 400,
  MalformedPolicyDocument: 400,
  MissingAction: 400,
  MissingAuthenticationToken: 403,
  NotImplemented: 501,
  PackedPolicyTooLarge: 400,
  ValidationError: 400,
} as const

export type StsErrorCode = keyof typeof stsErrorTable

export class StsError extends Error {
  readonly code: StsErrorCode
  readonly status: number
  /** Why access was denied: for the log, never for the client. */
  readonly reason: string | undefined

  /** `message` is sent to the client. */
  constructor(code: StsErrorCode, message: string, reason?: string) {
    super(message)
    this.name = 'StsError'
    this.code = code
    this.status = stsErrorTable[code]
    this.reason = reason
  }
}
