/** What a request says about itself for logs and traces: an id of its own, and W3C's `traceparent` (https://www.w3.org/TR/trace-context/). Pure. */

export interface TraceParent {
  /** 32 hex digits, not all zero. */
  traceId: string
  /** The caller's span: 16 hex digits, not all zero. */
  parentId: string
  sampled: boolean
}

const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** `undefined`: it is malformed, and so counts as absent. */
export function parseTraceParent(text: string): TraceParent | undefined {
  const [, traceId, parentId, flags = '', more] = pattern.exec(text) ?? []
  if (traceId === undefined || parentId === undefined) return undefined
  // Only later versions may say more.
  if (more !== undefined && text.startsWith('00')) return undefined
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

const requestIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/

/** Ids go into documents, headers and logs, so only harmless characters count. */
export const isRequestId = (text: string): boolean => requestIdPattern.test(text)
