/** The rule by which clients share what is limited, and who counts as one client. Pure: counts nothing itself (ADR 0024). */

/** How much of one limited thing is taken: by one client, and by all together. */
export interface Taken {
  own: number
  used: number
  limit: number
}

/**
 * Whether one client may take more: only while it has less than is left for the others. One alone can take half of everything, two a third each, and however
 * many there are, a newcomer finds something left.
 */
export function mayTake({ own, used, limit }: Taken): boolean {
  return own < limit - used
}

/**
 * What counts as one peer. An IPv6 host usually has a whole /64, so all addresses of one count together. `undefined`, as of a socket that is closed
 * already, is one peer too.
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

/** Requests that were refused unverified, as a debt of time that runs off by itself. */
export interface Refusals {
  /** Each costs so long. */
  costMs: number
  /** Debt that is forgiven: a client with a wrong clock or key is told so at once. */
  forgivenMs: number
  delayMsMax: number
}

/** `untilMs`: when the debt would have run off. After one more refusal: the new end, and how long the answer to it waits. */
export function afterRefusal(
  untilMs: number,
  nowMs: number,
  { costMs, forgivenMs, delayMsMax }: Refusals,
): { untilMs: number; delayMs: number } {
  const end = Math.max(untilMs, nowMs) + costMs
  const debtMs = end - nowMs
  // Debt beyond what is ever waited for would punish a peer long after it has stopped.
  const keptMs = Math.min(debtMs, forgivenMs + delayMsMax)
  return { untilMs: nowMs + keptMs, delayMs: Math.max(0, keptMs - forgivenMs) }
}
