/** The order of a scrub, which can start at any position: the blobs of every bucket by name, then the pieces of metadata snapshots by age. */
import type { z as Zod } from 'zod'
import type { Kv } from '../../kv/kv.ts'
import { keyAfter } from '../../kv/ordered-key.ts'
import { snapshotKey, snapshots } from '../../records/keyspace.ts'
import type { NamedObject } from '../../records/records.ts'
import { type BlobReference, everyBucket, referenceOfPiece } from '../blob-reference.ts'
import { everyEntry } from '../every-entry.ts'
import { type WalkedBlob, walkBlobs } from '../walk-blobs.ts'

interface InBucket {
  bucket: string
  /** The position in the walk of the bucket. Cursors are stored, so the name stays. */
  place: string
  /** The last part that was walked, where several share the position. */
  part?: number | undefined
}

interface InSnapshot {
  snapshot: string
  piece: number
}

/** A walk continues with what comes after it. */
export type WalkPosition = InBucket | InSnapshot

export const walkPosition = (z: typeof Zod): Zod.ZodType<WalkPosition> =>
  z.union([
    z.object({ bucket: z.string(), place: z.string(), part: z.number().optional() }),
    z.object({ snapshot: z.string(), piece: z.number() }),
  ])

export interface Walked {
  reference: BlobReference
  at: WalkPosition
  /** The object that the bytes belong to. Absent: they are a piece of a metadata snapshot. */
  object?: NamedObject
}

/** `from`: a position of an earlier walk. `undefined`: from the start. */
export async function* walkAll(kv: Kv, from: WalkPosition | undefined): AsyncGenerator<Walked> {
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
      const { reference, object, position: place } = blob
      const part = reference.owner.kind === 'part' ? { part: reference.owner.number } : {}
      yield { reference, object, at: { bucket: bucket.name, place, ...part } }
    }
  }
}

/** Skips what the last walk saw at the position where this walk starts. */
function isDone(
  { position, reference: { owner } }: WalkedBlob,
  first: string | undefined,
  { part }: InBucket,
): boolean {
  return position === first && (owner.kind !== 'part' || owner.number <= (part ?? 0))
}

async function* walkSnapshots(kv: Kv, from: InSnapshot | undefined): AsyncGenerator<Walked> {
  const start = from === undefined ? snapshots.start : keyAfter(snapshotKey(from.snapshot, from.piece))
  for await (const entry of everyEntry(kv, { start, end: snapshots.end })) {
    const reference = referenceOfPiece(entry)
    const { id, piece } = reference.owner
    yield { reference, at: { snapshot: id, piece } }
  }
}
