/**
 * Moves a bucket's data to a location, or to the newest version of its own, while clients use it. Objects whose storage class has a location of its own go
 * there instead. First new blobs go there, then the existing ones follow. After a
 * crash, a repeated run continues and skips what is already there (ADR 0020).
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { BlobUnreadable, LocationState, Pace } from '../../blobs/blobs.ts'
import { type Demand, forecast, noDemand, withBlob } from '../../blobs/forecast.ts'
import type { Backend } from '../../commits/backend.ts'
import { eachOf } from '../../each-of.ts'
import { S3Error } from '../../errors.ts'
import { limits } from '../../limits.ts'
import { beginMove, endMove } from '../../objects/buckets.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import { readBucket } from '../blob-reference.ts'
import { storeNow } from '../locations/store-now.ts'
import { openPace, type PaceClock } from '../tasks/pace.ts'
import { type RunningTask, type TaskKind, TaskRefused } from '../tasks/task-runner.ts'
import { type WalkedBlob, walkBlobs } from '../walk-blobs.ts'
import { isRefusedForNow, moveBlob, unchangedBucket } from './move-blob.ts'
import { moveQueued } from './queued-moves.ts'

export const moveKind = 'move'

export interface MoveSettings {
  /** How long to wait before stores that refused writes are tried again. */
  retryMs?: number
  /** The clock of the rate limit. */
  clock?: PaceClock
}

/** The task's name is the bucket's. Its arguments: `to`, the location; `bytesPerSecond`, absent for no limit. */
export function moveTask({ retryMs = limits.moveRetryMs, clock }: MoveSettings = {}): TaskKind {
  return {
    kind: moveKind,
    run: (backend, task) => moveBucket(backend, task, retryMs, openPace(Number.POSITIVE_INFINITY, clock)),
  }
}

/** Throws `TaskRefused`, and what `moveBlob` throws. */
async function moveBucket(
  backend: Backend,
  task: RunningTask,
  retryMs: number,
  paces: ReturnType<typeof openPace>,
): Promise<void> {
  const pace: Pace = (bytes) => {
    const { bytesPerSecond } = task.arguments
    paces.bytesPerSecond = typeof bytesPerSecond === 'number' ? bytesPerSecond : Number.POSITIVE_INFINITY
    return paces.take(bytes, task.signal)
  }
  let bucket: BucketRecord
  do {
    const to = String(task.arguments.to)
    const bytes = await expectedMove(backend, task.name, to)
    await task.advance({ unit: 'bytes', total: task.progress.done + bytes })
    bucket = await beginMove(backend, task.name, to)
    // When a request for another location arrives meanwhile, the outer loop starts again.
    while (bucket.location === task.arguments.to && !(await patientSweep(backend, bucket, task, pace, retryMs))) {
      if ((await unchangedBucket(backend, bucket)) === undefined) return
    }
  } while (bucket.location !== task.arguments.to)
  await moveQueued(backend, { pace })
  await endMove(backend, bucket).catch(unlessGone)
}

/** The bytes that moving the bucket would read. Throws `TaskRefused` when it can't be done now. */
async function expectedMove(backend: Backend, name: string, to: string): Promise<number> {
  const bucket = (await readBucket(backend.kv, name))?.record
  if (bucket === undefined) throw new TaskRefused(`there is no bucket ${name}`)
  if (!backend.blobs.locations.some((known) => known.name === to)) throw new TaskRefused(`there is no location ${to}`)
  let bytes = 0
  for (const [location, demand] of await demands(backend, { ...bucket, location: to })) {
    const stores = await Promise.all(
      location.stores.map(async (placed) => ({
        ...placed,
        storeId: placed.store.storeId,
        ...(await storeNow(placed)),
      })),
    )
    const expected = forecast(demand, { ...location, stores })
    if (expected.fault !== undefined)
      throw new TaskRefused(`location ${location.name} can't take bucket ${name}: ${expected.fault}`)
    bytes += expected.bytes
  }
  return bytes
}

