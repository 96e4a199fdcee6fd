/**
 * The span under way: what this process is doing, and for which request. Steps of the work and requests to other servers name it as their parent. Knows no
 * tracer: without one, a span only passes on the trace that a client named (ADR 0053).
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from './clock.ts'
import { type TraceParent, traceHeaders } from './trace-parent.ts'

export type SpanAttributes = Readonly<Record<string, string | number>>

export interface Span {
  /** Names this span to another server. */
  readonly headers: Readonly<Record<string, string>>
  readonly traceId: string
  /** `request`: the span of a request to another server. */
  begin(name: string, kind?: 'step' | 'request', attributes?: SpanAttributes): Span
  set(attributes: SpanAttributes): void
  rename(name: string): void
  /** Makes other instrumentation see this span while `work` runs. */
  activate<T>(work: () => T): T
  /** Call it once. `failure`: the kind of error that the work ended with. Not its text, which may contain private data. */
  end(failure?: string): void
}

/** Where spans go. */
export interface Traces {
  /** Begins the span of a request that was received. `parent`, `state`: what the request says. */
  begin(
    name: string,
    incoming: { parent: TraceParent | undefined; state: string | undefined },
    attributes: SpanAttributes,
  ): Span
  /** Resolves when all ended spans are sent, or when that takes too long. Never rejects. */
  flush(): Promise<void>
}

interface UnderWay {
  span: Span
  /** The request for which the work is done. What a request starts, such as a timer, can outlive it, and is then no longer done for it. */
  request: { hasEnded: boolean }
}

/** Costs nothing until it first runs. After that, Node tracks every promise of the process, so it runs only for what needs it. */
const underWay = new AsyncLocalStorage<UnderWay>()

let passesOn = false

/** Call it where requests to other servers are made. Before that, the traces that clients name need not be tracked. */
export function willPassTraces(): void {
  passesOn = true
}

export const passesTraces = (): boolean => passesOn

export function currentSpan(): Span | undefined {
  const now = underWay.getStore()
  return now === undefined || now.request.hasEnded ? undefined : now.span
}

/** Serves a request under its span. `undefined`: it has none, and does not inherit one either. */
export async function serveWithin(span: Span | undefined, serve: () => Promise<void>): Promise<void> {
  if (span === undefined) return underWay.getStore() === undefined ? serve() : underWay.exit(serve)
  const request = { hasEnded: false }
  await underWay.run({ span, request }, () => span.activate(serve))
  request.hasEnded = true
}

/** Runs `work` as a step of the span under way. If there is none, only runs it. */
export function inStep<T>(name: string, work: (step: Span | undefined) => Promise<T>): Promise<T> {
  const now = underWay.getStore()
  if (now === undefined || now.request.hasEnded) return work(undefined)
  const step = now.span.begin(name)
  const working = underWay.run({ ...now, span: step }, () => step.activate(() => work(step)))
  return ending(step, working)
}

/** The same for work that does not wait. `span`: the one under way, for callers that have it at hand. */
export function inShortStep<T>(span: Span | undefined, name: string, work: () => T): T {
  const step = span?.begin(name)
  if (step === undefined) return work()
  try {
    const result = work()
    step.end()
    return result
  } catch (error) {
    step.end(failureOf(error))
    throw error
  }
}

/** Ends the step when the promise settles. */
export async function ending<T>(step: Span, work: Promise<T>): Promise<T> {
  try {
    const result = await work
    step.end()
    return result
  } catch (error) {
    step.end(failureOf(error))
    throw error
  }
}

/** The kind of an error: a few words, the same for many errors. */
function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

/** A span that only passes on the trace of a request, with a new id each time, and records nothing. */
export function passedTrace(clock: Clock, trace: TraceParent, state: string | undefined): Span {
  const span: Span = {
    traceId: trace.traceId,
    get headers() {
      return traceHeaders({ ...trace, parentId: clock.random(8).toString('hex') }, state)
    },
    begin: () => span,
    set: () => {},
    rename: () => {},
    activate: (work) => work(),
    end: () => {},
  }
  return span
}
