/** Sends spans to the tracer that is registered with OpenTelemetry in this process. Only this file knows OpenTelemetry's packages, and loads them only if there is a tracer. */
import { setTimeout as delay } from 'node:timers/promises'
import type * as OpenTelemetry from '@opentelemetry/api'
import { limits } from '../limits.ts'
import type { Span, SpanAttributes, Traces } from '../spans.ts'
import { type TraceParent, traceHeaders } from '../trace-parent.ts'
import { version } from '../version.ts'

type Api = typeof OpenTelemetry

/** `undefined`: no tracer collects spans. The tracer must be registered earlier, for instance by `node --import`. */
export async function openTraces(warn: (message: string) => void): Promise<Traces | undefined> {
  if (!hasTracer()) return undefined
  const api = await loadApi()
  if (api === undefined) {
    warn('a tracer is registered, but there are no spans: npm install @opentelemetry/api')
    return undefined
  }
  return tracesTo(api)
}

/** All copies of the API share the object under this symbol, so there is no need to load one where no tracer is registered. */
function hasTracer(): boolean {
  const registered: unknown = Reflect.get(globalThis, Symbol.for('opentelemetry.js.api.1'))
  return typeof registered === 'object' && registered !== null && 'trace' in registered
}

async function loadApi(): Promise<Api | undefined> {
  try {
    return await import('@opentelemetry/api')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}

function tracesTo(api: Api): Traces {
  const tracer = api.trace.getTracer('holdfast', version)
  return {
    begin: (name, incoming, attributes) => {
      const parent = parentOf(api, incoming)
      const options = { kind: api.SpanKind.SERVER, attributes: { ...attributes } }
      return new TracedSpan(api, tracer, tracer.startSpan(name, options, parent), parent)
    },
    flush: () => flush(api),
  }
}

/** The active span, if an instrumentation of HTTP has begun one for this request; otherwise the client's. */
function parentOf(
  { trace, context, createTraceState, ROOT_CONTEXT, TraceFlags }: Api,
  { parent, state }: { parent: TraceParent | undefined; state: string | undefined },
): OpenTelemetry.Context {
  const active = trace.getActiveSpan()
  // An ended span belongs to an earlier request on the connection.
  const isOfRequest = parent === undefined || active?.spanContext().traceId === parent.traceId
  if (active?.isRecording() && isOfRequest) return context.active()
  if (parent === undefined) return ROOT_CONTEXT
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: parent.traceId,
    spanId: parent.parentId,
    traceFlags: parent.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(state === undefined ? {} : { traceState: createTraceState(state) }),
  })
}

class TracedSpan implements Span {
  readonly #api: Api
  readonly #tracer: OpenTelemetry.Tracer
  readonly #span: OpenTelemetry.Span
  readonly #context: OpenTelemetry.Context

  constructor(api: Api, tracer: OpenTelemetry.Tracer, span: OpenTelemetry.Span, parent: OpenTelemetry.Context) {
    this.#api = api
    this.#tracer = tracer
    this.#span = span
    this.#context = api.trace.setSpan(parent, span)
  }

  get traceId(): string {
    return this.#span.spanContext().traceId
  }

  get headers(): Record<string, string> {
    const { traceId, spanId, traceFlags, traceState } = this.#span.spanContext()
    const sampled = (traceFlags & this.#api.TraceFlags.SAMPLED) !== 0
    return traceHeaders({ traceId, parentId: spanId, sampled }, traceState?.serialize() || undefined)
  }

  begin(name: string, kind: 'step' | 'request' = 'step', attributes: SpanAttributes = {}): Span {
    const { SpanKind } = this.#api
    const options = {
      kind: kind === 'step' ? SpanKind.INTERNAL : SpanKind.CLIENT,
      attributes: { ...attributes },
    }
    const span = this.#tracer.startSpan(name, options, this.#context)
    return new TracedSpan(this.#api, this.#tracer, span, this.#context)
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes({ ...attributes })
  }

  rename(name: string): void {
    this.#span.updateName(name)
  }

  activate<T>(work: () => T): T {
    return this.#api.context.with(this.#context, work)
  }

  end(failure?: string): void {
    if (failure !== undefined) {
      this.#span.setAttribute('error.type', failure)
      this.#span.setStatus({ code: this.#api.SpanStatusCode.ERROR })
    }
    this.#span.end()
  }
}

/** Only the tracer's provider can send the last spans, and its interface does not say how. */
async function flush({ trace }: Api): Promise<void> {
  const registered: object = trace.getTracerProvider()
  // The tracer may have brought its own copy of the API, whose classes are not these.
  const provider: object =
    'getDelegate' in registered && typeof registered.getDelegate === 'function' ? registered.getDelegate() : registered
  if (!('forceFlush' in provider) || typeof provider.forceFlush !== 'function') return
  const given = new AbortController()
  const late = delay(limits.tracesFlushMs, undefined, { signal: given.signal, ref: false }).catch(() => {})
  // The tracer reports its own failures.
  await Promise.race([Promise.resolve(provider.forceFlush()).catch(() => {}), late])
  given.abort()
}
