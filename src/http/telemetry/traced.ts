/** Spans of requests: begun before the pipeline, and ended when the answer is with the connection, with the attributes of OpenTelemetry's conventions. */
import type { Clock } from '../../clock.ts'
import { passedTrace, type Span, type SpanAttributes, serveWithin, type Traces } from '../../spans.ts'
import { parseTraceParent, passableState, type TraceParent } from '../../trace-parent.ts'
import type { Exchange } from '../exchange.ts'

type Answer = (exchange: Exchange) => Promise<void>

interface Incoming {
  parent: TraceParent | undefined
  state: string | undefined
}

/** `traces`: absent if no tracer collects spans. Then only the trace that a request names is passed on. */
export function traced(
  answer: Answer,
  { traces, clock, scheme }: { traces?: Traces | undefined; clock: Clock; scheme: 'http' | 'https' },
): Answer {
  if (traces !== undefined) return (exchange) => answerInSpan(exchange, answer, traces, scheme)
  return (exchange) => passOn(exchange, answer, clock)
}

function passOn(exchange: Exchange, answer: Answer, clock: Clock): Promise<void> {
  const { parent, state } = incoming(exchange)
  const span = parent && passedTrace(clock, parent, state)
  // Needed even without a span, because a request can begin in the context of the one before it on the connection, and must not inherit its trace.
  return serveWithin(span, () => answer(exchange))
}

async function answerInSpan(exchange: Exchange, answer: Answer, traces: Traces, scheme: string): Promise<void> {
  // Balancers ask every few seconds. Their spans would bury the others.
  if (exchange.path.startsWith('/minio/health/')) return serveWithin(undefined, () => answer(exchange))
  const { method = '', httpVersion } = exchange.request
  const span = traces.begin(method, incoming(exchange), {
    'http.request.method': method,
    'url.scheme': scheme,
    // Without the query, which carries the signature of a presigned URL.
    'url.path': exchange.path,
    'network.protocol.version': httpVersion,
  })
  exchange.span = span
  await serveWithin(span, () => answer(exchange))
  finish(span, exchange)
}

function incoming({ request: { headers } }: Exchange): Incoming {
  const { traceparent, tracestate } = headers
  const parent = typeof traceparent === 'string' ? parseTraceParent(traceparent) : undefined
  const state = typeof tracestate === 'string' ? tracestate : tracestate?.join(',')
  return { parent, state: parent && passableState(state) }
}

function finish(span: Span, exchange: Exchange): void {
  const { operationName, status, code, requestId, clientAddress, body, bytesOut } = exchange
  const attributes: Record<string, string | number> = {
    'aws.request_id': requestId,
    'http.request.body.size': body.received,
    'http.response.body.size': bytesOut,
  }
  if (clientAddress !== undefined) attributes['client.address'] = clientAddress
  if (status !== 0) attributes['http.response.status_code'] = status
  if (code !== '') attributes['error.type'] = code
  if (operationName !== '') Object.assign(attributes, operationAttributes(operationName, exchange.resource))
  span.set(attributes)
  if (operationName !== '') span.rename(operationName)
  // Mistakes of the client are not failures of the server.
  const hasFailed = status >= 500 || code === 'ClientGone'
  span.end(hasFailed ? code : undefined)
}

/** `resource`: the decoded bucket and key, or `/` for an operation of the account, because the operation is known. */
function operationAttributes(operation: string, resource: string): SpanAttributes {
  const slash = resource.indexOf('/', 1)
  const bucket = slash === -1 ? resource.slice(1) : resource.slice(1, slash)
  const key = slash === -1 ? '' : resource.slice(slash + 1)
  return {
    'rpc.system': 'aws-api',
    'rpc.service': 'S3',
    'rpc.method': operation,
    ...(bucket === '' ? {} : { 'aws.s3.bucket': bucket }),
    ...(key === '' ? {} : { 'aws.s3.key': key }),
  }
}
