/**
 * The open connections and the requests on each. A connection serves one request at a time (RFC 9112 section 9.3.2); requests that Node has parsed ahead wait for the
 * answers before them. Cuts clients that take their answers too slowly, and ends all connections at shutdown.
 */
import type { Socket } from 'node:net'
import { S3Error } from '../../errors.ts'
import type { Exchange, ExchangeParts } from '../exchange.ts'
import type { HttpBounds } from './bounds.ts'
import type { Seat } from './shares.ts'

export interface Connection {
  readonly socket: Socket
  readonly seat: Seat
  readonly customerKeysMayTravel: ExchangeParts['customerKeysMayTravel']
  running: Exchange | undefined
  /** Requests that arrived while another was running, in order. */
  readonly waiting: Exchange[]
  /** An answer is being delayed: see `holdBack`. */
  heldBack: boolean
}

/** How often to look for slow clients within the time that they are allowed. */
const looksPerTimeout = 4

export class Connections {
  readonly #open = new Map<Socket, Connection>()
  readonly #bounds: HttpBounds
  readonly #serve: (exchange: Exchange) => void
  #watch: NodeJS.Timeout | undefined
  #draining = false
  #onEmpty: (() => void) | undefined

  /** Calls `serve` with each exchange when its turn has come. */
  constructor(bounds: HttpBounds, serve: (exchange: Exchange) => void) {
    this.#bounds = bounds
    this.#serve = serve
  }

  get draining(): boolean {
    return this.#draining
  }

  opened(socket: Socket, seat: Seat, customerKeysMayTravel: Connection['customerKeysMayTravel']): void {
    const connection: Connection = {
      socket,
      seat,
      customerKeysMayTravel,
      running: undefined,
      waiting: [],
      heldBack: false,
    }
    seat.isBusy = () => connection.running !== undefined || connection.waiting.length > 0
    this.#open.set(socket, connection)
    this.#watch ??= setInterval(() => this.#cutSlow(), this.#bounds.idleBodyTimeoutMs / looksPerTimeout).unref()
    // Node resumes the socket by itself, for instance when a body has been read.
    socket.on('resume', () => {
      if (connection.waiting.length > 0 || connection.heldBack) socket.pause()
    })
    socket.once('close', () => this.#closed(connection))
  }

  /** `undefined` when the socket is closed. */
  of(socket: Socket): Connection | undefined {
    return this.#open.get(socket)
  }

  /** Whether the connection has received the last request that it will serve: nothing after it may be served. */
  ended({ running, waiting }: Connection): boolean {
    return (running?.lastOnConnection ?? false) || (waiting.at(-1)?.lastOnConnection ?? false)
  }

  /** Serves the request when those before it are answered. */
  arrived(connection: Connection, exchange: Exchange): void {
    const { running, waiting, socket } = connection
    connection.seat.used = true
    if (running === undefined && waiting.length === 0) {
      this.#start(connection, exchange)
      return
    }
    waiting.push(exchange)
    // A client that pipelines more than this must send the rest again, as after any connection that ends.
    if (waiting.length >= this.#bounds.pipelinedRequestsMax || !exchange.share.mayWait())
      exchange.lastOnConnection = true
    socket.pause()
  }

  /**
   * Call when the bytes on the connection can't be parsed. The request whose body they are in fails with `error`, those before it are answered,
   * and nothing more is read. False: no request is under way, so the caller must answer.
   */
  broke(socket: Socket, error: S3Error): boolean {
    const connection = this.#open.get(socket)
    const newest = connection?.waiting.at(-1) ?? connection?.running
    if (newest === undefined) return false
    newest.lastOnConnection = true
    if (!newest.request.complete) newest.body.abort(error)
    return true
  }

  /**
   * Resolves after that time, or when the connection is cut. Meanwhile nothing is read, not even the end of the connection, because
   * a client that leaves early must not free its seat for another try.
   */
  holdBack(connection: Connection, ms: number): Promise<void> {
    const { socket, waiting } = connection
    connection.heldBack = true
    socket.pause()
    return new Promise((resolve) => {
      const release = (): void => {
        clearTimeout(timer)
        socket.off('close', release)
        connection.heldBack = false
        if (waiting.length === 0) socket.resume()
        resolve()
      }
      const timer = setTimeout(release, ms)
      socket.once('close', release)
    })
  }

  /** Closes idle connections now and the others as their answers end. Resolves when all are closed. */
  drain(): Promise<void> {
    this.#draining = true
    for (const [socket, { running }] of this.#open) {
      if (running === undefined) socket.destroy()
      else running.lastOnConnection = true
    }
    if (this.#open.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onEmpty = resolve
    })
  }

  destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy()
  }

  /** An exchange runs until its response is closed: sent in full, or cut. */
  #start(connection: Connection, exchange: Exchange): void {
    connection.running = exchange
    exchange.response.on('close', () => this.#answered(connection, exchange))
    this.#serve(exchange)
  }

  #answered(connection: Connection, exchange: Exchange): void {
    const { socket, waiting } = connection
    connection.running = undefined
    exchange.share.ended()
    // Node ends the connection when the answer's head says `Connection: close`. This head may have been sent before the decision to close.
    if (exchange.lastOnConnection) {
      leaveUnserved(connection)
      socket.destroySoon()
      return
    }
    // Pipelined requests take turns with those of other connections.
    if (waiting.length > 0) setImmediate(() => this.#next(connection))
  }

  #next(connection: Connection): void {
    const { socket, waiting } = connection
    const next = socket.destroyed ? undefined : waiting.shift()
    if (next !== undefined) this.#start(connection, next)
    if (waiting.length === 0) socket.resume()
  }

  #closed(connection: Connection): void {
    leaveUnserved(connection)
    this.#open.delete(connection.socket)
    if (this.#open.size > 0) return
    clearInterval(this.#watch)
    this.#watch = undefined
    this.#onEmpty?.()
  }

  #cutSlow(): void {
    const nowMs = performance.now()
    for (const [socket, { running }] of this.#open)
      if (running !== undefined && running.takenByMs < nowMs) socket.destroy()
  }
}

/** Requests that never began get no answer. */
function leaveUnserved({ waiting }: Connection): void {
  for (const { share } of waiting.splice(0)) share.leave()
}

/** Maps the errors of Node's parser to S3's. */
export function errorOfParser(error: NodeJS.ErrnoException): S3Error {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new S3Error('RequestHeaderSectionTooLarge')
    case 'HPE_INVALID_EOF_STATE':
    case 'ECONNRESET':
      return new S3Error('IncompleteBody')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new S3Error('RequestTimeout')
    default:
      return new S3Error('BadRequest', { message: 'An error occurred when parsing the HTTP request.' })
  }
}