/** What each location gets: the bucket's own, even if that is nothing, and those that keep storage classes of its objects. */
async function demands(backend: Backend, bucket: BucketRecord): Promise<Map<LocationState, Demand>> {
  const { blobs, kv } = backend
  const known = blobs.locations
  const found = new Map<LocationState, Demand>()
  const add = (name: string, size?: number): void => {
    const location = known.find((one) => one.name === name)
    if (location === undefined) return
    const demand = found.get(location) ?? noDemand
    found.set(location, size === undefined ? demand : withBlob(demand, location, size))
  }
  add(bucket.location)
  for await (const { reference, storageClass } of walkBlobs(kv, bucket)) {
    const { manifest } = reference
    const to = blobs.locationFor(bucket.location, storageClass)
    if (blobs.adopted(to, manifest) === undefined) add(to, manifest.size)
  }
  return found
}

/** Sweeps, with retries while stores are unreachable or full. */
async function patientSweep(
  backend: Backend,
  bucket: BucketRecord,
  task: RunningTask,
  pace: Pace,
  retryMs: number,
): Promise<boolean> {
  for (let refusals = 0; ; refusals++) {
    try {
      return await sweep(backend, bucket, task, pace)
    } catch (error) {
      const mayPass = isRefusedForNow(error) || (error instanceof BlobsLeftBehind && error.mayPass)
      if (!mayPass || refusals === limits.moveRetriesMax) throw error
      await delay(retryMs, undefined, { signal: task.signal })
    }
  }
}

/** True when no blob was elsewhere. Unreadable blobs stay where they are; a sweep that finds only unreadable ones throws `BlobsLeftBehind`. */
async function sweep(backend: Backend, bucket: BucketRecord, task: RunningTask, pace: Pace): Promise<boolean> {
  const unreadable: BlobUnreadable[] = []
  let found = 0
  const move = async ({ reference: { owner }, storageClass }: WalkedBlob): Promise<void> => {
    const outcome = await moveBlob(backend, bucket, { owner, storageClass }, pace)
    if (outcome.state === 'unreadable') unreadable.push(outcome.error)
    else found++
    const { done, total = 0, counts } = task.progress
    const bytes = outcome.state === 'there' ? outcome.bytes : 0
    await task.advance({
      done: done + bytes,
      total: Math.max(total, done + bytes),
      counts: { moved: (counts.moved ?? 0) + (bytes > 0 ? 1 : 0), unreadable: unreadable.length },
    })
  }
  const isElsewhere = ({ reference: { manifest }, storageClass }: WalkedBlob): boolean => {
    const there = backend.blobs.adopted(backend.blobs.locationFor(bucket.location, storageClass), manifest)
    return there?.location !== manifest.location || there.locationVersion !== manifest.locationVersion
  }
  await eachOf(walkBlobs(backend.kv, bucket), limits.moveBlobsInFlightMax, async (blob) => {
    // After a request for another location, the next sweep goes there instead.
    if (isElsewhere(blob) && task.arguments.to === bucket.location) await move(blob)
  })
  if (found === 0 && unreadable.length > 0) throw new BlobsLeftBehind(unreadable)
  return found === 0
}

class BlobsLeftBehind extends Error {
  /** Some of the blobs may become readable later. */
  readonly mayPass: boolean
  constructor(errors: readonly BlobUnreadable[]) {
    const reasons = [...new Set(errors.map(({ message }) => message))].slice(0, 3)
    super(`${errors.length} blobs can't be read, and stay where they are: ${reasons.join('; ')}`)
    this.mayPass = errors.some(({ cause }) => isRefusedForNow(cause))
  }
}

function unlessGone(error: unknown): void {
  if (!(error instanceof S3Error) || error.code !== 'NoSuchBucket') throw error
}
