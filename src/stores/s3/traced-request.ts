/** Makes requests to an endpoint part of the trace of the request that needs them. */
import type { S3Client } from '@aws-sdk/client-s3'
import { currentSpan, ending } from '../../spans.ts'

interface Request {
  method: string
  hostname: string
  port?: number
  headers: Record<string, string>
}

/** Sends a request that is already signed. The trace's headers are not signed, because proxies may replace them. They are not secret, and their values prove nothing. */
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

/** The same for requests of the SDK. Each attempt is a request of its own. */
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
