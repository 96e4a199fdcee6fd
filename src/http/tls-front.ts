/** TLS in front of the HTTP server: takes raw connections, and hands on those whose handshake succeeded. Knows nothing of HTTP. */
import type { Socket } from 'node:net'
import { createServer, type SecureContextOptions, type Server, type TLSSocket } from 'node:tls'
import type { Seat } from './shares.ts'

/** PEM texts. The certificate may be followed by those between it and its authority. */
export interface KeyPair {
  cert: string
  key: string
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
  readonly #takeSeat: (socket: Socket) => Seat | undefined

  /** `takeSeat` closes connections for which it has no place. Throws when the pair can't be used. */
  constructor(
    pair: KeyPair,
    handshakeTimeoutMs: number,
    takeSeat: (socket: Socket) => Seat | undefined,
    handOn: (socket: TLSSocket) => void,
  ) {
    this.#takeSeat = takeSeat
    this.server = createServer({
      ...contextOf(pair),
      handshakeTimeout: handshakeTimeoutMs,
      ALPNProtocols: ['http/1.1'],
      // As node:http has its own listener.
      allowHalfOpen: true,
      keepAlive: true,
      noDelay: true,
    })
    this.server.on('connection', (socket: Socket) => this.#began(socket))
    this.server.on('secureConnection', (socket) => {
      handOn(socket)
      this.#handshakes.delete(peerOf(socket))
    })
    // A client that speaks something else, or stops in the middle, gets no answer.
    this.server.on('tlsClientError', (_error, socket) => socket.destroy())
  }

  /** Connections that are open stay as they are. Throws when the pair can't be used; the old one then goes on being used. */
  renew(pair: KeyPair): void {
    this.server.setSecureContext(contextOf(pair))
  }

  /** Takes no more connections, and cuts those that have not been handed on. Resolves when all are closed. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve())
      for (const { socket } of this.#handshakes.values()) socket.destroy()
    })
  }

  /** The place of a connection that is just being handed on. */
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

/** Node reports a raw connection and the secure one over it separately. All that they share is the address of the other end. */
const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
