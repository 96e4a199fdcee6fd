/** What a pipeline works with. */
import type { AuditLog } from '../audit/audit-log.ts'
import type { Credentials } from '../auth/credentials.ts'
import type { Version2Rules } from '../auth/verify-version2.ts'
import type { Clock } from '../clock.ts'
import type { Operation } from '../contract/operation.ts'
import type { AccountBlocks } from '../operations/access/account-blocks.ts'
import type { OperationContext } from '../operations/context.ts'
import type { Traces } from '../spans.ts'
import type { StsContext } from '../sts/action.ts'
import type { Readiness } from './health.ts'
import type { PlannedFailures } from './planned-failures.ts'
import type { AccessLogs } from './telemetry/access-log.ts'

export interface PipelineOptions {
  operations: readonly Operation<OperationContext>[]
  backend: OperationContext['backend']
  credentials: Credentials
  /** Issues temporary keys, and knows those in use. */
  sts: StsContext
  /** Which forms of Signature Version 2 are accepted. */
  sigv2: Version2Rules['taken']
  /** Domains whose subdomains name buckets: `<bucket>.<domain>`. `localhost` is always one. */
  domains: readonly string[]
  /** The region of buckets that were created without one. */
  region: string
  /** Origins whose pages may use buckets without a CORS configuration. */
  corsAllowOrigin: readonly string[]
  /** Origins of the console's pages. Absent: there is no console. */
  consoleOrigins?: (() => readonly string[]) | undefined
  /** Addresses and ranges of proxies whose forwarding headers are trusted. Absent: none. */
  trustedProxies?: readonly string[] | undefined
  /** URLs under which clients reach the server through proxies. Absent: the URL that each request names. */
  publicEndpoints?: readonly string[] | undefined
  /** Domains of websites: each subdomain is a bucket's, and so is the domain itself. None overlaps a domain of another kind. Absent: none. */
  websiteDomains?: readonly string[] | undefined
  /** Absent: accounts block nothing. */
  accountBlocks?: AccountBlocks | undefined
  /** Absent: changes are not written to an audit log. */
  audit?: AuditLog | undefined
  /** The access logs of buckets. Absent: no bucket has one. */
  accessLogs?: AccessLogs | undefined
  /** Requests that a test wants to fail. Absent: none. */
  failures?: PlannedFailures | undefined
  clock: Clock
  /** Absent: no tracer collects spans. */
  traces?: Traces | undefined
  /** Answers the health checks. */
  ready(what: Readiness): boolean
}
