/** Reads and verifies all shards of blobs and metadata snapshots, also those that normal reads never touch. Damaged and missing shards are repaired. */
import { setImmediate as turn } from 'node:timers/promises'
import { bytesOfShards } from '../../blobs/blobs.ts'
import type { Backend } from '../../commits/backend.ts'
import { repairPut } from '../../commits/repair-queue.ts'
import { lazySchema } from '../../lazy-schema.ts'
import { limits } from '../../limits.ts'
import { repairKey } from '../../records/keyspace.ts'
import { type BlobReference, findReference, isDescriptionOf } from '../blob-reference.ts'
import { openPace, type Pace, type PaceClock, rateOf } from '../tasks/pace.ts'
import type { RunningTask, TaskKind } from '../tasks/task-runner.ts'
import { repairBlob } from './repair.ts'
import { type Walked, type WalkPosition, walkAll, walkPosition } from './scrub-walk.ts'

export const scrubKind = 'scrub'

export interface ScrubSettings {
  /** Absent: only on request. */
  everyMs?: number | undefined
  /** The rate, unless the request names one. Absent: no limit. */
  bytesPerSecond: number | undefined
  clock?: PaceClock
}

/** What a scrub counts, in blobs. */
export interface ScrubCounts {
  checked: number
  /** How many of them are pieces of metadata snapshots. */
  snapshotPieces: number
  /** Blobs with a damaged or missing shard. */
  damaged: number
  repaired: number
  /** Blobs that were damaged and are not whole again yet. */
  degraded: number
  /** Blobs with too few shards left. */
  lost: number
  /** Blobs with a shard in an unreachable store. */
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
type Cursor = WalkPosition & { bytes: number }
const cursorSchema = lazySchema((z) => z.intersection(walkPosition(z), z.object({ bytes: z.number() })))

/** `undefined`: there is no cursor, or this version can't read it. Then the scrub starts again, which does no harm. */
function readCursor(text: string | undefined): Cursor | undefined {
  if (text === undefined) return undefined
  return cursorSchema().safeParse(JSON.parse(text)).data
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

  /** Small blobs are checked together, so that several reads are under way. Large ones are checked alone, so that memory is bounded. */
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
    // A whole blob can still be queued, and even be marked as lost.
    else if (finding !== 'queued') return
    const outcome = await repairBlob(this.#backend, blob.reference.owner, {
      pace: (bytes) => this.#pace.take(bytes, this.#task.signal),
      ...(blob.object === undefined ? {} : { object: blob.object }),
    })
    if (outcome === 'whole' && finding === 'damaged') this.#counts.repaired++
    else if (outcome === 'lost') this.#counts.lost++
    else if (outcome === 'degraded') this.#counts.degraded++
  }

  /** Queues a damaged blob in a commit that checks that its record is unchanged. When the record has changed, looks at the blob that it references now. */
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

/** The bytes of all shards according to the metadata. */
async function totalBytes(backend: Backend, signal: AbortSignal): Promise<number> {
  let bytes = 0
  let walked = 0
  for await (const { reference } of walkAll(backend.kv, undefined)) {
    bytes += bytesOnStores(reference)
    // The walk never yields by itself, so this lets requests have their turn.
    if (++walked % limits.reclaimBatch === 0) await turn()
    signal.throwIfAborted()
  }
  return bytes
}

const bytesOnStores = ({ manifest }: BlobReference): number => bytesOfShards(manifest) * manifest.shards.length
