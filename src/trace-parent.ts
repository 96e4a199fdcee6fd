/** Where a request belongs in a trace: W3C's `traceparent` and `tracestate` (https://www.w3.org/TR/trace-context/), read and written. Pure. */

export interface TraceParent {
  /** 32 hex digits, not all zero. */
  traceId: string
  /** The caller's span: 16 hex digits, not all zero. */
  parentId: string
  sampled: boolean
}

const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** `undefined`: the header is malformed, which counts as absent. */
export function parseTraceParent(text: string): TraceParent | undefined {
  const [, traceId, parentId, flags = '', more] = pattern.exec(text) ?? []
  if (traceId === undefined || parentId === undefined) return undefined
  // Only later versions of the header may have more fields.
  if (more !== undefined && text.startsWith('00')) return undefined
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** What tracers tell each other in addition to the ids. It is passed on unchanged, or not at all: `undefined` when no header could carry it. */
export function passableState(text: string | undefined): string | undefined {
  return text !== undefined && /^[\x20-\x7e]{1,512}$/.test(text) ? text : undefined
}

/** The headers of a request to another server. */
export function traceHeaders({ traceId, parentId, sampled }: TraceParent, state?: string): Record<string, string> {
  const headers: Record<string, string> = { traceparent: `00-${traceId}-${parentId}-${sampled ? '01' : '00'}` }
  if (state !== undefined) headers.tracestate = state
  return headers
}
