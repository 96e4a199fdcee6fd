/**
 * The versions of one bucket that wait for one destination. The versions of a key are copied in order, so one that can't be copied holds up those behind it, but no
 * other key.
 */
import { eachOf } from '../../each-of.ts'
import type { Entry } from '../../kv/kv.ts'
import { keyAfter } from '../../kv/ordered-key.ts'
import { existingKey, replicaOf, replicasFor } from '../../records/keyspace.ts'
import { replicaCodec } from '../../records/record-codecs.ts'
import { replicationLimits } from '../../replication-limits.ts'
import { type CopyContext, copyVersion, settle } from './copy-version.ts'
import { CopyRefused, DestinationAway } from './replica-bucket.ts'

export interface DestinationQueueOptions {
  /** The name of the bucket, and of its destination. */
  bucket: string
  arn: string
  /** What was queued before this time may have been copied by another process. */
  startedMs: number
  /** Milliseconds of a monotonic clock. */
  monotonicMs(): number
  warn(message: string): void
  inform(message: string): void
}

/** A version that was refused, and is offered again. */
interface Refused {
  times: number
  firstMs: number
  againMs: number
}

export class DestinationQueue {
  readonly #options: DestinationQueueOptions
  /** By the key of the queue, in hex. */
  readonly #refused = new Map<string, Refused>()
  /** Copies that were begun and not settled, so their outcome is not known. */
  readonly #uncertain = new Set<string>()
  #takenMs = Number.NEGATIVE_INFINITY
  #warnedMs = Number.NEGATIVE_INFINITY
  #failuresInRow = 0
  #pausedUntilMs = Number.NEGATIVE_INFINITY

  constructor(options: DestinationQueueOptions) {
    this.#options = options
  }

  get isPaused(): boolean {
    return this.#options.monotonicMs() < this.#pausedUntilMs
  }

  /** Whether nothing would be lost if it began anew. */
  get isForgettable(): boolean {
    if (this.#refused.size > 0 || this.#uncertain.size > 0 || this.#failuresInRow > 0) return false
    return this.#warnedMs < this.#options.monotonicMs() - replicationLimits.warnEveryMs
  }

  /** Copies what waits, until the destination takes no more; a part of it if `isInDemand` says that others wait for its place. Rejects with faults of this server. */
  async pass(context: Omit<CopyContext, 'mayBeDone'>, isInDemand: () => boolean): Promise<void> {
    const { bucket, arn } = this.#options
    const { start, end } = replicasFor(bucket, arn)
    const { signal } = context
    const held = new Set<string>()
    try {
      for (let from = start; !signal.aborted; ) {
        const page = await context.backend.kv.range({ start: from, end, limit: replicationLimits.queueReadAtOnce })
        // Until all existing versions are queued, a newer version could be copied before an older one.
        if (page[0]?.key.equals(existingKey(bucket, arn))) break
        let copied = 0
        await eachOf(byKey(page), replicationLimits.keysAtOnce, async (versions) => {
          if (!signal.aborted) copied += await this.#copyInTurn(context, versions, held)
        })
        // A page of versions that are held up does not end it, or those behind them would never come.
        if (copied > 0 && isInDemand()) break
        const last = page.at(-1)
        if (last === undefined || page.length < replicationLimits.queueReadAtOnce) break
        from = keyAfter(last.key)
      }
      if (this.#failuresInRow > 0) this.#resume()
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof DestinationAway)) throw error
      this.pause(error.message)
    }
  }

  /** Copies nothing for a while, because the destination can't take anything. Each pause in a row is twice as long, up to a maximum. */
  pause(reason: string): void {
    const pauseMs = Math.min(replicationLimits.pauseMsMin * 2 ** this.#failuresInRow, replicationLimits.pauseMsMax)
    this.#failuresInRow++
    this.#pausedUntilMs = this.#options.monotonicMs() + pauseMs
    this.#warn(` is paused: ${reason}`)
  }

  /** Resolves with the number of those that are done with. */
  async #copyInTurn(
    context: Omit<CopyContext, 'mayBeDone'>,
    versions: readonly Entry[],
    held: Set<string>,
  ): Promise<number> {
    let copied = 0
    for (const queued of versions) {
      const { key } = replicaOf(queued.key)
      if (held.has(key)) break
      if (await this.#copy(context, queued)) copied++
      else held.add(key)
    }
    return copied
  }

  /** Resolves with whether the version is finished: copied or given up. Only then may the next version of its key follow. */
  async #copy(context: Omit<CopyContext, 'mayBeDone'>, queued: Entry): Promise<boolean> {
    const id = queued.key.toString('hex')
    const refused = this.#refused.get(id)
    if (refused !== undefined && refused.againMs > this.#options.monotonicMs()) return false
    const { key } = replicaOf(queued.key)
    const { sinceMs } = replicaCodec.decode(queued.key, queued.value)
    const mayBeDone = this.#uncertain.has(id) || sinceMs < this.#options.startedMs
    this.#uncertain.add(id)
    try {
      const outcome = await copyVersion({ ...context, mayBeDone }, queued)
      await settle(context, queued, outcome)
      if (outcome.kind === 'failed') this.#warn(`: gave up ${key}: ${outcome.reason}`)
      this.#takenMs = this.#options.monotonicMs()
    } catch (error) {
      if (!(error instanceof CopyRefused)) throw error
      if (!this.#refusedForGood(id, refused, error)) return false
      await settle(context, queued, { kind: 'failed', reason: error.message })
    }
    this.#uncertain.delete(id)
    this.#refused.delete(id)
    return true
  }

  /** Remembers the refusal. Returns whether to give the version up. A destination that refuses everything is set up wrongly, and takes it once that is mended. */
  #refusedForGood(id: string, before: Refused | undefined, error: CopyRefused): boolean {
    const nowMs = this.#options.monotonicMs()
    // A destination that refuses so many is as good as away.
    if (before === undefined && this.#refused.size >= replicationLimits.refusedMax)
      throw new DestinationAway(error.message)
    const { times, firstMs } = before ?? { times: 0, firstMs: nowMs }
    const mayGiveUp = { always: true, 'if others are taken': this.#takenMs > firstMs, never: false }[error.giveUp]
    const givesUp = mayGiveUp && times + 1 >= replicationLimits.refusalsMax
    const pauseMs = Math.min(replicationLimits.pauseMsMin * 2 ** times, replicationLimits.pauseMsMax)
    this.#refused.set(id, { times: times + 1, firstMs, againMs: nowMs + pauseMs })
    this.#warn(
      givesUp ? `: gave up a version: ${error.message}` : `: the destination refused a version: ${error.message}`,
    )
    return givesUp
  }

  #resume(): void {
    this.#failuresInRow = 0
    this.#warnedMs = Number.NEGATIVE_INFINITY
    this.#options.inform(`${this.#name} continues`)
  }

  /** At most once a minute, because many can be refused at once. */
  #warn(what: string): void {
    const nowMs = this.#options.monotonicMs()
    if (this.#warnedMs > nowMs - replicationLimits.warnEveryMs) return
    this.#warnedMs = nowMs
    this.#options.warn(`${this.#name}${what}`)
  }

  get #name(): string {
    return `the replication of ${this.#options.bucket} to ${this.#options.arn}`
  }
}

/** The entries of each key, in their order. */
function byKey(page: readonly Entry[]): Entry[][] {
  const groups = new Map<string, Entry[]>()
  for (const entry of page) {
    const { key } = replicaOf(entry.key)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  return [...groups.values()]
}
