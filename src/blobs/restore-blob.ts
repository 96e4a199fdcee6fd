/** Writes the missing shards of a blob as its location requires, if the location still exists. */

import { storesFor } from './choose-stores.ts'
import { restoreCopies } from './copies/restore-copies.ts'
import { manifestIn, type Placing } from './location.ts'
import type { Manifest } from './manifest.ts'
import type { BlobReading } from './read-blob.ts'
import type { InspectOptions, Restoration, RestoreContext } from './restoration.ts'
import { restoreStripes } from './stripes/restore-stripes.ts'

export async function restoreBlob(
  manifest: Manifest,
  location: Placing | undefined,
  looking: InspectOptions,
  { members, random, code, raceMs, stallMs }: BlobReading,
): Promise<Restoration> {
  const context: RestoreContext = {
    member: (storeId) => members.holder(storeId),
    looking,
    reading: { raceMs, stallMs },
    findStores: (count, holders, tried) =>
      location === undefined ? [] : storesFor(location, random, count, holders, tried),
    manifestOf: (shards) => (location === undefined ? { ...manifest, shards } : manifestIn(location, manifest, shards)),
  }
  // A shard counts as missing if its store was replaced, but not if its store is only out of use.
  await Promise.all(manifest.shards.map(({ storeId }) => members.holder(storeId)?.follow()))
  return manifest.scheme === 'erasure'
    ? restoreStripes(manifest, { ...context, code })
    : restoreCopies(manifest, { ...context, copies: location?.copies ?? manifest.shards.length })
}
