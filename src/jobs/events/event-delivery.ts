/** Delivers the events of buckets to webhooks, each at least once. Of all processes that share the metadata, one does it. */
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { KvUnavailable } from '../../kv/kv.ts'
import { limits } from '../../limits.ts'
import type { Maintenance } from '../../members/membership.ts'
import { eventOf, eventsFor, queuedEvents } from '../../records/keyspace.ts'
import type { Webhook } from '../../webhook.ts'
import { removeExpired, WebhookQueue, type WebhookQueueOptions } from './webhook-queue.ts'

export interface EventDeliveryOptions extends WebhookQueueOptions {
  webhooks: readonly Webhook[]
  /** How often to look for events that have waited too long. The first look comes after this time, too. */
  expiryEveryMs?: number
}

/** Runs until it is stopped. Stopping aborts posts under way; their events are posted again at the next start. */
export function startEventDelivery(options: EventDeliveryOptions): Maintenance {
  const closing = new AbortController()
  const { signal } = closing
  // Every post under way adds a listener, and Node warns about more than ten.
  setMaxListeners(0, signal)
  const running = [...options.webhooks.map((webhook) => deliver(webhook, options, signal)), expire(options, signal)]
  return {
    stop: async () => {
      closing.abort()
      await Promise.all(running)
    },
  }
}

async function deliver(webhook: Webhook, options: EventDeliveryOptions, signal: AbortSignal): Promise<void> {
  const queue = new WebhookQueue(webhook, options)
  let stopsInRow = 0
  await repeatedly(0, signal, options, async () => {
    if (await queue.send(signal)) {
      stopsInRow = 0
      return limits.eventLookMs
    }
    return Math.min(limits.eventRetryMsMin * 2 ** stopsInRow++, limits.eventPauseMsMax)
  })
}

/** Gives up old events, including those for webhooks that the configuration does not name. Not at once, so that after a long time off each is tried first. */
async function expire(options: EventDeliveryOptions, signal: AbortSignal): Promise<void> {
  const { backend, warn, expiryEveryMs = limits.eventExpiryEveryMs } = options
  await repeatedly(expiryEveryMs, signal, options, async () => {
    for (let { start, end } = queuedEvents; ; ) {
      const [next] = await backend.kv.range({ start, end, limit: 1 })
      if (next === undefined || signal.aborted) return expiryEveryMs
      const { webhook } = eventOf(next.key)
      const count = await removeExpired(backend, webhook, signal)
      const days = limits.eventKeptMs / (24 * 60 * 60 * 1000)
      if (count > 0) warn(`${count} events for the webhook ${webhook} were given up after ${days} days`)
      start = eventsFor(webhook).end
    }
  })
}

/** Calls `work` until the signal is aborted. After each call, waits as long as it said. */
async function repeatedly(
  firstAfterMs: number,
  signal: AbortSignal,
  { backend, onError }: EventDeliveryOptions,
  work: () => Promise<number>,
): Promise<void> {
  for (let waitMs = firstAfterMs; ; ) {
    if (waitMs > 0) await delay(waitMs, undefined, { signal, ref: false }).catch(() => {})
    if (signal.aborted) return
    waitMs = limits.eventRetryMsMax
    try {
      // Damaged metadata takes no commits, so what was delivered would be delivered again and again.
      if ((await backend.kv.integrity.damage()) === undefined) waitMs = await work()
    } catch (error) {
      waitMs = limits.eventRetryMsMin
      if (!signal.aborted && !(error instanceof KvUnavailable)) onError(error)
    }
  }
}
