/** Proposes a change of the placement again, while the process runs, until the other members can serve it (ADR 0044). */
import { isDeepStrictEqual } from 'node:util'
import { readOffers } from '../../instance/placement-offers.ts'
import type { Kv } from '../../kv/kv.ts'
import { limits } from '../../limits.ts'
import {
  judgeConfiguration,
  otherOffers,
  type ProposalOptions,
  type ProposedPlacement,
  proposePlacement,
} from './shared-placement.ts'

/**
 * Returns a function to call regularly. It proposes at most once a lease, and only while the placement is as this process last left it: a change that another
 * member has made since may be newer than this configuration, so the next start decides.
 */
export function waitingProposal(
  kv: Kv,
  options: ProposalOptions,
  { placement, isWaiting }: ProposedPlacement,
  everyMs: number = limits.memberLeaseMs,
): () => Promise<void> {
  const { inform, warn } = options.shared
  let left = placement
  let waits = isWaiting
  let nextMs = performance.now() + everyMs
  return async () => {
    if (!waits || performance.now() < nextMs) return
    nextMs = performance.now() + everyMs
    const offers = await readOffers(kv)
    if (!isSame(offers.known, left)) {
      waits = false
      const others = await otherOffers(offers, options.shared)
      const { next, waiting } = await judgeConfiguration(kv, { known: offers.known, others }, options.configured)
      if (waiting.length === 0 && isSame(next, offers.known)) return
      warn('another server has changed the locations: what this configuration changes waits for the next start')
      return
    }
    const proposed = await proposePlacement(kv, { ...options, shared: { ...options.shared, warn: () => {} } })
    left = proposed.placement
    waits = proposed.isWaiting
    if (!waits) inform('the other servers can serve the changed locations of this configuration now, so they are used')
  }
}

/** Compares them in their stored form. */
const isSame = (one: object, other: object): boolean => isDeepStrictEqual(stored(one), stored(other))
const stored = (value: object): unknown => JSON.parse(JSON.stringify(value))
