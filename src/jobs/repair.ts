/** Makes the copies that queued blobs lack: verifies those that are there, writes what is missing, and swaps the manifest by a checked commit. */

import type { Looking, Manifest, ShardPlace } from '../blobs/blobs.ts'
import type { Backend } from '../commits/backend.ts'
import { garbagePut } from '../commits/commit.ts'
import { inTurn } from '../commits/turns.ts'
import type { Entry, Kv } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { type BlobOwner, repairKey, repairOwnerOf, repairs } from '../records/keyspace.ts'
import { repairCodec, versionCodec } from '../records/record-codecs.ts'
import type { LostBlob } from '../records/records.ts'
import { type BlobReference, findReference, isDescriptionOf } from './blob-reference.ts'
import { everyEntry } from './every-entry.ts'

export interface RepairReport {
  /** Blobs that are whole again, or were after all. */
  repairedBlobs: number
  /** Blobs that still lack copies: no store can take them now, or those that have them are out of use. */
  degradedBlobs: number
  /** Blobs of which too few copies can be read any more. They stay queued: should a store come back with one, it is found. */
  lostBlobs: number
}

export type RepairOutcome = 'whole' | 'degraded' | 'lost' | 'gone'

export interface RepairOptions extends Pick<Looking, 'pace'> {
  /** Also what was found lost a short while ago. */
  all?: boolean
  /** Called before a blob is dealt with, and after. */
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

export interface BlobRepair extends Pick<Looking, 'pace'> {
  /** Whose bytes they are, where the owner does not say it. */
  object?: LostBlob['object']
}

/** Repairs a queued blob, if nobody does so already: then it waits for what comes of it. */
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
        ? [garbagePut(backend, { kind: 'blob', manifest: only(manifest, replaced), owner: reference.owner })]
        : []),
    ],
    deletes: done,
  })
  // Somebody changed the record, or reported the blob again: the next run looks at it afresh.
  if (!swapped) await backend.blobs.remove([only(manifest, made)])
  return swapped && whole ? 'whole' : 'degraded'
}

/** Set apart, so that it is reported and not read in vain again and again. Nothing of it is removed. */
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
  // What it was looked for in has changed meanwhile: nothing is known of it as it is now.
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

/** What is lost and not deleted, as repair or a scrub found it last. */
export async function* lostBlobs(kv: Kv): AsyncGenerator<FoundLost> {
  for await (const { key, value } of everyEntry(kv, repairs)) {
    const { lost } = repairCodec.decode(key, value)
    const owner = repairOwnerOf(key)
    if (lost !== undefined && (await findReference(kv, owner)) !== undefined) yield { owner, lost }
  }
}

function only(manifest: Manifest, shards: readonly ShardPlace[]): Manifest {
  return { ...manifest, shards }
}
