/** Answers with a stream of server-sent events, under backpressure, until the client leaves, the port closes or the sender may no longer see it. */
import { once } from 'node:events'
import { S3Error } from '../errors.ts'
import { writeHead } from '../http/answer.ts'
import type { Exchange } from '../http/exchange.ts'
import { limits } from '../limits.ts'
import { guardHeaders } from './answer.ts'
import { AdminRefused } from './refusal.ts'

export class EventStreams {
  readonly #closing = new AbortController()
  #open = 0

  /**
   * Sends the events that `begin` returns. Calls `recheck` from time to time, and ends the stream when it rejects. Throws `AdminRefused`, and what
   * `begin` throws.
   */
  async serve(
    exchange: Exchange,
    begin: (signal: AbortSignal) => Promise<AsyncIterable<unknown>>,
    recheck: () => Promise<void>,
  ): Promise<void> {
    if (this.#open >= limits.eventStreamsMax) throw new AdminRefused('TooManyStreams', 'Too many streams are open.')
    const { response } = exchange
    const ending = new AbortController()
    const end = (): void => ending.abort()
    response.once('close', end)
    const signal = AbortSignal.any([ending.signal, this.#closing.signal])
    this.#open++
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
      this.#open--
      response.off('close', end)
    }
  }

  /** Ends all streams. */
  close(): void {
    this.#closing.abort()
  }
}
