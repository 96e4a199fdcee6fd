/** What happens to the connection after an answer. The next request must never be parsed out of an unread body. */
import type { Exchange } from '../exchange.ts'
import { announcesBody, type RequestHead } from '../request-head.ts'

/**
 * - keep: the next request may come; the rest of this one's body is read and dropped first.
 * - close: nothing is left to read.
 * - linger: the rest is too large to read, or it is uncertain whether it comes. It is read for a while after the answer, because closing at once would
 * reset the connection of a client that is still sending, and that client would never see the answer.
 */
export type Afterwards = 'keep' | 'close' | 'linger'

export function afterwards(exchange: Exchange, head: RequestHead | undefined): Afterwards {
  const { request, body, bounds } = exchange
  // When the head can't be read reliably, nothing after it can.
  if (head === undefined) return 'linger'
  // Node says that a request is complete only after its handler has run for the first time, with or without a body.
  if (request.complete || !announcesBody(head)) return exchange.lastOnConnection ? 'close' : 'keep'
  if (body.broken) return 'close'
  if (exchange.lastOnConnection || body.withheld || head.contentLength === undefined) return 'linger'
  return head.contentLength - body.received <= bounds.unreadBodyDrainBytesMax ? 'keep' : 'linger'
}

/** Ends the answer with its last bytes. */
export function endAnswer(exchange: Exchange, how: Afterwards, lastBytes: Buffer | undefined): void {
  const { request, response } = exchange
  if (how === 'linger') {
    // By then the client has its whole answer, and waits only for the end of the connection.
    if (lastBytes === undefined) response.flushHeaders()
    else response.write(lastBytes)
    holdUnsent(exchange)
    dropIncoming(exchange, () => {
      response.end()
      watchTaking(exchange, response.writableLength)
    })
    return
  }
  response.end(lastBytes)
  holdUnsent(exchange)
  if (!request.complete) request.resume()
}

/** Counts the bytes that the connection did not take at once: they stay in memory until the client takes them. */
function holdUnsent(exchange: Exchange): void {
  const bytes = exchange.response.writableLength
  if (bytes === 0) return
  exchange.share.hold(bytes)
  watchTaking(exchange, bytes)
}

/**
 * The client must take this many bytes at the minimum rate, without a pause of `idleBodyTimeoutMs`, after which Node cuts the connection.
 * With 0 bytes, the watch ends.
 */
export function watchTaking(exchange: Exchange, bytes: number): void {
  const { response, bounds } = exchange
  const { idleBodyTimeoutMs, clientBytesPerSecondMin } = bounds
  // 0: Node sets its own timeout when everything is sent.
  response.socket?.setTimeout(bytes > 0 ? idleBodyTimeoutMs : 0)
  const slowestMs = clientBytesPerSecondMin === 0 ? Number.POSITIVE_INFINITY : (bytes / clientBytesPerSecondMin) * 1000
  exchange.takenByMs = bytes > 0 ? performance.now() + idleBodyTimeoutMs + slowestMs : Number.POSITIVE_INFINITY
}

function dropIncoming({ request, bounds }: Exchange, then: () => void): void {
  const timer = setTimeout(then, bounds.lingerMs)
  const done = (): void => {
    clearTimeout(timer)
    then()
  }
  if (request.destroyed) done()
  else request.on('end', done).on('close', done).on('error', done).resume()
}
