/** The rule by which clients share a limited resource, and what counts as one client. Pure: the counting is in `shares.ts` (ADR 0024). */

/** How much of a limited resource is taken: by one client, and by all together. */
export interface Taken {
  own: number
  used: number
  limit: number
}

/**
 * Whether one client may take more: only while it holds less than is still free. One client alone can take half of everything, two can take a third
 * each, and a newcomer always finds something free.
 */
export function mayTake({ own, used, limit }: Taken): boolean {
  return own < limit - used
}

/**
 * What counts as one peer. An IPv6 host usually has a whole /64, so all addresses in one count together. `undefined`, as for a closed socket,
 * is one peer too.
 */
export function peerGroup(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return ''
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(remoteAddress)
  if (mapped?.[1] !== undefined) return mapped[1]
  if (!remoteAddress.includes(':')) return remoteAddress
  return firstGroups(remoteAddress.replace(/%.*$/, ''), 4).join(':')
}

function firstGroups(address: string, count: number): string[] {
  const [head = '', tail] = address.toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  return [...left, ...Array<string>(Math.max(0, zeros)).fill('0'), ...right].slice(0, count)
}

/** How refusing unverified requests is throttled: each refusal adds to a debt of time, which runs down by itself. */
export interface Refusals {
  /** What each refusal costs. */
  costMs: number
  /** Debt up to this much causes no wait, so that a client with a wrong clock or key gets its error at once. */
  forgivenMs: number
  delayMsMax: number
}

/** Adds one refusal to a debt that ends at `untilMs`. Returns the new end, and how long the answer waits. */
export function afterRefusal(
  untilMs: number,
  nowMs: number,
  { costMs, forgivenMs, delayMsMax }: Refusals,
): { untilMs: number; delayMs: number } {
  const end = Math.max(untilMs, nowMs) + costMs
  const debtMs = end - nowMs
  // Debt beyond the longest wait would punish a peer long after it has stopped.
  const keptMs = Math.min(debtMs, forgivenMs + delayMsMax)
  return { untilMs: nowMs + keptMs, delayMs: Math.max(0, keptMs - forgivenMs) }
}
