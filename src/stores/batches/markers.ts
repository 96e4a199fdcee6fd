/**
 * Names of the markers of batches whose shards have not been checked for references yet. `<batch>.open-<member>`: the member can still add to the batch; without a member, any
 * process of the one machine that uses the store. `<batch>.closed-<ms>`: nobody adds to it. Pure.
 */
import type { UncheckedBatch } from '../shard-store.ts'

export interface Marker {
  name: string
  batchId: string
  /** When its last shard was written, in milliseconds since the epoch; `undefined` while the batch is open. */
  closedMs: number | undefined
  /** The writer of an open batch. `undefined`: the marker names none, as all markers of version 0.1.0. */
  member: string | undefined
}

/** A directory has batches of two kinds, a bucket has batches without a kind. */
const markerPattern = /^((?:segment-|files-)?[0-9a-f]{32})\.(?:open(?:-([0-9a-f]{32}))?|closed-([0-9a-z]{1,11}))$/

/** `undefined` for a name that marks nothing. */
export function parseMarker(name: string): Marker | undefined {
  const [, batchId, member, closed] = markerPattern.exec(name) ?? []
  if (batchId === undefined) return undefined
  return { name, batchId, closedMs: closed === undefined ? undefined : Number.parseInt(closed, 36), member }
}

export function openMarker(batchId: string, member: string | undefined): string {
  return member === undefined ? `${batchId}.open` : `${batchId}.open-${member}`
}

export function closedMarker(batchId: string, newestMs: number): string {
  return `${batchId}.closed-${newestMs.toString(36)}`
}

/** Oldest batch first. `newestMs`: the time of the last shard in a batch that is still open. */
export function uncheckedBatches(markers: readonly Marker[], newestMs: (batchId: string) => number): UncheckedBatch[] {
  const found = new Map<string, UncheckedBatch>()
  for (const { batchId, closedMs } of markers) {
    const known = found.get(batchId)
    // A batch that has a marker of each kind is closed: a crash, or two processes that close it, can leave several.
    if (closedMs !== undefined) {
      const latestMs = known?.closed ? Math.max(known.newestMs, closedMs) : closedMs
      found.set(batchId, { id: batchId, newestMs: latestMs, closed: true })
    } else if (known === undefined) {
      found.set(batchId, { id: batchId, newestMs: newestMs(batchId), closed: false })
    }
  }
  return [...found.values()].sort((a, b) => compareText(timePart(a.id), timePart(b.id)))
}

function timePart(batchId: string): string {
  return batchId.slice(batchId.indexOf('-') + 1)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
