/** How a request says who sent it, and which requests without a signature an operation admits. */
import { claimsSignature } from '../auth/verify.ts'
import type { Authentication, Operation } from '../contract/operation.ts'
import { S3Error } from '../errors.ts'
import type { RequestHead } from './request-head.ts'

export type Proof = 'signature' | 'form' | 'none'

const unsignedProofs: Record<Authentication, Proof | undefined> = {
  signed: undefined,
  'anonymous allowed': 'none',
  form: 'form',
}

/** Throws InvalidURI when the query can't be read. */
export function proofOf(head: RequestHead): Proof {
  if (isFormPost(head)) return 'form'
  return claimsSignature(head.names, head.rawQuery) ? 'signature' : 'none'
}

/** A browser's form holds its own signature, so there is none in headers or query. */
function isFormPost({ method, names, rawHeaders, rawQuery }: RequestHead): boolean {
  if (method !== 'POST' || rawQuery !== '' || names.includes('authorization')) return false
  const contentType = rawHeaders[2 * names.indexOf('content-type') + 1]
  return names.includes('content-type') && /^multipart\/form-data\b/i.test(contentType ?? '')
}

/** Whether an operation is run for it. What is in a bucket may be open to all: there the bucket decides, which the operation must reach. */
export function admits(
  operation: Pick<Operation<never>, 'authentication' | 'implemented' | 'errors'>,
  proof: Proof,
): boolean {
  const { authentication, implemented, errors } = operation
  if (unsignedProofs[authentication] === proof) return true
  return authentication === 'signed' && proof === 'none' && implemented && errors.includes('NoSuchBucket')
}

/** Says nothing of what was asked for: no answer may depend on what an unverified request asks for. */
export function refusalOfUnsigned(): S3Error {
  return new S3Error('AccessDenied')
}

/** Whoever signs the request itself sends no form, or one that is signed twice. S3 has this code for what is no form. */
export function notAForm(): S3Error {
  const condition = 'Bucket POST must be of the enclosure-type multipart/form-data'
  return new S3Error('PreconditionFailed', {
    message: `At least one of the preconditions that you specified did not hold: ${condition}, and signed in the form alone.`,
    details: { Condition: condition },
  })
}
