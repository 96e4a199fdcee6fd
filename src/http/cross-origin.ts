/** Requests from pages of other origins: what a browser sends with them, and how a preflight is answered. */
import { S3Error } from '../errors.ts'
import { type CrossOrigin, type CrossOriginAnswer, corsMethods } from '../operations/access/cross-origin.ts'
import { type BucketOfHost, readTarget } from './address.ts'
import { sendBytes } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { headerValue, type RequestHead } from './request-head.ts'

/** `undefined`: the request has no Origin, so nothing is looked up. Throws BadRequest for a header that is sent twice. */
export async function readCrossOrigin(
  head: RequestHead,
  bucketOfHost: BucketOfHost,
  rules: CrossOrigin,
): Promise<CrossOriginAnswer | undefined> {
  const origin = headerValue(head, 'origin')
  if (origin === undefined || origin === '') return undefined
  return rules.answerTo(readTarget(head, bucketOfHost).bucket, {
    origin,
    method: headerValue(head, requestMethod) ?? head.method,
    headers: headerValue(head, 'access-control-request-headers') ?? '',
  })
}

const requestMethod = 'access-control-request-method'

/** Methods that S3 knows, whether rules can allow them or not. */
const announcedMethods: ReadonlySet<string> = new Set([...corsMethods, 'OPTIONS', 'PATCH'])

const invalidMethod = (method: string | null): S3Error =>
  new S3Error('BadRequest', { message: `Invalid Access-Control-Request-Method: ${method}` })

/** Looks only at the address of the announced request, which will be verified when it comes. Throws AccessForbidden, BadRequest. */
export function answerPreflight(exchange: Exchange, head: RequestHead, bucketOfHost: BucketOfHost): void {
  const { crossOrigin } = exchange
  exchange.operationName = 'Preflight'
  if (crossOrigin === undefined) {
    throw new S3Error('BadRequest', { message: 'Insufficient information. Origin request header needed.' })
  }
  const method = headerValue(head, requestMethod) || undefined
  if (method !== undefined && !announcedMethods.has(method)) throw invalidMethod(method)
  // The answer is the same when the bucket does not exist, because the sender is unknown.
  if (!crossOrigin.enabled) {
    throw new S3Error('AccessForbidden', { details: { Method: method ?? head.method, ResourceType: 'BUCKET' } })
  }
  if (method === undefined) throw invalidMethod(null)
  if (crossOrigin.headers === undefined) {
    const { target } = readTarget(head, bucketOfHost)
    throw new S3Error('AccessForbidden', {
      message:
        "CORSResponse: This CORS request is not allowed. This is usually because the evalution of Origin, request method / Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.",
      details: { Method: method, ResourceType: target.toUpperCase() },
    })
  }
  sendBytes(exchange, head, 200, [], undefined)
}
