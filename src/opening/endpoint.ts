/** The S3 port over a store, and the errors of listening on its address. */

import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Logger } from 'pino'
import type { Credentials } from '../auth/credentials.ts'
import type { LocationState } from '../blobs/blobs.ts'
import { systemClock } from '../clock.ts'
import type { Backend } from '../commits/backend.ts'
import type { ListenAddress } from '../config/kinds.ts'
import { type ClientSettings, descriptorsMax, portBounds } from '../http/port-bounds.ts'
import type { RequestLog } from '../http/request-log.ts'
import { createHttpServer, type HttpServer } from '../http/server.ts'
import type { KeyPair } from '../http/tls-front.ts'
import type { AccountBlocks } from '../operations/account-blocks.ts'
import { operations } from '../operations/table.ts'
import type { OidcProvider } from '../sts/oidc/provider-settings.ts'
import { openTemporaryKeys } from './temporary-keys.ts'

export interface S3PortOptions extends Partial<ClientSettings> {
  backend: Backend
  credentials: Credentials
  domains: readonly string[]
  region: string
  /** Origins whose pages may use buckets without a CORS configuration. */
  corsAllowOrigin: readonly string[]
  /** See `PipelineOptions`. */
  trustedProxies?: readonly string[] | undefined
  publicEndpoints?: readonly string[] | undefined
  websiteDomains?: readonly string[] | undefined
  accountBlocks: AccountBlocks | undefined
  /** See `OpenData`. Absent: always. */
  metadataAnswers?(): boolean
  /** Absent: plain HTTP. */
  keyPair: KeyPair | undefined
  allowCustomerKeysOverHttp: boolean
  /** The checksum of objects that clients send without one. */
  defaultChecksum: 'none' | 'CRC64NVME'
  sigv2: 'off' | 'presigned' | 'all'
  /** Issuers of web identities. Absent: none. */
  oidc?: readonly OidcProvider[]
  log: Logger
}

export interface Endpoint {
  /** The URL for clients on this machine: a wildcard address becomes the loopback one. */
  url: string
  port: number
  /** Uses this certificate for new connections. */
  renewTls(pair: KeyPair): void
  /** Stops listening, and resolves when the requests under way are answered. */
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

/** The port serves connections after `listen`, or those given to `accept`. */
export function openS3Port(options: S3PortOptions): HttpServer {
  const { backend, credentials, domains, region, corsAllowOrigin, keyPair } = options
  const { allowCustomerKeysOverHttp, defaultChecksum, sigv2, oidc = [], log } = options
  const { trustedProxies, publicEndpoints, websiteDomains, accountBlocks, metadataAnswers = () => true } = options
  const bounds = portBounds(options, descriptorsMax())
  let closing = false
  const server = createHttpServer({
    operations,
    backend: defaultChecksum === 'none' ? backend : { ...backend, defaultChecksum },
    credentials,
    sts: openTemporaryKeys({ ring: backend.keys, credentials, oidc, clock: systemClock }),
    domains,
    region,
    corsAllowOrigin,
    trustedProxies,
    publicEndpoints,
    websiteDomains,
    accountBlocks,
    tls: keyPair,
    allowCustomerKeysOverHttp,
    sigv2,
    clock: systemClock,
    ready: (what) =>
      !closing &&
      metadataAnswers() &&
      (what === 'requests' || backend.blobs.locations.every((location) => isReady(location, what))),
    log: logRequests(log),
    bounds,
  })
  const close = (): Promise<void> => {
    closing = true
    return server.close()
  }
  return { ...server, close }
}

/** Whether enough stores of a location are in use. Pure. */
export function isReady(
  {
    stores,
    writeAck,
    copies,
  }: Pick<LocationState, 'writeAck' | 'copies'> & {
    stores: readonly Pick<LocationState['stores'][number], 'state'>[]
  },
  what: 'reads' | 'writes',
): boolean {
  if (what === 'writes') return stores.filter(({ state }) => state === 'up').length >= writeAck
  return stores.filter(({ state }) => state === 'out').length < copies
}

/** Throws `ListenFailed`. */
export async function openEndpoint(options: S3PortOptions & { listen: ListenAddress }): Promise<Endpoint> {
  const { listen, keyPair } = options
  const server = openS3Port(options)
  try {
    const { port } = await server.listen(listen.host, listen.port)
    const { renewTls, close } = server
    return { url: urlOf(listen.host, port, { secure: keyPair !== undefined }), port, renewTls, close }
  } catch (error) {
    throw error instanceof Error ? new ListenFailed(listen, error) : error
  }
}

/** Call before a first start creates anything, so that a failed start leaves nothing behind. Throws `ListenFailed`. */
export async function refuseTakenAddress(address: ListenAddress): Promise<void> {
  const server = createServer()
  try {
    server.listen(address)
    await once(server, 'listening')
  } catch (error) {
    throw error instanceof Error ? new ListenFailed(address, error) : error
  } finally {
    server.close()
  }
}

export function urlOf(host: string, port: number, { secure }: { secure: boolean }): string {
  const isWildcard = ['', '0.0.0.0', '::'].includes(host)
  return `${secure ? 'https' : 'http'}://${isWildcard ? '127.0.0.1' : bracketed(host)}:${port}`
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/**
 * Decides which requests are logged, and at what level: the server's failures always, the rest (refusals under overload too) only when the log level
 * includes info. A vendor header without effect makes a line at debug level, to explain why a client's header did nothing.
 */
export function logRequests(log: Logger): (line: RequestLog) => void {
  const logsAll = log.isLevelEnabled('info')
  const logsIgnored = log.isLevelEnabled('debug')
  return (request) => {
    if (!logsAll && !logsIgnored && request.status !== 500 && request.error === undefined) return
    const { ignoredHeaders, ...line } = request
    if (ignoredHeaders !== undefined && logsIgnored) {
      const { requestId, operation } = line
      log.debug({ requestId, operation, ignoredHeaders }, 'vendor headers without a meaning here were ignored')
    }
    if (line.error !== undefined) {
      const { error, ...rest } = line
      log.error({ ...rest, err: error }, 'a request failed unexpectedly')
    } else if (line.status === 500) log.warn(line, 'a request failed')
    else if (logsAll) log.info(line, 'request')
  }
}
