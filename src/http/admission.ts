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
function isFormPost(head: RequestHead): boolean {
  return head.method === 'POST' && head.rawQuery === '' && !head.names.includes('authorization') && hasFormType(head)
}

function hasFormType({ names, rawHeaders }: RequestHead): boolean {
  const contentType = rawHeaders[2 * names.indexOf('content-type') + 1]
  return names.includes('content-type') && /^multipart\/form-data\b/i.test(contentType ?? '')
}

/** Whether the operation runs for such a request. A bucket can be public, so unsigned requests for what is in one are admitted: the bucket decides. */
export function admits(
  operation: Pick<Operation<never>, 'authentication' | 'implemented' | 'errors'>,
  proof: Proof,
): boolean {
  const { authentication, implemented, errors } = operation
  if (unsignedProofs[authentication] === proof) return true
  return authentication === 'signed' && proof === 'none' && implemented && errors.includes('NoSuchBucket')
}

/** Reveals nothing, because no answer may depend on what an unverified request asks for. */
export function refusalOfUnsigned(): S3Error {
  return new S3Error('AccessDenied')
}

/** For a request to an operation that takes forms: it is not a form, is signed twice, or has a query. These are S3's codes for that. */
export function notAForm(head: RequestHead): S3Error {
  if (head.rawQuery !== '' && hasFormType(head)) {
    return new S3Error('InvalidArgument', { message: 'Query String Parameters not allowed on POST requests.' })
  }
  const condition = 'Bucket POST must be of the enclosure-type multipart/form-data'
  return new S3Error('PreconditionFailed', {
    message: `At least one of the pre-conditions you specified did not hold: ${condition}, and signed in the form alone.`,
    details: { Condition: condition },
  })
}
