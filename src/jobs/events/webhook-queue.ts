/**
 * The events that wait for one webhook. Each is posted until the webhook takes it; after a crash between the answer and the commit, it is posted again. An event that
 * was not taken is retried on its own, so that it does not hold up those behind it.
 */
import { firstIdSince } from '../../clock.ts'
import type { Backend } from '../../commits/backend.ts'
import { lockNow } from '../../commits/lock-clock.ts'
import type { Entry, Key } from '../../kv/kv.ts'
import { keyAfter } from '../../kv/ordered-key.ts'
import { limits } from '../../limits.ts'
import { eventKey, eventOf, eventsFor } from '../../records/keyspace.ts'
import type { EventRecord } from '../../records/notifications.ts'
import { eventCodec } from '../../records/record-codecs.ts'
import { isTaken, postJson, type Webhook } from '../../webhook.ts'
import { eventJson } from './event-json.ts'

export interface WebhookQueueOptions {
  backend: Backend
  region: string
  /** Tells the operator that a webhook takes no events, or that events were given up. */
  warn(message: string): void
  /** Tells the operator that it takes them again. */
  inform(message: string): void
  onError(error: unknown): void
  /** Milliseconds of a monotonic clock. */
  monotonicMs?(): number
}

/** An event that was posted and not taken. */
interface Delayed {
  key: Key
  times: number
  againMs: number
  firstMs: number
}

/** Statuses that refuse the event itself, rather than saying something about the receiver: they would come again at each attempt. */
const refusals: ReadonlySet<number> = new Set([400, 413, 415, 422])

export class WebhookQueue {
  readonly #webhook: Webhook
  readonly #options: WebhookQueueOptions
  /** By the id of the event. */
  readonly #delayed = new Map<string, Delayed>()
  /** Where to look for the next events that have not been posted. */
  #from: Key
  #taken = 0
  #takenMs = Number.NEGATIVE_INFINITY
  #failuresInRow = 0
  #isAway = false
  /** How many were given up since the operator was last told. */
  #givenUp = 0
  #toldMs = Number.NEGATIVE_INFINITY

  constructor(webhook: Webhook, options: WebhookQueueOptions) {
    this.#webhook = webhook
    this.#options = options
    this.#from = eventsFor(webhook.name).start
  }

