/** Requests to an endpoint as a part of the trace of the request that they are sent for. */
import type { S3Client } from '@aws-sdk/client-s3'
import { currentSpan, ending } from '../../spans.ts'

interface Request {
  method: string
  hostname: string
  port?: number
  headers: Record<string, string>
}

/** Sends a request that is signed already, because what lies on the way may replace these headers. Their names are not secret, and their values prove nothing. */
export function tracedRequest<R extends Request, T>(request: R, send: (request: R) => Promise<T>): Promise<T> {
  const parent = currentSpan()
  if (parent === undefined) return send(request)
  const { method, hostname, port } = request
  const step = parent.begin(method, 'request', {
    'http.request.method': method,
    'server.address': hostname,
    ...(port === undefined ? {} : { 'server.port': port }),
  })
  return ending(step, send({ ...request, headers: { ...request.headers, ...step.headers } }))
}

/** The same for what the SDK sends, each attempt apart. */
export function traceRequestsOf(client: S3Client): void {
  client.middlewareStack.add(
    (next) => (sent) => {
      const { request } = sent
      return isRequest(request) ? tracedRequest(request, (traced) => next({ ...sent, request: traced })) : next(sent)
    },
    { step: 'deserialize', name: 'holdfastTrace', priority: 'low' },
  )
}

const isRequest = (request: unknown): request is Request =>
  typeof request === 'object' && request !== null && 'headers' in request && 'hostname' in request
