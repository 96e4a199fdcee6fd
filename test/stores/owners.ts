/** Who opens stores in tests. */
import type { Claimant, Ownership } from '../../src/stores/store-claim.ts'

/** Metadata at its first start, or at the one that is named last. */
export function claimantOf(
  metadataId: string,
  starts: readonly string[] = ['1-a'],
  predecessors: string[] = [],
): Claimant {
  const claims = { metadataId, start: starts.at(-1) ?? '', server: `host:/${metadataId}` }
  return { metadataId, predecessors, starts, claims }
}

export function ownedBy(metadataId: string, starts?: readonly string[]): Ownership {
  return { claimant: async () => claimantOf(metadataId, starts) }
}
