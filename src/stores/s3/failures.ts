/** What the errors of an S3 endpoint, and of the network on the way there, mean to a store. */
import { S3Error } from '../../errors.ts'
import { StoreFull, StoreUnreachable } from '../shard-store.ts'

/** The known fields of an error response. */
interface Refusal {
  code: string
  message: string
  status: number
}

/** `undefined` when there was no response. */
function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined
  const metadata = error.$metadata
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined
  const status = metadata.httpStatusCode
  if (typeof status !== 'number') return undefined
  return { code: error.name, message: error.message, status }
}

/** Whether the object is missing, as opposed to its bucket. */
export function isMissingObject(error: unknown): boolean {
  const refusal = refusalOf(error)
  return refusal !== undefined && (refusal.code === 'NoSuchKey' || refusal.code === 'NotFound')
}

/** Whether the object to be created already exists. */
export function isPresent(error: unknown): boolean {
  const status = refusalOf(error)?.status
  return status === 412 || status === 409
}

export function isUnsatisfiableRange(error: unknown): boolean {
  return refusalOf(error)?.status === 416
}

/** Whether the endpoint lacks the operation, or this form of it. */
export function isUnsupported(error: unknown): boolean {
  const status = refusalOf(error)?.status
  return status === 501 || status === 405 || status === 400
}

const fullCodes = ['XMinioStorageFull', 'XMinioAdminBucketQuotaExceeded', 'QuotaExceeded', 'InsufficientStorage']
const slowCodes = ['SlowDown', 'TooManyRequests', 'RequestLimitExceeded']

/**
 * The error that a caller of the store should see. It keeps only the code and the message of the response, because other details that an endpoint returns
 * about a signature must not be logged.
 */
export function endpointFailure(error: unknown): unknown {
  const refusal = refusalOf(error)
  if (refusal === undefined) return unanswered(error)
  const { code, message, status } = refusal
  if (status === 507 || fullCodes.includes(code) || isFullHoldfast(refusal)) {
    return new StoreFull(`the endpoint has no room left (${code})`)
  }
  if (status === 429 || slowCodes.includes(code)) return new S3Error('SlowDown')
  const reason = `the endpoint answers ${status} ${code}: ${message}`
  return status >= 500 ? new StoreUnreachable(reason) : new Error(reason)
}

/** Whether another Holdfast reports that it is full. S3 has no error code for this. */
function isFullHoldfast({ code, message }: Refusal): boolean {
  return code === 'ServiceUnavailable' && message.includes('no room left')
}

function unanswered(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if (error.name === 'CredentialsProviderError') return new Error(`no credentials: ${error.message}`)
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return new StoreUnreachable('the endpoint did not answer in time')
  if (!('code' in error) || typeof error.code !== 'string') return error
  return new StoreUnreachable(`the endpoint can't be reached (${error.code})`)
}
