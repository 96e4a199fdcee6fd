/**
 * Holds writes to the quota of their bucket. Well below it, small ones go by a count that may be a moment old, and don't wait for each other. All
 * others take turns, and each commits to a count that it has read itself (ADR 0065).
 */
import type { Clock } from '../clock.ts'
import { S3Error } from '../errors.ts'
import type { Commit, Kv } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import type { BucketQuota, Usage } from '../records/usage.ts'
import { exceeds, isRefused, minus, noUsage, plus, times } from '../rules/quota.ts'
import type { Backend } from './backend.ts'
import { inTurn } from './turns.ts'
import { readUsage } from './usage.ts'

/** Adds to a commit what keeps the bucket within its quota when it grows so. Throws QuotaExceeded. */
export type Cap = (commit: Commit, growth: Usage) => Promise<Commit>

/**
 * Runs `write`, whose commits pass through `cap`, if there is one. `growth`: the most that it adds to the bucket. Throws what `write` throws, and QuotaExceeded.
 * What is under way when the operator sets a quota is not held to it.
 */
export function withinQuota<T>(
  backend: Backend,
  { id, quota }: BucketRecord,
  growth: Usage,
  write: (cap?: Cap) => Promise<T>,
): Promise<T> {
  // Most buckets have none, and their writes should not take longer.
  return quota === undefined ? write() : withRoom(backend, { id, quota }, growth, write)
}

async function withRoom<T>(
  backend: Backend,
  { id, quota }: { id: string; quota: BucketQuota },
  growth: Usage,
  write: (cap?: Cap) => Promise<T>,
): Promise<T> {
  const { kv, clock } = backend
  const room = roomOf(backend, id)
  if (await room.reserve(clock, quota, growth)) return room.unhindered(room.released(growth, write()))
  return inTurn(backend, `quota ${id}`, async () => {
    room.reserveAnyway(growth)
    await room.quiet()
    return room.released(
      growth,
      write((commit, grown) => capped(kv, id, quota, commit, grown)),
    )
  })
}

/** Refuses a body before it is sent. The bucket can fill up, or become emptier, until the body has arrived. Throws QuotaExceeded. */
export async function refuseBeyondQuota(backend: Backend, bucket: BucketRecord, growth: Usage): Promise<void> {
  const { id, quota } = bucket
  if (quota === undefined || (await roomOf(backend, id).isAmple(backend.clock, quota, growth))) return
  const found = await readUsage(backend.kv, id)
  if (found !== undefined && found.total.counting === undefined) refuseIf(found.usage, growth, quota)
}

async function capped(kv: Kv, id: string, quota: BucketQuota, commit: Commit, growth: Usage): Promise<Commit> {
  const found = await readUsage(kv, id)
  if (found === undefined || found.total.counting !== undefined) return commit
  refuseIf(found.usage, growth, quota)
  const { checks = [], puts = [], deletes = [] } = commit
  const { added } = found
  return {
    ...commit,
    checks: [...checks, ...added.checks],
    puts: [...puts, ...added.puts],
    deletes: [...deletes, ...added.deletes],
  }
}

function refuseIf(usage: Usage, growth: Usage, quota: BucketQuota): void {
  if (!isRefused(usage, growth, quota)) return
  const { bytes, objects } = quota
  const of = (used: number, most: number | undefined, unit: string): string[] =>
    most === undefined ? [] : [`${used} of ${most} ${unit}`]
  throw new S3Error('QuotaExceeded', {
    message: `The quota of the bucket leaves no room for this: ${[...of(usage.bytes, bytes, 'bytes'), ...of(usage.objects, objects, 'objects')].join(' and ')} are in use.`,
  })
}

/** What this process knows about the room in a bucket. */
class Room {
  readonly #kv: Kv
  readonly #bucketId: string
  /** Absent: it was not counted when it was last read. */
  #known: { usage: Usage; atMs: number } | undefined
  #reading: Promise<void> | undefined
  /** What was written since then. */
  #since = noUsage
  /** What is being written. */
  #pending = noUsage
  /** Those of them that take no turns. */
  readonly #unhindered = new Set<Promise<unknown>>()

  constructor(kv: Kv, bucketId: string) {
    this.#kv = kv
    this.#bucketId = bucketId
  }

  /** Whether the bucket stays well below its quota with this and everything that is under way. */
  async isAmple(clock: Clock, quota: BucketQuota, growth: Usage): Promise<boolean> {
    const ageMs = Math.abs(clock.now() - (this.#known?.atMs ?? 0))
    if (this.#known === undefined || ageMs > limits.quotaCountAgeMs || !this.#holds(quota, growth)) {
      this.#reading ??= this.#read(clock).finally(() => {
        this.#reading = undefined
      })
      await this.#reading
    }
    return this.#holds(quota, growth)
  }

  /** Reserves room if there is ample room. Then the caller calls `released`. */
  async reserve(clock: Clock, quota: BucketQuota, growth: Usage): Promise<boolean> {
    await this.isAmple(clock, quota, growth)
    // Asked again, because others have reserved room before this went on.
    const isAmple = this.#holds(quota, growth)
    if (isAmple) this.reserveAnyway(growth)
    return isAmple
  }

  reserveAnyway(growth: Usage): void {
    this.#pending = plus(this.#pending, growth)
  }

  /** Gives reserved room back when the write has ended. */
  async released<T>(growth: Usage, writing: Promise<T>): Promise<T> {
    try {
      return await writing
    } finally {
      this.#pending = minus(this.#pending, growth)
      this.#since = plus(this.#since, growth)
    }
  }

  #holds(quota: BucketQuota, growth: Usage): boolean {
    const { usage = noUsage } = this.#known ?? {}
    const after = plus(usage, this.#since, this.#pending, times(growth, limits.quotaRelaxedWrites))
    return !exceeds(after, quota, limits.quotaRelaxedShare)
  }

  async #read(clock: Clock): Promise<void> {
    const before = this.#since
    const found = await readUsage(this.#kv, this.#bucketId)
    const isCounted = found !== undefined && found.total.counting === undefined
    // As long as nobody knows what the bucket holds, its quota refuses nothing. That can end at any time.
    this.#known = isCounted ? { usage: found.usage, atMs: clock.now() } : undefined
    // What was written meanwhile may be in the count already. To add it twice does no harm for a moment.
    this.#since = minus(this.#since, before)
  }

  async unhindered<T>(writing: Promise<T>): Promise<T> {
    this.#unhindered.add(writing)
    try {
      return await writing
    } finally {
      this.#unhindered.delete(writing)
    }
  }

  /** Resolves when all writes that take no turns have ended. Later ones leave room for what is reserved. */
  async quiet(): Promise<void> {
    await Promise.allSettled(this.#unhindered)
  }
}

const rooms = new WeakMap<Backend, Map<string, Room>>()

function roomOf(backend: Backend, bucketId: string): Room {
  const ofBackend = rooms.get(backend) ?? new Map<string, Room>()
  rooms.set(backend, ofBackend)
  const known = ofBackend.get(bucketId)
  if (known !== undefined) return known
  const room = new Room(backend.kv, bucketId)
  ofBackend.set(bucketId, room)
  return room
}
