/** TLS in front of the HTTP server: takes raw connections, and passes them on when their handshake succeeds. Speaks no HTTP. */
import type { Socket } from 'node:net'
import { createServer, type SecureContextOptions, type Server, type TLSSocket } from 'node:tls'
import type { Seat } from './shares.ts'

/** PEM texts. Intermediate certificates may follow the certificate. */
export interface KeyPair {
  cert: string
  key: string
}

export interface TlsFrontOptions {
  handshakeTimeoutMs: number
  /** Closes connections without a free seat. */
  takeSeat(socket: Socket): Seat | undefined
  /** Takes connections whose handshake has succeeded. */
  handOn(socket: TLSSocket): void
  /** Takes raw connections whose clients speak HTTP without TLS. The request is not read. */
  spokeHttp(socket: Socket): void
}

interface Handshake {
  socket: Socket
  seat: Seat
}

export class TlsFront {
  /** Takes connections by listening, and by its event `connection`. */
  readonly server: Server
  /** Raw connections whose handshake is under way, by their peer. */
  readonly #handshakes = new Map<string, Handshake>()
  readonly #takeSeat: TlsFrontOptions['takeSeat']

  /** Throws when the pair can't be used. */
  constructor(pair: KeyPair, { handshakeTimeoutMs, takeSeat, handOn, spokeHttp }: TlsFrontOptions) {
    this.#takeSeat = takeSeat
    this.server = createServer({
      ...contextOf(pair),
      handshakeTimeout: handshakeTimeoutMs,
      ALPNProtocols: ['http/1.1'],
      // node:http's own listener sets this too.
      allowHalfOpen: true,
      keepAlive: true,
      noDelay: true,
    })
    this.server.on('connection', (socket: Socket) => this.#began(socket))
    this.server.on('secureConnection', (socket) => {
      handOn(socket)
      this.#handshakes.delete(peerOf(socket))
    })
    this.server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
      const raw = this.#handshakes.get(peerOf(socket))?.socket
      // Whoever forgot the `s` of `https` learns it. Other clients that do not speak TLS, or stop half-way, get no answer.
      if (error.code === 'ERR_SSL_HTTP_REQUEST' && raw !== undefined) spokeHttp(raw)
      else socket.destroy()
    })
  }

  /** Changes the pair for new connections. Throws when it can't be used; the old one then stays in use. */
  renew(pair: KeyPair): void {
    this.server.setSecureContext(contextOf(pair))
  }

  /** Accepts no more connections, and cuts those not yet passed on. Resolves when all are closed. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve())
      for (const { socket } of this.#handshakes.values()) socket.destroy()
    })
  }

  /** The seat of a connection that is being passed on right now. */
  seatOf(socket: Socket): Seat | undefined {
    return this.#handshakes.get(peerOf(socket))?.seat
  }

  #began(socket: Socket): void {
    const seat = this.#takeSeat(socket)
    if (seat === undefined) return
    const peer = peerOf(socket)
    this.#handshakes.set(peer, { socket, seat })
    socket.once('close', () => {
      if (this.#handshakes.get(peer)?.socket === socket) this.#handshakes.delete(peer)
    })
  }
}

function contextOf(pair: KeyPair): SecureContextOptions {
  return { ...pair, minVersion: 'TLSv1.2' }
}

/** Node reports a raw connection and its secure one separately. They share nothing but the address of the other end. */
const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
