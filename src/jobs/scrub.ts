/** Reads and verifies every shard of every blob, also those that no healthy read touches, and of metadata snapshots; and has repaired what is damaged or missing. */
import { setImmediate as turn } from 'node:timers/promises'
import { z } from 'zod'
import { bytesOfShards } from '../blobs/blobs.ts'
import type { Backend } from '../commits/backend.ts'
import { repairPut } from '../commits/repair-queue.ts'
import { limits } from '../limits.ts'
import { repairKey } from '../records/keyspace.ts'
import { type BlobReference, findReference, isDescriptionOf } from './blob-reference.ts'
import { openPace, type Pace, type PaceClock, rateOf } from './pace.ts'
import { repairBlob } from './repair.ts'
import { type Walked, walkAll, walkPosition } from './scrub-walk.ts'
import type { RunningTask, TaskKind } from './task-runner.ts'

export const scrubKind = 'scrub'

export interface ScrubSettings {
  /** Absent: only when somebody asks. */
  everyMs?: number | undefined
  /** Unless the request says otherwise. Absent: no limit. */
  bytesPerSecond: number | undefined
  clock?: PaceClock
}

/** What a scrub counts, in blobs. */
export interface ScrubCounts {
  checked: number
  /** Of these, pieces of metadata snapshots. */
  snapshotPieces: number
  /** Had a shard that is damaged or missing. */
  damaged: number
  repaired: number
  /** Damaged, and not whole again yet. */
  degraded: number
  /** Too few shards are left. */
  lost: number
  /** Some store could not be asked. */
  unreachable: number
}

export function scrubTask({ everyMs, bytesPerSecond, clock }: ScrubSettings): TaskKind {
  return {
    kind: scrubKind,
    everyMs,
    firstAfterMs: everyMs,
    run: async (backend, task) => {
      const pace = openPace(() => rateOf(task, bytesPerSecond), clock)
      await new Scrub(backend, task, pace).run()
    },
  }
}

/** Where a scrub continues, and how many bytes it had read by then. */
const cursorSchema = z.intersection(walkPosition, z.object({ bytes: z.number() }))
type Cursor = z.infer<typeof cursorSchema>

/** `undefined`: there is none, or none that this version knows. Then the scrub starts again, which does no harm. */
function readCursor(text: string | undefined): Cursor | undefined {
  if (text === undefined) return undefined
  return cursorSchema.safeParse(JSON.parse(text)).data
}

class Scrub {
  readonly #backend: Backend
  readonly #task: RunningTask
  readonly #pace: Pace
  readonly #counts: ScrubCounts
  #bytes = 0

  constructor(backend: Backend, task: RunningTask, pace: Pace) {
    this.#backend = backend
    this.#task = task
    this.#pace = pace
    this.#counts = {
      checked: 0,
      snapshotPieces: 0,
      damaged: 0,
      repaired: 0,
      degraded: 0,
      lost: 0,
      unreachable: 0,
      ...task.progress.counts,
    }
  }

  async run(): Promise<void> {
    const from = readCursor(this.#task.cursor)
    this.#bytes = from?.bytes ?? 0
    if (from === undefined)
      await this.#task.advance({ done: 0, total: await totalBytes(this.#backend, this.#task.signal) })
    for await (const batch of this.#batches(from)) {
      await Promise.all(batch.map((blob) => this.#check(blob)))
      const last = batch.at(-1)
      if (last !== undefined) await this.#advance(last)
    }
    await this.#task.advance({ done: this.#bytes, total: this.#bytes, counts: { ...this.#counts } })
  }

  /** Small blobs together, so that several reads are under way; large ones by themselves, so that memory is bounded. */
  async *#batches(from: Cursor | undefined): AsyncGenerator<Walked[]> {
    let batch: Walked[] = []
    let bytes = 0
    for await (const blob of walkAll(this.#backend.kv, from)) {
      const size = bytesOnStores(blob.reference)
      if (batch.length === limits.scrubBlobsAtOnce || (batch.length > 0 && bytes + size > limits.scrubBytesAtOnce)) {
        yield batch
        batch = []
        bytes = 0
      }
      batch.push(blob)
      bytes += size
    }
    yield batch
  }

  async #advance({ at }: Walked): Promise<void> {
    const cursor: Cursor = { ...at, bytes: this.#bytes }
    await this.#task.advance({ cursor: JSON.stringify(cursor), done: this.#bytes, counts: { ...this.#counts } })
  }

  async #check(blob: Walked): Promise<void> {
    const finding = await this.#inspect(blob.reference)
    if (finding === 'gone') return
    this.#counts.checked++
    if (blob.reference.owner.kind === 'snapshot') this.#counts.snapshotPieces++
    if (finding === 'unreachable') this.#counts.unreachable++
    if (finding === 'damaged') this.#counts.damaged++
    // What is whole may be queued still, and even be taken for lost.
    else if (finding !== 'queued') return
    const outcome = await repairBlob(this.#backend, blob.reference.owner, {
      pace: (bytes) => this.#pace.take(bytes, this.#task.signal),
      ...(blob.object === undefined ? {} : { object: blob.object }),
    })
    if (outcome === 'whole' && finding === 'damaged') this.#counts.repaired++
    else if (outcome === 'lost') this.#counts.lost++
    else if (outcome === 'degraded') this.#counts.degraded++
  }

  /** Queues what is damaged in a commit that checks that the record still is what was looked at: else it is looked at again, where it is now. */
  async #inspect(found: BlobReference): Promise<'whole' | 'queued' | 'unreachable' | 'damaged' | 'gone'> {
    const { kv, blobs } = this.#backend
    for (let reference: BlobReference | undefined = found; reference !== undefined; ) {
      const { owner, entry, manifest } = reference
      const looked = reference
      const shards = await blobs.inspect(manifest, {
        pace: (bytes) => this.#read(bytes),
        isOfBlob: (description) => isDescriptionOf(looked, description),
      })
      const isDamaged = manifest.missing !== undefined || shards.some(({ state }) => state === 'bad')
      if (!isDamaged) {
        if (shards.some(({ state }) => state === 'out of reach')) return 'unreachable'
        const [queued] = await kv.get([repairKey(owner)])
        return queued === undefined ? 'whole' : 'queued'
      }
      const { key, version } = entry
      if (await kv.commit({ checks: [{ key, version }], puts: [repairPut(this.#backend, owner)] })) return 'damaged'
      reference = await findReference(kv, owner)
    }
    return 'gone'
  }

  async #read(bytes: number): Promise<void> {
    await this.#pace.take(bytes, this.#task.signal)
    this.#bytes += bytes
    await this.#task.advance({ done: this.#bytes })
  }
}

/** Bytes of all shards, as the metadata has them. */
async function totalBytes(backend: Backend, signal: AbortSignal): Promise<number> {
  let bytes = 0
  let walked = 0
  for await (const { reference } of walkAll(backend.kv, undefined)) {
    bytes += bytesOnStores(reference)
    // Metadata is read without a pause: requests have their turn in between.
    if (++walked % limits.reclaimBatch === 0) await turn()
    signal.throwIfAborted()
  }
  return bytes
}

const bytesOnStores = ({ manifest }: BlobReference): number => bytesOfShards(manifest) * manifest.shards.length
