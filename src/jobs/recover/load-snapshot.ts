/** The newest metadata snapshot on the stores that can be read whole: finds it, verifies it, and loads it. */

import type { Manifest } from '../../blobs/blobs.ts'
import { timeOfId } from '../../clock.ts'
import type { Key } from '../../kv/kv.ts'
import { readDescription } from '../../records/description-bytes.ts'
import { garbage, snapshotKey, snapshots } from '../../records/keyspace.ts'
import { garbageCodec, snapshotPieceCodec } from '../../records/record-codecs.ts'
import type { PiecesEnd } from '../../records/records.ts'
import {
  entriesOfPiece,
  loadPieces,
  PiecesTally,
  requireWhole,
  SnapshotDamaged,
} from '../../records/snapshot-pieces.ts'
import { ShardDamaged } from '../../stores/shard-store.ts'
import { everyEntry } from '../every-entry.ts'
import { type Recovery, Writes } from './context.ts'
import { assembleBlob } from './found-blobs.ts'

export interface FoundSnapshot {
  id: string
  createdMs: number
  /** By their index. */
  pieces: Map<number, Manifest>
  end: PiecesEnd | undefined
}

/** Newest first; whole or not. */
export async function findSnapshots({ staging, locations }: Recovery): Promise<FoundSnapshot[]> {
  const byId = new Map<string, FoundSnapshot>()
  for await (const { blobs } of staging.groups('m')) {
    for (const shards of blobs.values()) {
      const [first] = shards
      const description = first && readDescription(first.raw)
      const blob = assembleBlob(shards, locations, undefined)
      if (description?.kind !== 'snapshot' || !blob.isReadable) continue
      const { snapshotId: id, createdMs, piece, end } = description
      const known = byId.get(id) ?? { id, createdMs, pieces: new Map(), end: undefined }
      known.pieces.set(piece, blob.manifest)
      known.end ??= end
      byId.set(id, known)
    }
  }
  return [...byId.values()].sort((a, b) => b.createdMs - a.createdMs || (a.id < b.id ? 1 : -1))
}

/** Loads the first one that is whole, and notes it in the report. */
export async function loadNewest(
  recovery: Recovery,
  found: readonly FoundSnapshot[],
  isWanted: (key: Key) => boolean,
): Promise<void> {
  const { kv, clock, report, advance } = recovery
  for (const snapshot of found) {
    const { id, createdMs, end } = snapshot
    if (end === undefined) continue
    try {
      await verify(recovery, snapshot, end)
    } catch (error) {
      if (!(error instanceof ShardDamaged || error instanceof SnapshotDamaged)) throw error
      report.damagedSnapshots += 1
      continue
    }
    let loaded = 0
    await loadPieces(kv, piecesOf(recovery, snapshot, end), end, {
      isWanted,
      loaded: (entries) => {
        loaded += entries
        advance({ counts: { records: loaded } })
      },
    })
    // The id has the time of the clock then, and `createdMs` is later if the clock had been set back before.
    const takenMs = Math.min(createdMs, timeOfId(id))
    report.snapshot = { id, createdMs: takenMs, entries: end.entries }
    recovery.takenMs = takenMs
    // If the clock was ahead then, what was written since looks older than the snapshot.
    if (takenMs > clock.now()) recovery.graceMs = Number.POSITIVE_INFINITY
    return
  }
}

async function verify(recovery: Recovery, snapshot: FoundSnapshot, end: PiecesEnd): Promise<void> {
  const tally = new PiecesTally()
  for await (const piece of piecesOf(recovery, snapshot, end)) tally.add(piece, (await entriesOfPiece(piece)).length)
  requireWhole(tally, end)
}

async function* piecesOf({ blobs }: Recovery, { id, pieces }: FoundSnapshot, end: PiecesEnd): AsyncGenerator<Buffer> {
  for (let piece = 0; piece < end.pieces; piece++) {
    const manifest = pieces.get(piece)
    if (manifest === undefined) throw new SnapshotDamaged(`snapshot ${id} lacks piece ${piece}`)
    yield await (await blobs.read(manifest, { start: 0, end: manifest.size })).read()
  }
}

/** Marks what the snapshot lists as garbage, so that it is not recovered. */
export async function markKnownGarbage({ kv, staging }: Recovery): Promise<void> {
  for await (const { key, value } of everyEntry(kv, garbage)) {
    const record = garbageCodec.decode(key, value)
    if (record.kind === 'blob') await staging.markGarbage(record.manifest)
    else if (record.kind === 'parts' && record.note !== undefined) await staging.markGarbage(record.note)
  }
  await staging.flush()
}

/** Lists the snapshots that exist now, in place of those that existed when the loaded one was taken. */
export async function keepFound(recovery: Recovery, found: readonly FoundSnapshot[]): Promise<void> {
  const writes = new Writes(recovery)
  for await (const { key } of everyEntry(recovery.kv, snapshots)) {
    writes.delete(key)
    await writes.flushWhenMany()
  }
  await writes.flush()
  for (const { id, createdMs, pieces, end } of found) {
    const isWhole = end !== undefined && pieces.size === end.pieces + 1
    for (const [piece, manifest] of pieces) {
      const key = snapshotKey(id, piece)
      const record = { createdMs, manifest, end: piece === end?.pieces ? end : undefined }
      if (isWhole) writes.put({ key, value: snapshotPieceCodec.encode(key, record) })
      else writes.garbage(manifest)
      await writes.flushWhenMany()
    }
  }
  await writes.flush()
}
