/** The events that wait for one webhook. Each is posted until the webhook takes it; a crash between the answer and the commit posts it again. */
import { firstIdSince } from '../../clock.ts'
import type { Backend } from '../../commits/backend.ts'
import type { Entry, Key } from '../../kv/kv.ts'
import { keyAfter } from '../../kv/ordered-key.ts'
import { limits } from '../../limits.ts'
import { eventKey, eventOf, eventsFor } from '../../records/keyspace.ts'
import { eventCodec } from '../../records/record-codecs.ts'
import { isTaken, postJson, type Webhook } from '../../webhook.ts'
import { eventJson } from './event-json.ts'

export interface WebhookQueueOptions {
  backend: Pick<Backend, 'kv' | 'clock'>
  region: string
  /** Tells the operator about events that were given up. */
  warn(message: string): void
  /** Milliseconds of a monotonic clock. */
  monotonicMs?(): number
}

/** How many of the events that were due the webhook answered, rather than being away. */
export type Reception = 'all' | 'some' | 'none'

/** Answers that say something about the event itself, rather than about the receiver: it would say the same for ever. */
const refusals: ReadonlySet<number> = new Set([400, 413, 415, 422])

export class WebhookQueue {
  readonly #webhook: Webhook
  readonly #options: WebhookQueueOptions
  /** How often the webhook has refused an event that it is still offered, and when it is offered it again, by the id of the event. */
  readonly #refused = new Map<string, { times: number; againMs: number }>()

  constructor(webhook: Webhook, options: WebhookQueueOptions) {
    this.#webhook = webhook
    this.#options = options
  }

  /** Posts all events that are due, until the webhook is away: it takes none of several. */
  async send(signal: AbortSignal): Promise<Reception> {
    const { kv } = this.#options.backend
    const { start, end } = eventsFor(this.#webhook.name)
    let reception: Reception = 'all'
    for (let from = start; ; ) {
      const page = await kv.range({ start: from, end, limit: limits.eventsReadAtOnce })
      const last = page.at(-1)
      // What was offered before has been taken or given up.
      if (from === start && last === undefined) this.#refused.clear()
      const ofPage = await this.#sendPage(
        page.filter(({ key }) => this.#isDue(key)),
        signal,
      )
      if (ofPage !== 'all') reception = ofPage
      if (reception === 'none' || last === undefined || page.length < limits.eventsReadAtOnce) return reception
      from = keyAfter(last.key)
    }
  }

  #nowMs(): number {
    return this.#options.monotonicMs?.() ?? performance.now()
  }

  #isDue(key: Key): boolean {
    const refused = this.#refused.get(eventOf(key).id)
    return refused === undefined || refused.againMs <= this.#nowMs()
  }

  async #sendPage(due: readonly Entry[], signal: AbortSignal): Promise<Reception> {
    const done: Key[] = []
    let next = 0
    let heard = 0
    let unheard = 0
    const sendInTurn = async (): Promise<void> => {
      for (let event = due[next++]; event !== undefined && !signal.aborted; event = due[next++]) {
        const outcome = await this.#post(event, signal)
        if (outcome === 'away') {
          unheard++
          return
        }
        heard++
        if (outcome === 'taken' || this.#givesUp(event.key)) done.push(event.key)
      }
    }
    await Promise.all(Array.from({ length: limits.eventsSentAtOnce }, sendInTurn))
    // One commit for all: after a crash, those of a page are posted again.
    if (done.length > 0) await this.#options.backend.kv.commit({ deletes: done })
    if (unheard === 0) return 'all'
    return heard === 0 ? 'none' : 'some'
  }

  async #post({ key, value }: Entry, signal: AbortSignal): Promise<'taken' | 'refused' | 'away'> {
    const json = eventJson(eventCodec.decode(key, value), this.#options.region)
    const patience = AbortSignal.any([signal, AbortSignal.timeout(limits.eventAnswerMs)])
    const status = await postJson(this.#webhook, json, patience)
    if (isTaken(status)) return 'taken'
    return status !== undefined && refusals.has(status) ? 'refused' : 'away'
  }

  /** Notes that the webhook has refused an event. True when it has done so often enough. */
  #givesUp(key: Key): boolean {
    const { id } = eventOf(key)
    const times = (this.#refused.get(id)?.times ?? 0) + 1
    if (times < limits.eventRefusalsMax) {
      this.#refused.set(id, { times, againMs: this.#nowMs() + limits.eventRetryMsMin * 2 ** times })
      return false
    }
    this.#refused.delete(id)
    this.#options.warn(`the webhook ${this.#webhook.name} refused an event ${times} times: it was given up`)
    return true
  }
}

/** Removes events that have waited for too long for a webhook. Resolves with their number. */
export async function removeExpired({ kv, clock }: Pick<Backend, 'kv' | 'clock'>, webhook: string): Promise<number> {
  const { start } = eventsFor(webhook)
  const end = eventKey(webhook, firstIdSince(clock.now() - limits.eventKeptMs))
  let removed = 0
  for (;;) {
    const page = await kv.range({ start, end, limit: limits.eventsReadAtOnce })
    if (page.length === 0) return removed
    await kv.commit({ deletes: page.map(({ key }) => key) })
    removed += page.length
  }
}
