/** Repairs queued blobs: verifies their shards, writes the missing ones, and swaps the manifest in a checked commit. */

import type { InspectOptions, Manifest, ShardPlace } from '../../blobs/blobs.ts'
import type { Backend } from '../../commits/backend.ts'
import { garbagePut } from '../../commits/commit.ts'
import { inTurn } from '../../commits/turns.ts'
import type { Entry, Kv } from '../../kv/kv.ts'
import { limits } from '../../limits.ts'
import { type BlobOwner, repairKey, repairOwnerOf, repairs } from '../../records/keyspace.ts'
import { repairCodec, versionCodec } from '../../records/record-codecs.ts'
import type { LostBlob } from '../../records/records.ts'
import { type BlobReference, findReference, isDescriptionOf } from '../blob-reference.ts'
import { everyEntry } from '../every-entry.ts'

export interface RepairReport {
  /** Blobs that are whole again, or turned out to be whole. */
  repairedBlobs: number
  /** Blobs that still lack shards: no store can take them now, or the stores that have them are out of use. */
  degradedBlobs: number
  /** Blobs that have too few readable shards left. They stay queued: if a store comes back with one, repair finds it. */
  lostBlobs: number
}

export type RepairOutcome = 'whole' | 'degraded' | 'lost' | 'gone'

export interface RepairOptions extends Pick<InspectOptions, 'pace'> {
  /** Also try blobs that were found lost a short while ago. */
  all?: boolean
  /** Called before and after each blob. */
  begins?(reference: BlobReference): void
  did?(outcome: RepairOutcome, reference: BlobReference | undefined): Promise<void>
}

export async function repairBlobs(backend: Backend, options: RepairOptions = {}): Promise<RepairReport> {
  const report: RepairReport = { repairedBlobs: 0, degradedBlobs: 0, lostBlobs: 0 }
  for await (const { key, value } of everyEntry(backend.kv, repairs)) {
    const owner = repairOwnerOf(key)
    const reference = await findReference(backend.kv, owner)
    if (reference !== undefined) options.begins?.(reference)
    const { lost } = repairCodec.decode(key, value)
    const isKnown = lost !== undefined && backend.clock.now() < lost.lookedMs + limits.lostLookMs
    const outcome =
      isKnown && reference !== undefined && options.all !== true ? 'lost' : await repairBlob(backend, owner, options)
    if (outcome === 'whole') report.repairedBlobs++
    else if (outcome === 'lost') report.lostBlobs++
    else if (outcome === 'degraded') report.degradedBlobs++
    await options.did?.(outcome, reference)
  }
  return report
}

export interface BlobRepair extends Pick<InspectOptions, 'pace'> {
  /** The object that the bytes belong to, if `owner` does not name it. */
  object?: LostBlob['object']
}

/** Repairs a queued blob, or waits for the repair of it that is already under way. */
export function repairBlob(backend: Backend, owner: BlobOwner, repair: BlobRepair = {}): Promise<RepairOutcome> {
  const key = repairKey(owner)
  return inTurn(backend, `repair ${key.toString('latin1')}`, async () => {
    const [queued] = await backend.kv.get([key])
    const reference = await findReference(backend.kv, owner)
    if (queued === undefined) return reference === undefined ? 'gone' : 'whole'
    if (reference !== undefined) return restore(backend, queued, reference, repair)
    await backend.kv.commit({ checks: [{ key, version: queued.version }], deletes: [key] })
    return 'gone'
  })
}

async function restore(
  backend: Backend,
  queued: Entry,
  reference: BlobReference,
  { pace, object }: BlobRepair,
): Promise<RepairOutcome> {
  const { manifest, entry } = reference
  const restoration = await backend.blobs.restore(manifest, {
    ...(pace === undefined ? {} : { pace }),
    isOfBlob: (description) => isDescriptionOf(reference, description),
  })
  if (restoration.outcome === 'lost') return markLost(backend, queued, reference, object)
  if (restoration.outcome === 'waiting') return 'degraded'
  const [made, replaced, whole] =
    restoration.outcome === 'whole' ? [[], [], true] : [restoration.made, restoration.replaced, restoration.whole]
  const done = whole ? [queued.key] : []
  const swapped = await backend.kv.commit({
    checks: [
      { key: entry.key, version: entry.version },
      { key: queued.key, version: queued.version },
    ],
    puts: [
      { key: entry.key, value: reference.withManifest(restoration.manifest) },
      ...(replaced.length > 0
        ? [garbagePut(backend, { kind: 'blob', manifest: withShards(manifest, replaced), owner: reference.owner })]
        : []),
    ],
    deletes: done,
  })
  // Another write changed the record, or the blob was queued again. The next run looks at it again.
  if (!swapped) await backend.blobs.remove([withShards(manifest, made)])
  return swapped && whole ? 'whole' : 'degraded'
}

/** Marks the blob as lost, so that it is reported, and not read again in every run. Nothing is removed. */
async function markLost(
  backend: Backend,
  queued: Entry,
  reference: BlobReference,
  object: LostBlob['object'],
): Promise<RepairOutcome> {
  const { key, version } = queued
  const { entry } = reference
  const record = repairCodec.decode(key, queued.value)
  const nowMs = backend.clock.now()
  const lost: LostBlob = {
    sinceMs: record.lost?.sinceMs ?? nowMs,
    lookedMs: nowMs,
    object: object ?? record.lost?.object ?? objectOf(reference),
  }
  const marked = await backend.kv.commit({
    checks: [
      { key, version },
      { key: entry.key, version: entry.version },
    ],
    puts: [{ key, value: repairCodec.encode(key, { ...record, lost }) }],
  })
  // The record has changed, and the blob that it references now has not been verified.
  return marked ? 'lost' : 'degraded'
}

function objectOf({ owner, entry }: BlobReference): LostBlob['object'] {
  if (owner.kind !== 'version') return undefined
  const { versionId } = versionCodec.decode(entry.key, entry.value)
  return { bucket: owner.bucket, key: owner.key, versionId }
}

export interface FoundLost {
  owner: BlobOwner
  lost: LostBlob
}

/** Blobs that are lost and not deleted, as the last repair or scrub found them. */
export async function* lostBlobs(kv: Kv): AsyncGenerator<FoundLost> {
  for await (const { key, value } of everyEntry(kv, repairs)) {
    const { lost } = repairCodec.decode(key, value)
    const owner = repairOwnerOf(key)
    if (lost !== undefined && (await findReference(kv, owner)) !== undefined) yield { owner, lost }
  }
}

function withShards(manifest: Manifest, shards: readonly ShardPlace[]): Manifest {
  return { ...manifest, shards }
}
