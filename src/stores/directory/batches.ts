/**
 * Markers of the batches whose shards have not been checked for references yet: `pending/<kind>-<id>.open` while a process can
 * still add to the batch, then `.closed-<ms>`. They limit the search for orphans to recent writes instead of all stored data.
 */
import type { UncheckedBatch } from '../shard-store.ts'
import { createEmpty, type StoreContext } from './context.ts'
import { unlessMissing } from './failures.ts'
import { requireIdentity } from './identity.ts'

const kinds = ['segment', 'files'] as const
export type BatchKind = (typeof kinds)[number]

interface Marker {
  name: string
  batchId: string
  /** When its last shard was written; `undefined` while the batch is open. */
  closedMs: number | undefined
}

const markerName = /^((?:segment|files)-[0-9a-f]{32})\.(?:open|closed-([0-9a-z]+))$/
const batchName = /^(segment|files)-([0-9a-f]{32})$/

export function batchIdOf(kind: BatchKind, id: string): string {
  return `${kind}-${id}`
}

export function parseBatchId(batchId: string): { kind: BatchKind; id: string } | undefined {
  const [, name, id] = batchName.exec(batchId) ?? []
  const kind = kinds.find((known) => known === name)
  return kind === undefined || id === undefined ? undefined : { kind, id }
}

export class Batches {
  readonly #context: StoreContext
  /** The newest shard of each batch that this process has open. */
  readonly #newestMs = new Map<string, number>()

  constructor(context: StoreContext) {
    this.#context = context
  }

  /** Must be durable before the batch takes its first shard. */
  async open(batchId: string): Promise<void> {
    const { fs, layout, directories, clock } = this.#context
    // Another disk may be mounted here by now. Every write belongs to a batch, so checking here keeps data out of the wrong store.
    await requireIdentity(this.#context)
    await createEmpty(fs, layout.marker(`${batchId}.open`))
    await directories.sync(layout.pending)
    this.#newestMs.set(batchId, clock.now())
  }

  wroteTo(batchId: string): void {
    this.#newestMs.set(batchId, this.#context.clock.now())
  }

  /** Does not sync: if a crash undoes it, the next first opener closes the batch. */
  async close(batchId: string): Promise<void> {
    const newestMs = this.#newestMs.get(batchId) ?? this.#context.clock.now()
    this.#newestMs.delete(batchId)
    await this.#rename(batchId, newestMs)
  }

  /** Closes the batches that dead processes left open, as of now: their shards are older. */
  async closeAbandoned(): Promise<void> {
    for (const { batchId, closedMs } of await this.#markers()) {
      if (closedMs === undefined) await this.#rename(batchId, this.#context.clock.now())
    }
  }

  async unchecked(): Promise<UncheckedBatch[]> {
    const batches = (await this.#markers()).map(({ batchId, closedMs }) => ({
      id: batchId,
      newestMs: closedMs ?? this.#newestMs.get(batchId) ?? this.#context.clock.now(),
      closed: closedMs !== undefined,
    }))
    return batches.sort((a, b) => compareText(timePart(a.id), timePart(b.id)))
  }

  /** Removes all markers of the batch, because a crash can leave both an open and a closed one. */
  async remove(batchId: string): Promise<void> {
    const { fs, layout, directories } = this.#context
    const names = (await this.#markers()).filter((marker) => marker.batchId === batchId).map((marker) => marker.name)
    for (const name of names) await unlessMissing(fs.unlink(layout.marker(name)))
    if (names.length > 0) await directories.sync(layout.pending)
  }

  async #rename(batchId: string, newestMs: number): Promise<void> {
    const { fs, layout } = this.#context
    await fs.rename(layout.marker(`${batchId}.open`), layout.marker(`${batchId}.closed-${newestMs.toString(36)}`))
  }

  async #markers(): Promise<Marker[]> {
    const { fs, layout } = this.#context
    return (await fs.list(layout.pending)).flatMap((name) => {
      const [, batchId, closed] = markerName.exec(name) ?? []
      if (batchId === undefined) return []
      return [{ name, batchId, closedMs: closed === undefined ? undefined : Number.parseInt(closed, 36) }]
    })
  }
}

function timePart(batchId: string): string {
  return batchId.slice(batchId.indexOf('-') + 1)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
