/** Connections to a server whose exact certificate is known. */
import { X509Certificate } from 'node:crypto'
import { Agent, type AgentOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import { type ConnectionOptions, connect } from 'node:tls'

/** Compares the whole certificate and ignores its host names, because a client on the same machine connects by address. */
export class PinnedAgent extends Agent {
  readonly #fingerprint: string

  /** `certificate`: in PEM. */
  constructor(certificate: string, options?: AgentOptions) {
    super(options)
    this.#fingerprint = new X509Certificate(certificate).fingerprint256
  }

  override createConnection(
    options: ConnectionOptions,
    connected: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const socket = connect({ ...options, rejectUnauthorized: false })
    const failed = (error: Error): void => connected(error, socket)
    socket.once('error', failed)
    socket.once('secureConnect', () => {
      socket.off('error', failed)
      const isExpected = socket.getPeerX509Certificate()?.fingerprint256 === this.#fingerprint
      connected(isExpected ? null : new WrongCertificate(), socket)
      if (!isExpected) socket.destroy()
    })
  }
}

/** The server has another certificate than the expected one. */
export class WrongCertificate extends Error {
  constructor() {
    super('it has another certificate')
    this.name = 'WrongCertificate'
  }
}
