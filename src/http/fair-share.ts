/** The rule by which clients share a limited resource, and what counts as one client. Pure: counts nothing itself (ADR 0024). */

/** How much of a limited resource is taken: by one client, and by all together. */
export interface Taken {
  own: number
  used: number
  limit: number
}

/**
 * Whether one client may take more: only while it has less than is left for the others. A single client can take half of everything, two a third each, and however
 * many there are, a newcomer finds something left.
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

/** Requests that were refused unverified, as a debt of time that decreases by itself. */
export interface Refusals {
  /** What each refusal costs. */
  costMs: number
  /** Debt that is forgiven, so that a client with a wrong clock or key hears of it at once. */
  forgivenMs: number
  delayMsMax: number
}

/** `untilMs`: when the debt ends. After one more refusal: the new end, and how long the answer waits. */
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
