/** TLS in front of the HTTP server: takes raw connections, and hands on those whose handshake succeeded. Knows nothing of HTTP. */
import type { Socket } from 'node:net'
import { createServer, type SecureContextOptions, type Server, type TLSSocket } from 'node:tls'

/** PEM texts. The certificate may be followed by those between it and its authority. */
export interface KeyPair {
  cert: string
  key: string
}

export class TlsFront {
  /** Takes connections by listening, and by its event `connection`. */
  readonly server: Server
  /** Raw connections whose handshake is under way, by their peer. */
  readonly #handshakes = new Map<string, Socket>()

  /** Throws when the pair can't be used. */
  constructor(pair: KeyPair, handshakeTimeoutMs: number, handOn: (socket: TLSSocket) => void) {
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
      this.#handshakes.delete(peerOf(socket))
      handOn(socket)
    })
    // Whoever speaks something else here, or stops in the middle, is nobody to answer to.
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
      for (const socket of this.#handshakes.values()) socket.destroy()
    })
  }

  #began(socket: Socket): void {
    const peer = peerOf(socket)
    this.#handshakes.set(peer, socket)
    socket.once('close', () => {
      if (this.#handshakes.get(peer) === socket) this.#handshakes.delete(peer)
    })
  }
}

function contextOf(pair: KeyPair): SecureContextOptions {
  return { ...pair, minVersion: 'TLSv1.2' }
}

/** Node tells of a raw connection and of the secure one over it apart; the address of the other end is what they share. */
const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
