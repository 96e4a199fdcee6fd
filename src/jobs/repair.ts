/** Makes the copies that queued blobs lack: verifies those that are there, writes what is missing, and swaps the manifest by a checked commit. */
import type { Entry } from '../kv/kv.ts'
import type { Manifest, ShardPlace } from '../shards/blobs.ts'
import { garbagePut } from '../store/commit.ts'
import { repairOwnerOf, repairs } from '../store/keyspace.ts'
import type { Store } from '../store/store.ts'
import { type BlobReference, findReference } from './blob-reference.ts'
import { everyEntry } from './every-entry.ts'

export interface RepairReport {
  /** Blobs that are whole again, or were after all. */
  repairedBlobs: number
  /** Blobs that still lack copies: no store can take them now, or those that have them are out of use. */
  degradedBlobs: number
  /** Blobs of which no copy can be read any more. They stay queued: should a store come back with one, it is found. */
  lostBlobs: number
}

export async function repairBlobs(store: Store): Promise<RepairReport> {
  const report: RepairReport = { repairedBlobs: 0, degradedBlobs: 0, lostBlobs: 0 }
  for await (const queued of everyEntry(store.kv, repairs)) {
    const reference = await findReference(store.kv, repairOwnerOf(queued.key))
    const outcome = reference === undefined ? 'gone' : await repair(store, queued, reference)
    if (outcome === 'gone') await forget(store, queued)
    else if (outcome === 'whole') report.repairedBlobs++
    else if (outcome === 'lost') report.lostBlobs++
    else report.degradedBlobs++
  }
  return report
}

async function repair(
  store: Store,
  queued: Entry,
  reference: BlobReference,
): Promise<'whole' | 'degraded' | 'lost' | 'gone'> {
  const { manifest } = reference
  const restoration = await store.blobs.restore(manifest)
  if (restoration.outcome === 'lost') return 'lost'
  if (restoration.outcome === 'waiting') return 'degraded'
  const { entry } = reference
  const [made, replaced, whole] =
    restoration.outcome === 'whole' ? [[], [], true] : [restoration.made, restoration.replaced, restoration.whole]
  const done = whole ? [queued.key] : []
  const swapped = await store.kv.commit({
    checks: [
      { key: entry.key, version: entry.version },
      { key: queued.key, version: queued.version },
    ],
    puts: [
      { key: entry.key, value: reference.withManifest(restoration.manifest) },
      ...(replaced.length > 0
        ? [garbagePut(store, { kind: 'blob', manifest: only(manifest, replaced), owner: reference.owner })]
        : []),
    ],
    deletes: done,
  })
  // Somebody changed the record, or reported the blob again: the next run looks at it afresh.
  if (!swapped) await store.blobs.remove([only(manifest, made)])
  return swapped && whole ? 'whole' : 'degraded'
}

function only(manifest: Manifest, shards: readonly ShardPlace[]): Manifest {
  return { ...manifest, shards }
}

async function forget(store: Store, { key, version }: Entry): Promise<void> {
  await store.kv.commit({ checks: [{ key, version }], deletes: [key] })
}
