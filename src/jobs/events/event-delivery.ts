/** Delivers the events of buckets to webhooks, each at least once. One process of all that share the metadata does it. */
import { setTimeout as delay } from 'node:timers/promises'
import { KvUnavailable } from '../../kv/kv.ts'
import { limits } from '../../limits.ts'
import type { Maintenance } from '../../members/membership.ts'
import { eventOf, eventsFor, queuedEvents } from '../../records/keyspace.ts'
import type { Webhook } from '../../webhook.ts'
import { removeExpired, WebhookQueue, type WebhookQueueOptions } from './webhook-queue.ts'

export interface EventDeliveryOptions extends WebhookQueueOptions {
  webhooks: readonly Webhook[]
  onError(error: unknown): void
}

/** Until it is stopped. Stopping ends posts under way; their events are posted again at the next start. */
export function startEventDelivery(options: EventDeliveryOptions): Maintenance {
  const { webhooks } = options
  const closing = new AbortController()
  const { signal } = closing
  const running = [
    ...webhooks.map((webhook) => deliver(webhook, options, signal)),
    forgetStrays(new Set(webhooks.map(({ name }) => name)), options, signal),
  ]
  return {
    stop: async () => {
      closing.abort()
      await Promise.all(running)
    },
  }
}

async function deliver(webhook: Webhook, options: EventDeliveryOptions, signal: AbortSignal): Promise<void> {
  const queue = new WebhookQueue(webhook, options)
  let awayTimes = 0
  await repeatedly(signal, options, async () => {
    const reception = await queue.send(signal)
    if (reception !== 'none') {
      awayTimes = 0
      return reception === 'all' ? limits.eventLookMs : limits.eventRetryMsMin
    }
    if (awayTimes === 0 && !signal.aborted) options.warn(`the webhook ${webhook.name} takes no events: they wait`)
    warnOfExpired(webhook.name, await removeExpired(options.backend, webhook.name), options)
    return Math.min(limits.eventRetryMsMin * 2 ** awayTimes++, limits.eventRetryMsMax)
  })
}

/** Removes old events of webhooks that the configuration does not name, or no longer. */
async function forgetStrays(
  known: ReadonlySet<string>,
  options: EventDeliveryOptions,
  signal: AbortSignal,
): Promise<void> {
  const { backend } = options
  await repeatedly(signal, options, async () => {
    for (let { start, end } = queuedEvents; ; ) {
      const [next] = await backend.kv.range({ start, end, limit: 1 })
      if (next === undefined) return limits.strayEventsLookMs
      const { webhook } = eventOf(next.key)
      if (!known.has(webhook)) warnOfExpired(webhook, await removeExpired(backend, webhook), options)
      start = eventsFor(webhook).end
    }
  })
}

function warnOfExpired(webhook: string, count: number, { warn }: EventDeliveryOptions): void {
  if (count === 0) return
  const days = limits.eventKeptMs / (24 * 60 * 60 * 1000)
  warn(`${count} events for the webhook ${webhook} were given up after ${days} days`)
}

/** Calls `work` until the signal is aborted, and waits as long between calls as it says. */
async function repeatedly(
  signal: AbortSignal,
  { backend, onError }: EventDeliveryOptions,
  work: () => Promise<number>,
): Promise<void> {
  while (!signal.aborted) {
    let waitMs: number = limits.eventRetryMsMax
    try {
      // Damaged metadata takes no commits, so what was delivered would be delivered again and again.
      if ((await backend.kv.integrity.damage()) === undefined) waitMs = await work()
    } catch (error) {
      waitMs = limits.eventRetryMsMin
      if (!signal.aborted && !(error instanceof KvUnavailable)) onError(error)
    }
    await delay(waitMs, undefined, { signal, ref: false }).catch(() => {})
  }
}
