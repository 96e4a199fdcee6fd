/** The address that clients reach: the S3 port over a store, and what can go wrong in taking it. */
import type { Logger } from 'pino'
import { type Account, openCredentials } from '../auth/credentials.ts'
import { systemClock } from '../clock.ts'
import type { ListenAddress } from '../config/kinds.ts'
import { createHttpServer, type HttpServer } from '../http/server.ts'
import type { KeyPair } from '../http/tls-front.ts'
import { operations } from '../operations/table.ts'
import type { Store } from '../store/store.ts'
import { logRequests } from './http-log.ts'

export interface S3PortOptions {
  store: Store
  accounts: readonly Account[]
  domains: readonly string[]
  region: string
  /** Absent: plain HTTP. */
  keyPair: KeyPair | undefined
  allowCustomerKeysOverHttp: boolean
  log: Logger
}

export interface Endpoint {
  /** For clients on this machine: a wildcard address is shown as the loopback one. */
  url: string
  port: number
  /** New connections get this certificate. */
  renewTls(pair: KeyPair): void
  /** Answers the requests under way. */
  close(): Promise<void>
}

/** The address can't be listened on. The message says why. */
export class ListenFailed extends Error {
  constructor({ host, port }: ListenAddress, { code, message }: NodeJS.ErrnoException) {
    const reasons: Record<string, string> = {
      EADDRINUSE: 'another process listens there already',
      EACCES: 'this user may not listen on that port',
      EADDRNOTAVAIL: 'this machine does not have that address',
      ENOTFOUND: 'that name has no address',
    }
    super(`cannot listen on ${bracketed(host)}:${port}: ${reasons[code ?? ''] ?? message}`)
    this.name = 'ListenFailed'
  }
}

/** Serves connections once told to listen, or given them. */
export function openS3Port(options: S3PortOptions): HttpServer {
  const { store, accounts, domains, region, keyPair, allowCustomerKeysOverHttp, log } = options
  let closing = false
  const server = createHttpServer({
    operations,
    store,
    credentials: openCredentials(accounts),
    domains,
    region,
    tls: keyPair,
    allowCustomerKeysOverHttp,
    clock: systemClock,
    ready: () => !closing,
    log: logRequests(log),
  })
  const close = (): Promise<void> => {
    closing = true
    return server.close()
  }
  return { ...server, close }
}

/** Throws `ListenFailed`. */
export async function openEndpoint(options: S3PortOptions & { listen: ListenAddress }): Promise<Endpoint> {
  const { listen, keyPair } = options
  const server = openS3Port(options)
  try {
    const { port } = await server.listen(listen.host, listen.port)
    return { url: urlOf(listen.host, port, keyPair), port, renewTls: server.renewTls, close: server.close }
  } catch (error) {
    throw error instanceof Error ? new ListenFailed(listen, error) : error
  }
}

export function urlOf(host: string, port: number, keyPair: KeyPair | undefined): string {
  const isWildcard = ['', '0.0.0.0', '::'].includes(host)
  return `${keyPair === undefined ? 'http' : 'https'}://${isWildcard ? '127.0.0.1' : bracketed(host)}:${port}`
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)
