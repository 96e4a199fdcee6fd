/** What a scrub walks, in which order, and where it goes on: the blobs of every bucket, by name, then the pieces of metadata snapshots, by age. */
import type { Kv } from '../kv/kv.ts'
import { keyAfter } from '../kv/ordered-key.ts'
import { snapshotKey, snapshots } from '../records/keyspace.ts'
import type { NamedObject } from '../records/records.ts'
import { type BlobReference, everyBucket, referenceOfPiece } from './blob-reference.ts'
import { everyEntry } from './every-entry.ts'
import { type WalkedBlob, walkBlobs } from './walk-blobs.ts'

interface InBucket {
  bucket: string
  place: string
  /** The last part that was walked, where the place is one of several. */
  part?: number
}

interface InSnapshot {
  snapshot: string
  piece: number
}

/** A walk goes on with what comes after it. */
export type WalkPlace = InBucket | InSnapshot

export interface Walked {
  reference: BlobReference
  at: WalkPlace
  /** Whose bytes they are. Absent: metadata's. */
  object?: NamedObject
}

/** `from`: of an earlier walk. Absent: from the start. */
export async function* walkAll(kv: Kv, from: WalkPlace | undefined): AsyncGenerator<Walked> {
  const piece = from !== undefined && 'snapshot' in from ? from : undefined
  const blob = from !== undefined && 'bucket' in from ? from : undefined
  if (piece === undefined) yield* walkBuckets(kv, blob)
  yield* walkSnapshots(kv, piece)
}

async function* walkBuckets(kv: Kv, from: InBucket | undefined): AsyncGenerator<Walked> {
  for await (const bucket of everyBucket(kv)) {
    if (from !== undefined && bucket.name < from.bucket) continue
    const first = from?.bucket === bucket.name ? from.place : undefined
    for await (const blob of walkBlobs(kv, bucket, first)) {
      if (from !== undefined && isDone(blob, first, from)) continue
      const { reference, object, place } = blob
      const part = reference.owner.kind === 'part' ? { part: reference.owner.number } : {}
      yield { reference, object, at: { bucket: bucket.name, place, ...part } }
    }
  }
}

/** A walk begins with the place that the last one ended in. */
function isDone({ place, reference: { owner } }: WalkedBlob, first: string | undefined, { part }: InBucket): boolean {
  return place === first && (owner.kind !== 'part' || owner.number <= (part ?? 0))
}

async function* walkSnapshots(kv: Kv, from: InSnapshot | undefined): AsyncGenerator<Walked> {
  const start = from === undefined ? snapshots.start : keyAfter(snapshotKey(from.snapshot, from.piece))
  for await (const entry of everyEntry(kv, { start, end: snapshots.end })) {
    const reference = referenceOfPiece(entry)
    const { id, piece } = reference.owner
    yield { reference, at: { snapshot: id, piece } }
  }
}
