/** Connects requests to the admin port with the services of a server. Loaded for the first request, because it is most of the port's code, and many servers never get one. */

import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { AdminReadiness } from '../../admin/probe.ts'
import { compileAdminHosts } from '../../admin/requests/hosts.ts'
import { AdminPipeline } from '../../admin/requests/pipeline.ts'
import type { ServerInfo } from '../../admin/services.ts'
import { adminOperations } from '../../admin/table.ts'
import type { AuditLog } from '../../audit/audit-log.ts'
import type { LocationState } from '../../blobs/blobs.ts'
import { systemClock } from '../../clock.ts'
import type { Backend } from '../../commits/backend.ts'
import { rootAccount } from '../../config/accounts.ts'
import type { ListenAddress } from '../../config/kinds.ts'
import type { Placement } from '../../config/locations.ts'
import type { ShownSetting } from '../../config/shown-settings.ts'
import type { KeyPair } from '../../http/connections/tls-front.ts'
import type { ServedIdentities } from '../../identities/identities.ts'
import type { BucketQuotas } from '../../jobs/bucket-quotas.ts'
import type { BucketUsages } from '../../jobs/bucket-usage.ts'
import type { ShardCounts } from '../../jobs/locations/shard-counts.ts'
import { LogIns } from '../../logins/log-ins.ts'
import type { ProcessLoad } from '../../metrics/process-load.ts'
import type { SiteSettings } from '../../replication-site.ts'
import type { OidcProvider } from '../../sts/oidc/provider-settings.ts'
import { openAccountBlocks } from '../account-blocks.ts'
import { isReady } from '../endpoint.ts'
import { openTemporaryKeys } from '../temporary-keys.ts'
import { openMetrics } from './metrics.ts'
import type { S3Processes } from './s3-processes.ts'
import { adminServices } from './services.ts'

export interface AdminEndpointOptions {
  listen: ListenAddress
  backend: Backend
  identities: Pick<ServedIdentities, 'credentials' | 'verbs' | 'publicAccessBlock'>
  /** Accounts block all public access unless they have a setting of their own. */
  blockPublic: boolean
  oidc: readonly OidcProvider[]
  region: string
  /** Absent: plain HTTP. */
  keyPair: KeyPair | undefined
  /** Further URLs under which browsers reach this port and the S3 port. */
  adminPublicEndpoints: readonly string[]
  /** The bearer token of scrapes from other machines. Absent: only this machine may scrape. */
  adminMetricsToken: string | undefined
  publicEndpoints: readonly string[]
  trustedProxies: readonly string[]
  placement: Placement
  /** Servers elsewhere that take copies. */
  sites: readonly SiteSettings[]
  /** The data directory. Absent: everything is in memory. */
  dataPath: string | undefined
  /** `AdminServicesOptions.member`. */
  member: string | undefined
  settings(): ShownSetting[]
  processes: S3Processes
  audit: AuditLog
  /** See `OpenData`. */
  metadataAnswers(): boolean
  /** The server's state. `undefined`: it does not serve S3 yet, or no longer. */
  serving(): Omit<ServerInfo, 'region'> | undefined
  log: Logger
}

/** What an admin port counts for as long as it is open. */
export interface Counting {
  usages: BucketUsages
  quotas: BucketQuotas
  shardCounts: ShardCounts
  load: { report(): ProcessLoad }
}

export function openPipeline(
  options: AdminEndpointOptions,
  { usages, quotas, shardCounts, load }: Counting,
): AdminPipeline {
  const { listen, backend, identities, oidc, region, keyPair, metadataAnswers, serving, log } = options
  const { credentials } = identities
  const { requestClock: clock = systemClock } = backend
  const accountBlocks = openAccountBlocks(identities, options)
  const sts = openTemporaryKeys({ ring: backend.keys, credentials, oidc, clock: backend.requestClock ?? backend.clock })
  const secure = keyPair !== undefined
  const info = (): ServerInfo => ({ version: '', workers: 0, startedMs: 0, endpoint: '', ...serving(), region })
  const s3Endpoint = (adminOrigin: string): string => s3EndpointFor(adminOrigin, info().endpoint, options)
  const metrics = openMetrics({
    ...options,
    usages,
    quotas,
    load,
    info: () => ({ ...info(), serving: serving() !== undefined }),
  })
  return new AdminPipeline({
    ...adminServices({ ...options, accountBlocks, usages, quotas, shardCounts, info, s3Endpoint, metrics }),
    metricsToken: options.adminMetricsToken,
    operations: adminOperations,
    credentials,
    sessions: sts.sessions,
    logIns: new LogIns({ kv: backend.kv, credentials, sts, oidc }),
    hosts: compileAdminHosts({
      endpoints: options.adminPublicEndpoints,
      names: [hostname(), listen.host].filter((name) => name !== ''),
      secure,
    }),
    mainAccount: rootAccount.id,
    region,
    clock,
    trustedProxies: options.trustedProxies,
    readiness: () => readinessOf(backend.blobs, serving() !== undefined && metadataAnswers()),
    audit: options.audit,
    changed: (change) => log.info(change, 'changed through the admin port'),
  })
}

/** A browser reaches the S3 port under the name of this machine by which it reaches the admin port. Pure. */
function s3EndpointFor(
  adminOrigin: string,
  endpoint: string,
  { publicEndpoints }: Pick<AdminEndpointOptions, 'publicEndpoints'>,
): string {
  const [configured] = publicEndpoints
  if (configured !== undefined || !URL.canParse(endpoint)) return configured ?? endpoint
  const url = new URL(endpoint)
  url.hostname = new URL(adminOrigin).hostname
  return url.origin
}

/** A problem of another location than the default one makes the server `degraded`, not `unavailable`, because one lost location must not take it out of a balancer. Pure. */
export function readinessOf(
  { locations, defaultLocation }: { locations: readonly ProbedLocation[]; defaultLocation: string },
  serving: boolean,
): AdminReadiness {
  const ailing = locations.flatMap((location) => {
    const [reads, writes] = [isReady(location, 'reads'), isReady(location, 'writes')]
    if (reads && writes) return []
    const stores = location.stores.filter(({ state }) => state !== 'up').map(({ name, state }) => ({ name, state }))
    return [{ name: location.name, reads, writes, stores }]
  })
  const serves = serving && ailing.every(({ name }) => name !== defaultLocation)
  if (serves && ailing.length === 0) return { status: 'ready' }
  return { status: serves ? 'degraded' : 'unavailable', ...(ailing.length === 0 ? {} : { locations: ailing }) }
}

type ProbedLocation = Pick<LocationState, 'name' | 'writeAck' | 'copies'> & {
  stores: readonly Pick<LocationState['stores'][number], 'name' | 'state'>[]
}
