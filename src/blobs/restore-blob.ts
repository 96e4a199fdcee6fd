/** Makes the shards of a blob that are to be and are not there, as its location wants them, where that is still known. */

import { storesFor } from './choose-stores.ts'
import { manifestIn, type Placing } from './location.ts'
import type { Manifest } from './manifest.ts'
import type { BlobReading } from './read-blob.ts'
import type { Looking, Restoration, RestoreContext } from './restoration.ts'
import { restoreCopies } from './restore-copies.ts'
import { restoreStripes } from './restore-stripes.ts'

export async function restoreBlob(
  manifest: Manifest,
  location: Placing | undefined,
  looking: Looking,
  { members, random, code, raceMs, stallMs }: BlobReading,
): Promise<Restoration> {
  const context: RestoreContext = {
    member: (storeId) => members.holder(storeId),
    looking,
    reading: { raceMs, stallMs },
    places: (count, beside, not) => (location === undefined ? [] : storesFor(location, random, count, beside, not)),
    manifestOf: (shards) => (location === undefined ? { ...manifest, shards } : manifestIn(location, manifest, shards)),
  }
  // A shard on a store that is lost for good is none; on one that is only away it is.
  await Promise.all(manifest.shards.map(({ storeId }) => members.holder(storeId)?.follow()))
  return manifest.scheme === 'erasure'
    ? restoreStripes(manifest, { ...context, code })
    : restoreCopies(manifest, { ...context, copies: location?.copies ?? manifest.shards.length })
}
