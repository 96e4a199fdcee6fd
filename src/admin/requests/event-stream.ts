/** Answers with a stream of server-sent events, under backpressure, until the client leaves, the port closes or the sender may no longer see it. */
import { once } from 'node:events'
import { S3Error } from '../../errors.ts'
import { writeHead } from '../../http/answer.ts'
import { mayTake } from '../../http/connections/fair-share.ts'
import type { Exchange } from '../../http/exchange.ts'
import { limits } from '../../limits.ts'
import { guardHeaders } from './answer.ts'
import { AdminRefused } from './refusal.ts'

/** Who a stream is for. */
interface StreamOwner {
  /** The account or the user. */
  owner: string
  /** Called from time to time. The stream ends when it rejects. */
  recheck: () => Promise<void>
}

export class EventStreams {
  readonly #closing = new AbortController()
  /** By who opened them. */
  readonly #open = new Map<string, number>()

  /** Sends the events that `begin` gives for a signal. Throws `AdminRefused`, and what `begin` throws. */
  async serve(
    exchange: Exchange,
    begin: (signal: AbortSignal) => Promise<AsyncIterable<unknown>>,
    { owner, recheck }: StreamOwner,
  ): Promise<void> {
    this.#refuseMany(owner)
    const { response } = exchange
    const ending = new AbortController()
    const end = (): void => ending.abort()
    response.once('close', end)
    const signal = AbortSignal.any([ending.signal, this.#closing.signal])
    this.#count(owner, 1)
    try {
      const events = await begin(signal)
      writeHead(exchange, 200, ['Content-Type', 'text/event-stream', ...guardHeaders()], 'close')
      const beat = setInterval(() => {
        response.write(':\n\n')
        recheck().catch((error) => {
          // Only a clear refusal ends the stream: the metadata may be unreachable for a moment.
          if (!(error instanceof S3Error) || error.status < 500) end()
        })
      }, limits.eventBeatMs)
      try {
        response.flushHeaders()
        for await (const event of events) {
          if (signal.aborted) break
          const text = `data: ${JSON.stringify(event)}\n\n`
          exchange.bytesOut += Buffer.byteLength(text)
          if (!response.write(text)) await once(response, 'drain', { signal }).catch(() => {})
        }
      } finally {
        clearInterval(beat)
      }
      response.end()
    } finally {
      this.#count(owner, -1)
      response.off('close', end)
    }
  }

  /** Nobody alone can take all of them. */
  #refuseMany(owner: string): void {
    const used = [...this.#open.values()].reduce((all, one) => all + one, 0)
    const own = this.#open.get(owner) ?? 0
    if (mayTake({ own, used, limit: limits.eventStreamsMax })) return
    throw new AdminRefused('TooManyStreams', 'Too many streams are open.')
  }

  #count(owner: string, by: 1 | -1): void {
    const count = (this.#open.get(owner) ?? 0) + by
    if (count > 0) this.#open.set(owner, count)
    else this.#open.delete(owner)
  }

  /** Ends all streams. */
  close(): void {
    this.#closing.abort()
  }
}
