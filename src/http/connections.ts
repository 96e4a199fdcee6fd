/** The open connections and the exchanges that run on each: so that idle ones can be closed, and a parse error ends the right exchange. */
import type { Socket } from 'node:net'
import { S3Error } from '../errors.ts'
import type { Exchange } from './exchange.ts'

export interface Connection {
  /** In the order in which the requests came. */
  readonly running: Set<Exchange>
  readonly customerKeysMayTravel: boolean
}

export class Connections {
  readonly #open = new Map<Socket, Connection>()
  #draining = false
  #onEmpty: (() => void) | undefined

  get draining(): boolean {
    return this.#draining
  }

  opened(socket: Socket, customerKeysMayTravel: boolean): void {
    this.#open.set(socket, { running: new Set(), customerKeysMayTravel })
    socket.once('close', () => {
      this.#open.delete(socket)
      if (this.#open.size === 0) this.#onEmpty?.()
    })
  }

  /** `undefined` once it is closed. */
  of(socket: Socket): Connection | undefined {
    return this.#open.get(socket)
  }

  /** Whether the last request that this connection will serve has come: what follows it must not be served. */
  ended({ running }: Connection): boolean {
    if (running.size > 0) for (const { lastOnConnection } of running) if (lastOnConnection) return true
    return false
  }

  /** An exchange runs until its response is closed: sent in full, or cut. */
  started({ running }: Connection, exchange: Exchange): void {
    running.add(exchange)
    exchange.response.on('close', () => {
      running.delete(exchange)
      // Node ends the connection itself when the answer said so. This one may have been sent before that was known.
      if (running.size === 0 && exchange.lastOnConnection) exchange.request.socket.destroySoon()
    })
  }

  /**
   * What came over the connection can't be parsed. The request whose body it was fails with `error`, those before it are answered, and
   * nothing is read after them. False: no request is under way, so the caller must answer.
   */
  broke(socket: Socket, error: S3Error): boolean {
    const running = this.#open.get(socket)?.running
    if (running === undefined || running.size === 0) return false
    for (const exchange of running) {
      exchange.lastOnConnection = true
      if (!exchange.request.complete) exchange.body.abort(error)
    }
    return true
  }

  /** Closes idle connections now and the others as their answers end. Resolves when all are closed. */
  drain(): Promise<void> {
    this.#draining = true
    for (const [socket, { running }] of this.#open) {
      if (running.size === 0) socket.destroy()
      for (const exchange of running) exchange.lastOnConnection = true
    }
    if (this.#open.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onEmpty = resolve
    })
  }

  destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy()
  }
}

/** What Node's parser says of bytes that it can't take, in S3's words. */
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
