/** The admin port of a server: a listener of its own, in the process that owns the data. */
import type { Logger } from 'pino'
import { faultsInJson } from '../admin/answer.ts'
import { explainAccess } from '../admin/explanation.ts'
import type { ServerInfo } from '../admin/operation.ts'
import { type AdminChange, AdminPipeline } from '../admin/pipeline.ts'
import type { AdminReadiness } from '../admin/probe.ts'
import { adminOperations } from '../admin/table.ts'
import type { LocationState } from '../blobs/blobs.ts'
import { systemClock } from '../clock.ts'
import type { Backend } from '../commits/backend.ts'
import { rootAccount } from '../config/accounts.ts'
import type { ListenAddress } from '../config/kinds.ts'
import { createPort } from '../http/server.ts'
import type { KeyPair } from '../http/tls-front.ts'
import type { ServedIdentities } from '../identities/identities.ts'
import { limits } from '../limits.ts'
import type { OidcProvider } from '../sts/oidc/provider-settings.ts'
import { openAccountBlocks } from './account-blocks.ts'
import { isReady, ListenFailed, logRequests, urlOf } from './endpoint.ts'
import { openTemporaryKeys } from './temporary-keys.ts'

export interface AdminEndpointOptions {
  listen: ListenAddress
  backend: Backend
  identities: Pick<ServedIdentities, 'credentials' | 'verbs' | 'publicAccessBlock'>
  /** Accounts without a setting of their own block everything. */
  blockPublic: boolean
  oidc: readonly OidcProvider[]
  region: string
  /** Absent: plain HTTP. */
  keyPair: KeyPair | undefined
  /** See `OpenData`. */
  metadataAnswers(): boolean
  /** The server's state. `undefined`: it does not serve S3 yet, or no longer. */
  serving(): Omit<ServerInfo, 'region'> | undefined
  log: Logger
}

export interface AdminEndpoint {
  /** The URL for clients on this machine. */
  url: string
  /** Uses this certificate for new connections. */
  renewTls(pair: KeyPair): void
  /** Stops listening, and resolves when the requests under way are answered. */
  close(): Promise<void>
}

/** Small limits, because only a few people and scripts use this port at a time. */
const bounds = {
  connectionsMax: limits.adminConnectionsMax,
  requestsInFlightMax: limits.adminConnectionsMax,
  clientBytesMax: limits.adminConnectionsMax * limits.adminBodyBytesMax,
}

/** Throws `ListenFailed`. */
export async function openAdminEndpoint(options: AdminEndpointOptions): Promise<AdminEndpoint> {
  const { listen, backend, identities, oidc, region, keyPair, metadataAnswers, serving, log } = options
  const { credentials, verbs } = identities
  const accountBlocks = openAccountBlocks(identities, options)
  const { sessions } = openTemporaryKeys({ ring: backend.keys, credentials, oidc, clock: systemClock })
  const secure = keyPair !== undefined
  const pipeline = new AdminPipeline({
    operations: adminOperations,
    identities: verbs,
    info: () => ({ version: '', workers: 0, startedMs: 0, endpoint: '', ...serving(), region }),
    explain: (question) => explainAccess({ backend, credentials, accountBlocks, region }, question),
    credentials,
    sessions,
    mainAccount: rootAccount.id,
    region,
    secure,
    clock: systemClock,
    readiness: () => readinessOf(backend.blobs, serving() !== undefined && metadataAnswers()),
    changed: (change: AdminChange) => log.info(change, 'changed through the admin port'),
  })
  const logged = { clock: systemClock, log: logRequests(log), tls: keyPair, bounds, faults: faultsInJson }
  const port = createPort(logged, (exchange) => pipeline.answer(exchange))
  try {
    const bound = await port.listen(listen.host, listen.port)
    return { url: urlOf(listen.host, bound.port, { secure }), renewTls: port.renewTls, close: port.close }
  } catch (error) {
    throw error instanceof Error ? new ListenFailed(listen, error) : error
  }
}

/** A location other than the default one makes the server `degraded`, not `unavailable`: one lost location must not take it out of a balancer. Pure. */
export function readinessOf(
  {
    locations,
    defaultLocation,
  }: { locations: readonly (Parameters<typeof isReady>[0] & Pick<LocationState, 'name'>)[]; defaultLocation: string },
  serving: boolean,
): AdminReadiness {
  const canServe = (location: Parameters<typeof isReady>[0]): boolean =>
    isReady(location, 'writes') && isReady(location, 'reads')
  const main = locations.find(({ name }) => name === defaultLocation)
  if (!serving || (main !== undefined && !canServe(main))) return { status: 'unavailable' }
  return { status: locations.every(canServe) ? 'ready' : 'degraded' }
}
