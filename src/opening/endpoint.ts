/** The S3 port over a backend. */
import { accessLogLimits } from '../access-log-limits.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { Credentials } from '../auth/credentials.ts'
import type { LocationState } from '../blobs/blobs.ts'
import { systemClock } from '../clock.ts'
import type { Backend } from '../commits/backend.ts'
import type { ListenAddress } from '../config/kinds.ts'
import { type ClientSettings, descriptorsMax, portBounds } from '../http/connections/port-bounds.ts'
import type { HttpServer } from '../http/connections/server.ts'
import type { KeyPair } from '../http/connections/tls-front.ts'
import type { PlannedFailures } from '../http/planned-failures.ts'
import { createHttpServer } from '../http/s3-server.ts'
import type { LocalRequests } from '../http/telemetry/request-feed.ts'
import type { RequestLog } from '../http/telemetry/request-log.ts'
import type { Traffic } from '../http/telemetry/traffic.ts'
import { AccessLogs } from '../jobs/access-logs/access-logs.ts'
import type { AccountBlocks } from '../operations/access/account-blocks.ts'
import { admitLog } from '../operations/buckets/log-delivery.ts'
import { operations } from '../operations/table.ts'
import type { SiteSettings } from '../replication-site.ts'
import type { Traces } from '../spans.ts'
import type { OidcProvider } from '../sts/oidc/provider-settings.ts'
import type { Webhook } from '../webhook.ts'
import { ListenFailed, urlOf } from './listen-address.ts'
import { logRequests, type PortLog } from './port-log.ts'
import { openSites } from './sites.ts'
import { openTemporaryKeys } from './temporary-keys.ts'
import { tracedBackend } from './traced-backend.ts'

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
  /** `OpenData.metadataAnswers`. Absent: it always answers. */
  metadataAnswers?(): boolean
  /** Absent: plain HTTP. */
  keyPair: KeyPair | undefined
  allowCustomerKeysOverHttp: boolean
  /** The checksum of objects that clients send without one. */
  defaultChecksum: 'none' | 'CRC64NVME'
  sigv2: 'off' | 'presigned' | 'all'
  /** Issuers of web identities. Absent: none. */
  oidc?: readonly OidcProvider[]
  /** What buckets can tell of events. Absent: none. */
  webhooks?: readonly Webhook[]
  /** Where buckets can be copied. Absent: to other buckets of this server. */
  sites?: readonly SiteSettings[]
  /** See `PipelineOptions`. */
  failures?: PlannedFailures
  log: PortLog
  audit?: AuditLog | undefined
  /** How often the access logs of buckets are written. Absent: `accessLogLimits.intervalMs`. */
  accessLogIntervalMs?: number
  /** `AdminSettings.slowRequestMs`. */
  slowRequestMs?: number | undefined
  /** Gets every request that was served. Absent: nobody needs them. */
  requests?: LocalRequests | undefined
  /** Counts requests. Absent: nobody needs counts. */
  traffic?: Traffic | undefined
  /** Absent: no tracer collects spans. */
  traces?: Traces | undefined
  /** Origins of the console's pages. They may use every bucket, within the rights of their keys. Absent: there is no console. */
  consoleOrigins?(): readonly string[]
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

/** The port serves connections after `listen`, or those given to `accept`. */
export async function openS3Port(options: S3PortOptions): Promise<HttpServer> {
  const { credentials, domains, region, corsAllowOrigin, keyPair, traces } = options
  const backend = traces === undefined ? options.backend : tracedBackend(options.backend)
  const { requestClock: clock = systemClock } = backend
  const { allowCustomerKeysOverHttp, sigv2, oidc = [], log } = options
  const { trustedProxies, publicEndpoints, websiteDomains, accountBlocks, metadataAnswers = () => true } = options
  const sites = await openSites(options.sites ?? [], backend.clock)
  const bounds = portBounds(options, descriptorsMax())
  const accessLogs = new AccessLogs({
    backend: options.backend,
    region,
    intervalMs: options.accessLogIntervalMs ?? accessLogLimits.intervalMs,
    admit: (source, target, key) => admitLog(source, target, key, systemClock.now()),
    warn: (message) => log.warn(message),
  })
  let closing = false
  const server = createHttpServer({
    operations,
    backend: withSettings(backend, options, sites),
    credentials,
    sts: openTemporaryKeys({ ring: backend.keys, credentials, oidc, clock }),
    domains,
    region,
    corsAllowOrigin,
    consoleOrigins: options.consoleOrigins,
    trustedProxies,
    publicEndpoints,
    websiteDomains,
    accountBlocks,
    tls: keyPair,
    allowCustomerKeysOverHttp,
    sigv2,
    audit: options.audit,
    accessLogs,
    failures: options.failures,
    clock,
    traces,
    ready: (what) =>
      !closing &&
      metadataAnswers() &&
      (what === 'requests' || backend.blobs.locations.every((location) => isReady(location, what))),
    log: seenAndLogged(options, logRequests(log, options.slowRequestMs)),
    bounds,
  })
  const close = async (): Promise<void> => {
    closing = true
    await server.close()
    await accessLogs.close()
  }
  return { ...server, close }
}

function withSettings(
  backend: Backend,
  { defaultChecksum, webhooks = [] }: Pick<S3PortOptions, 'defaultChecksum' | 'webhooks'>,
  sites: Backend['sites'],
): Backend {
  if (defaultChecksum === 'none' && webhooks.length === 0 && sites?.size === 0) return backend
  return {
    ...backend,
    ...(defaultChecksum === 'none' ? {} : { defaultChecksum }),
    webhooks: new Set(webhooks.map(({ name }) => name)),
    sites,
  }
}

function seenAndLogged(
  { requests, traffic }: Pick<S3PortOptions, 'requests' | 'traffic'>,
  log: (line: RequestLog) => void,
): (line: RequestLog) => void {
  return (line) => {
    traffic?.count(line)
    requests?.saw(line)
    log(line)
  }
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
  const server = await openS3Port(options)
  try {
    const { port } = await server.listen(listen.host, listen.port)
    const { renewTls, close } = server
    return { url: urlOf(listen.host, port, { secure: keyPair !== undefined }), port, renewTls, close }
  } catch (error) {
    throw error instanceof Error ? new ListenFailed(listen, error) : error
  }
}