  /**
   * Posts the events that are due, first those that were never posted. Stops early when the webhook takes none of many in a row. Resolves with false when it stopped
   * early and no event was taken.
   */
  async send(signal: AbortSignal): Promise<boolean> {
    this.#failuresInRow = 0
    const before = this.#taken
    const isDone = (await this.#sendNew(signal)) && (await this.#sendDelayed(signal))
    this.#tellOfGivenUp()
    return isDone || this.#taken > before
  }

  async #sendNew(signal: AbortSignal): Promise<boolean> {
    const { kv } = this.#options.backend
    const { start, end } = eventsFor(this.#webhook.name)
    for (;;) {
      const page = await kv.range({ start: this.#from, end, limit: limits.eventsReadAtOnce })
      const rest = await this.#sendPage(
        page.filter(({ key }) => !this.#delayed.has(eventOf(key).id)),
        signal,
      )
      const last = page.at(-1)
      const isEnd = last === undefined || page.length < limits.eventsReadAtOnce
      if (rest.length === 0 && isEnd) {
        // Another process can still commit an event that sorts before those that were seen.
        this.#from = start
        return true
      }
      // Failed events that are not in `#delayed` wait for the next round.
      this.#from = rest[0]?.key ?? keyAfter(last?.key ?? start)
      if (rest.length > 0 || signal.aborted) return false
    }
  }

  async #sendDelayed(signal: AbortSignal): Promise<boolean> {
    const { kv } = this.#options.backend
    const due = [...this.#delayed.values()].filter(({ againMs }) => againMs <= this.#nowMs())
    for (let at = 0; at < due.length; at += limits.eventsReadAtOnce) {
      const keys = due.slice(at, at + limits.eventsReadAtOnce).map(({ key }) => key)
      const entries = await kv.get(keys)
      // Some may have expired.
      for (const [i, key] of keys.entries()) if (entries[i] === undefined) this.#delayed.delete(eventOf(key).id)
      const rest = await this.#sendPage(
        entries.flatMap((entry) => entry ?? []),
        signal,
      )
      if (rest.length > 0) return false
    }
    return true
  }

  /** Resolves with the events that were not posted, because the webhook took none of many in a row. */
  async #sendPage(events: readonly Entry[], signal: AbortSignal): Promise<readonly Entry[]> {
    let next = 0
    let done: Key[] = []
    const forget = async (): Promise<void> => {
      const keys = done
      done = []
      if (keys.length > 0) await this.#options.backend.kv.commit({ deletes: keys })
    }
    const sendInTurn = async (): Promise<void> => {
      while (next < events.length && this.#failuresInRow < limits.eventFailuresMax && !signal.aborted) {
        const event = events[next++]
        if (event !== undefined && (await this.#offer(event, signal))) done.push(event.key)
        if (done.length >= limits.eventsForgottenAtOnce) await forget()
      }
    }
    await Promise.all(Array.from({ length: limits.eventsSentAtOnce }, sendInTurn))
    await forget()
    return events.slice(next)
  }

  /** Resolves with whether the event is done with: taken, or given up. */
  async #offer({ key, value }: Entry, signal: AbortSignal): Promise<boolean> {
    const { id } = eventOf(key)
    const status = await this.#post(key, value, signal)
    if (signal.aborted && !isTaken(status)) return false
    if (isTaken(status)) {
      this.#wasTaken()
      this.#delayed.delete(id)
      return true
    }
    const nowMs = this.#nowMs()
    const before = this.#delayed.get(id) ?? { key, times: 0, firstMs: nowMs, againMs: nowMs }
    const times = before.times + 1
    const isRefused = status !== undefined && refusals.has(status)
    // A receiver that refuses everything is set up wrongly, and will take events once that is mended.
    if (isRefused && times >= limits.eventRefusalsMax && this.#takenMs > before.firstMs) {
      this.#delayed.delete(id)
      this.#givenUp++
      return true
    }
    const againMs = nowMs + Math.min(limits.eventRetryMsMin * 2 ** before.times, limits.eventRetryMsMax)
    if (before.times > 0 || this.#delayed.size < limits.eventsDelayedMax) {
      this.#delayed.set(id, { ...before, times, againMs })
    }
    this.#wasNotTaken(status)
    return false
  }

  async #post(key: Key, value: Buffer, signal: AbortSignal): Promise<number | undefined> {
    let event: EventRecord
    try {
      event = eventCodec.decode(key, value)
    } catch (error) {
      this.#options.onError(error)
      return undefined
    }
    const json = eventJson(event, this.#options.region)
    return postJson(this.#webhook, json, { answerMs: limits.eventAnswerMs, signal })
  }

  #wasTaken(): void {
    this.#taken++
    this.#takenMs = this.#nowMs()
    this.#failuresInRow = 0
    if (!this.#isAway) return
    this.#isAway = false
    this.#options.inform(`the webhook ${this.#webhook.name} takes events again`)
    // The webhook is back, so the retries need not wait any longer.
    for (const delayed of this.#delayed.values()) delayed.againMs = this.#takenMs
  }

  #wasNotTaken(status: number | undefined): void {
    this.#failuresInRow++
    if (this.#isAway || this.#takenMs > this.#nowMs() - limits.eventRetryMsMax) return
    this.#isAway = true
    const why = status === undefined ? 'no answer' : `status ${status}`
    this.#options.warn(`the webhook ${this.#webhook.name} takes no events (${why}): they wait`)
  }

  /** At most once a minute, because many can be given up at once. */
  #tellOfGivenUp(): void {
    if (this.#givenUp === 0 || this.#toldMs > this.#nowMs() - limits.eventRetryMsMax) return
    this.#options.warn(
      `the webhook ${this.#webhook.name} refused ${this.#givenUp} events again and again: they were given up`,
    )
    this.#givenUp = 0
    this.#toldMs = this.#nowMs()
  }

  #nowMs(): number {
    return this.#options.monotonicMs?.() ?? performance.now()
  }
}

/** Removes events that have waited for too long. Their age is the lock clock's: a clock that is set ahead removes nothing. Resolves with their number. */
export async function removeExpired(backend: Backend, webhook: string, signal?: AbortSignal): Promise<number> {
  const { kv } = backend
  const { start } = eventsFor(webhook)
  const end = eventKey(webhook, firstIdSince((await lockNow(backend)) - limits.eventKeptMs))
  let removed = 0
  while (signal?.aborted !== true) {
    const page = await kv.range({ start, end, limit: limits.eventsReadAtOnce })
    if (page.length === 0) break
    await kv.commit({ deletes: page.map(({ key }) => key) })
    removed += page.length
  }
  return removed
}
