/** The errors that can answer a request whatever operation it asks for. An operation's declaration adds its own. Pure. */
import type { ErrorCode } from '../errors.ts'
import type { DeclaredOperation } from './support-table.ts'

/** Errors of one cause, which any request with that cause can meet. */
export interface ErrorCause {
  /** Which requests: `any request` and what narrows it. */
  of: string
  why: string
  codes: readonly ErrorCode[]
  meets(operation: DeclaredOperation): boolean
}

const everyOperation = (): boolean => true

export const errorCauses: readonly ErrorCause[] = [
  {
    of: 'any request',
    why: 'authentication and permission',
    codes: [
      'AccessDenied',
      'AuthorizationHeaderMalformed',
      'AuthorizationQueryParametersError',
      'ExpiredToken',
      'InvalidAccessKeyId',
      'InvalidToken',
      'RequestTimeTooSkewed',
      'SignatureDoesNotMatch',
    ],
    meets: everyOperation,
  },
  {
    of: 'any request',
    why: 'addressing and routing',
    codes: ['AccessForbidden', 'InvalidBucketName', 'InvalidURI', 'KeyTooLongError', 'MethodNotAllowed'],
    meets: everyOperation,
  },
  {
    of: 'any request',
    why: 'headers and parameters that are malformed, that contradict each other, or that are refused by name',
    codes: ['BadRequest', 'InvalidArgument', 'InvalidRequest', 'NotImplemented', 'RequestHeaderSectionTooLarge'],
    meets: everyOperation,
  },
  {
    of: 'any request',
    why: 'overload, and failures inside the server',
    codes: ['InternalError', 'OperationAborted', 'RequestTimeout', 'ServiceUnavailable', 'SlowDown'],
    meets: everyOperation,
  },
  {
    of: 'any request',
    why: 'a digest that does not match the body, or an absent body',
    codes: ['BadDigest', 'InvalidDigest'],
    meets: everyOperation,
  },
  {
    of: 'any request with a body',
    why: 'a body that breaks off, or is not what its signature says',
    codes: [
      'EntityTooLarge',
      'IncompleteBody',
      'InvalidChunkSizeError',
      'MalformedTrailerError',
      'MissingContentLength',
      'XAmzContentSHA256Mismatch',
    ],
    meets: ({ inputBody }) => inputBody.kind !== 'none',
  },
  {
    of: 'any request with an XML document',
    why: 'a document that is malformed',
    codes: ['MalformedXML'],
    meets: ({ inputBody }) => inputBody.kind === 'xml',
  },
  {
    of: 'any request with a document',
    why: 'a document that is too long',
    codes: ['MaxMessageLengthExceeded'],
    meets: ({ inputBody }) => inputBody.kind === 'xml' || inputBody.kind === 'json',
  },
  {
    of: 'any request that needs a document',
    why: 'there is none',
    codes: ['MissingRequestBodyError'],
    meets: ({ inputBody }) => inputBody.kind === 'xml' || inputBody.kind === 'json',
  },
  {
    of: 'any request that asks for encryption',
    why: 'a method or a key that does not exist',
    codes: ['InvalidEncryptionAlgorithmError', 'KMS.NotFoundException'],
    meets: ({ input }) => Object.values(input).some(({ name }) => name.startsWith('server-side-encryption')),
  },
]

/** The codes that an operation adds: the errors that it declares, and those for values that it refuses. */
export function ownCodesOf({ errors, input }: DeclaredOperation): ReadonlySet<ErrorCode> {
  const refusals = Object.values(input).flatMap(({ support }) => support.refusal ?? [])
  return new Set([...errors, ...refusals])
}

/** Every code that can answer an operation. */
export function codesOf(operation: DeclaredOperation): ReadonlySet<ErrorCode> {
  const met = errorCauses.filter(({ meets }) => meets(operation))
  return new Set([...ownCodesOf(operation), ...met.flatMap(({ codes }) => codes)])
}

/** The codes that can answer a request before its operation is known. */
export const codesOfAnyRequest: ReadonlySet<ErrorCode> = new Set(
  errorCauses.flatMap(({ of, codes }) => (of === 'any request' ? codes : [])),
)
