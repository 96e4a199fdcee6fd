/** Makes metadata snapshots on the stores of each configured location at intervals, so that losing the metadata's disk does not lose the data. */

import { type Manifest, ownLocation } from '../blobs/blobs.ts'
import { bytesSource } from '../byte-source.ts'
import { timeOrderedId } from '../clock.ts'
import type { Backend } from '../commits/backend.ts'
import { garbagePut } from '../commits/commit.ts'
import { repairPuts } from '../commits/repair-queue.ts'
import type { Version } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { descriptionBytes } from '../records/description-bytes.ts'
import type { SnapshotDescription } from '../records/descriptions.ts'
import { snapshotKey, snapshotPieceOf, snapshots } from '../records/keyspace.ts'
import { snapshotPieceCodec } from '../records/record-codecs.ts'
import type { PiecesEnd, SnapshotPieceRecord } from '../records/records.ts'
import { piecesOf } from '../records/snapshot-pieces.ts'
import { everyEntry } from './every-entry.ts'
import type { RunningTask, TaskKind } from './tasks/task-runner.ts'

/** Whatever loses the metadata's disk loses the location in the data directory too. */
export function keepsSnapshots({ blobs }: Backend): boolean {
  return blobs.locations.some(({ name }) => name !== ownLocation)
}

export function snapshotTask({ everyMs, kept }: { everyMs: number | undefined; kept: number }): TaskKind {
  return { kind: 'snapshot', everyMs, run: (backend, task) => makeSnapshot(backend, task, kept) }
}

/** A repeated run starts from the beginning, and first removes what an earlier run left unfinished. */
async function makeSnapshot(backend: Backend, task: Pick<RunningTask, 'advance'>, kept: number): Promise<void> {
  await removeUnneeded(backend, kept)
  // Later than the others even if the clock was set back since: otherwise this one would count as the oldest, and recovery would take another for the newest.
  const newestMs = (await keptSnapshots(backend)).at(-1)?.createdMs ?? 0
  const createdMs = Math.max(backend.clock.now(), newestMs + 1)
  const targets = backend.blobs.locations
    .filter(({ name }) => name !== ownLocation)
    .map(({ name }) => new SnapshotWriter(backend, name, createdMs))
  const snapshot = await backend.kv.snapshot()
  try {
    const pieces = piecesOf(snapshot)
    let done = 0
    let next = await pieces.next()
    for (; next.done !== true; next = await pieces.next()) {
      const piece = next.value
      await Promise.all(targets.map((target) => target.write(piece)))
      done += piece.length
      await task.advance({ done, unit: 'bytes' })
    }
    const end = next.value
    await Promise.all(targets.map((target) => target.write(Buffer.alloc(0), end)))
  } finally {
    await snapshot.close()
  }
  await removeUnneeded(backend, kept)
  const failed = targets.filter(({ failure }) => failure !== undefined)
  if (failed[0] === undefined) return
  throw new Error(
    `no snapshot of the metadata could be put into ${failed.map(({ location }) => location).join(', ')}`,
    {
      cause: failed[0].failure,
    },
  )
}

/** One location's snapshot. A failure ends it, but not the snapshots of other locations. */
class SnapshotWriter {
  readonly location: string
  failure: unknown
  readonly #backend: Backend
  readonly #id: string
  readonly #createdMs: number
  #piece = 0

  constructor(backend: Backend, location: string, createdMs: number) {
    this.#backend = backend
    this.#id = timeOrderedId(backend.clock)
    this.#createdMs = createdMs
    this.location = location
  }

  async write(bytes: Buffer, end?: PiecesEnd): Promise<void> {
    if (this.failure !== undefined) return
    try {
      await this.#write(bytes, end)
    } catch (error) {
      this.failure = error
    }
  }

  async #write(bytes: Buffer, end: PiecesEnd | undefined): Promise<void> {
    const piece = this.#piece++
    const createdMs = this.#createdMs
    const description: SnapshotDescription = { kind: 'snapshot', snapshotId: this.#id, createdMs, piece, end }
    const manifest = await this.#backend.blobs.write(this.location, {
      payload: bytesSource(bytes),
      describe: () => descriptionBytes(description),
    })
    const key = snapshotKey(this.#id, piece)
    await this.#backend.kv.commit({
      puts: [
        { key, value: snapshotPieceCodec.encode(key, { createdMs, manifest, end }) },
        ...repairPuts(this.#backend, { kind: 'snapshot', id: this.#id, piece }, manifest),
      ],
    })
  }
}

interface KeptSnapshot {
  id: string
  createdMs: number
  location: string
  pieces: { piece: number; manifest: Manifest; version: Version }[]
  isWhole: boolean
}

/** Oldest first. A snapshot without an end was cut off by a crash or a failure. */
async function keptSnapshots({ kv }: Backend): Promise<KeptSnapshot[]> {
  const byId = new Map<string, KeptSnapshot>()
  for await (const { key, value, version } of everyEntry(kv, snapshots)) {
    const { id, piece } = snapshotPieceOf(key)
    const { createdMs, manifest, end }: SnapshotPieceRecord = snapshotPieceCodec.decode(key, value)
    const known = byId.get(id) ?? { id, createdMs, location: manifest.location, pieces: [], isWhole: false }
    known.pieces.push({ piece, manifest, version })
    if (end !== undefined) known.isWhole = known.pieces.length === end.pieces + 1
    byId.set(id, known)
  }
  return [...byId.values()].sort((a, b) => a.createdMs - b.createdMs)
}

/** Removes all but each location's newest complete snapshots. Only this task makes snapshots, so an incomplete one stays incomplete. */
async function removeUnneeded(backend: Backend, kept: number): Promise<void> {
  const found = await keptSnapshots(backend)
  // Snapshots of locations that are gone are never read.
  const needed = new Set(
    backend.blobs.locations.flatMap(({ name }) =>
      found.filter((snapshot) => snapshot.location === name && snapshot.isWhole).slice(-kept),
    ),
  )
  for (const { id, pieces } of found.filter((snapshot) => !needed.has(snapshot))) {
    for (let at = 0; at < pieces.length; at += limits.reclaimBatch) {
      const some = pieces.slice(at, at + limits.reclaimBatch)
      // If a repair changes a piece meanwhile, the commit does nothing and the next run tries again.
      await backend.kv.commit({
        checks: some.map(({ piece, version }) => ({ key: snapshotKey(id, piece), version })),
        puts: some.map(({ manifest }) => garbagePut(backend, { kind: 'blob', manifest })),
        deletes: some.map(({ piece }) => snapshotKey(id, piece)),
      })
    }
  }
}
