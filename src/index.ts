/** The library: an S3 server inside this process, for tests and applications. No global state, no signal handlers, no output. */
import { accessLogLimits } from './access-log-limits.ts'
import type { Account } from './auth/credentials.ts'
import { systemClock } from './clock.ts'
import { type ClosingStack, opening } from './closing-stack.ts'
import type { Backend } from './commits/backend.ts'
import { type AccessKey, parseAccessKey, parseAccounts, rootAccount, withRootKey } from './config/accounts.ts'
import { initialSettings } from './config/configuration.ts'
import { ConfigurationError } from './config/configuration-error.ts'
import { addressRanges, endpointUrls } from './config/kinds.ts'
import { parseOidcProviders } from './config/oidc.ts'
import { parseSites } from './config/sites.ts'
import { parseWebhooks } from './config/webhooks.ts'
import { type OperationRow, type ParameterRow, supportTable as tableOf } from './contract/support-table.ts'
import { S3Error } from './errors.ts'
import { checkKeyPair } from './http/connections/key-pair.ts'
import type { KeyPair } from './http/connections/tls-front.ts'
import { PlannedFailures } from './http/planned-failures.ts'
import type { Identities, ServedIdentities } from './identities/identities.ts'
import { openIdentities } from './identities/open-identities.ts'
import { keptRootKey, randomKey } from './instance/root-key.ts'
import { createBucket } from './objects/buckets.ts'
import { openAccountBlocks } from './opening/account-blocks.ts'
import { LateCopyRights } from './opening/copy-rights.ts'
import { openEndpoint } from './opening/endpoint.ts'
import { type Failure, type FailureOptions, failurePlan } from './opening/failure-options.ts'
import { type LibraryData, openLibraryData } from './opening/library-data.ts'
import type { LocationOptions, MetadataOptions, StoreOptions } from './opening/library-options.ts'
import { patientStart } from './opening/metadata/patient-start.ts'
import { openTraces } from './opening/open-telemetry.ts'
import { emptyStore } from './opening/placement/empty-store.ts'
import { type PortLog, silentLog } from './opening/port-log.ts'
import { checkStartOptions } from './opening/start-options.ts'
import { operations } from './operations/table.ts'
import type { SiteSettings } from './replication-site.ts'
import type { OidcProvider } from './sts/oidc/provider-settings.ts'
import type { JsonReceiver } from './webhook.ts'

export type {
  AccessKey,
  Account,
  Failure,
  FailureOptions,
  Identities,
  KeyPair,
  LocationOptions,
  MetadataOptions,
  OperationRow,
  ParameterRow,
  StoreOptions,
}

export interface StartOptions {
  /** 0, the default: the system picks one. */
  port?: number
  /** Default: 127.0.0.1. */
  host?: string
  /** The data directory, which one server at a time may use. Default: everything is in memory, and gone after `close`. */
  data?: string
  /** Keeps the metadata in a database that several servers share. Needs `data`, `stores`, `locations`, `defaultLocation` and `credentials`. Default: it is in `data`. */
  metadata?: MetadataOptions
  /** Stores by name, beside the one in the data directory. Relative paths begin at the working directory. */
  stores?: Readonly<Record<string, StoreOptions>>
  /** Locations by name. */
  locations?: Readonly<Record<string, LocationOptions>>
  /** The location of buckets that are created without one. Default: the one in the data directory. */
  defaultLocation?: string
  /** The text of the key ring, as in `HOLDFAST_KEY_RING`. Default: the file `keys` in the data directory. */
  keyRing?: string
  /** Buckets to create at start and after each `reset`. Existing ones stay as they are. */
  buckets?: readonly string[]
  /** The access key of the account `main`. Default: a random one, kept in the data directory if there is one. */
  credentials?: AccessKey
  /** Further accounts. */
  accounts?: readonly Account[]
  /** Domains for virtual-host style, in addition to `localhost`. */
  domains?: readonly string[]
  region?: string
  /** Origins whose pages can use every bucket that has no CORS configuration of its own. `*` stands for any characters. Default: none. */
  corsAllowOrigin?: readonly string[]
  /** Addresses and ranges of proxies whose `X-Forwarded-*` and `Forwarded` headers are trusted. Default: none. */
  trustedProxies?: readonly string[]
  /** URLs under which clients reach the server through a proxy that changes the Host header. Default: none. */
  publicEndpoints?: readonly string[]
  /** Domains whose subdomains serve buckets as websites. None may be `localhost`, a subdomain of an S3 domain, or its parent. Default: none. */
  websiteDomains?: readonly string[]
  /** Accounts without a setting of their own block public access to their buckets, whatever policies say. Default: false. */
  blockPublic?: boolean
  /** Names of keys for `aws:kms` encryption, in addition to `aws/s3`, which always exists. Missing keys are created. */
  kmsKeys?: readonly string[]
  /** The certificate and key for TLS, as PEM texts, not paths. Default: plain HTTP. */
  tls?: KeyPair
  /** Accept customer-provided encryption keys (SSE-C) over plain HTTP from other machines too. Default: false. */
  allowCustomerKeysOverHttp?: boolean
  /** The checksum of objects that clients send without one. Default: `none`; S3 uses CRC64NVME. */
  defaultChecksum?: 'none' | 'CRC64NVME'
  /** Where Signature Version 2 is accepted. Default: in presigned URLs, as boto3 makes them. */
  sigv2?: 'off' | 'presigned' | 'all'
  /** OpenID Connect issuers whose tokens AssumeRoleWithWebIdentity exchanges for temporary keys. Default: none. */
  oidc?: readonly OidcIssuer[]
  /** Receivers of events by name: `PutBucketNotificationConfiguration` names one as `arn:aws:sqs:::NAME`. Default: none. */
  webhooks?: Readonly<Record<string, WebhookOptions>>
  /** Servers elsewhere by name, to which `PutBucketReplication` can copy buckets: `arn:aws:s3:::NAME/BUCKET`. Default: none. */
  sites?: Readonly<Record<string, SiteOptions>>
  /** A logger of pino, or one with the same methods. Default: no log. */
  log?: PortLog
  /** Called when the server can't go on, for instance after a failed fsync. It stops answering; `close` it and start another. */
  onFatal?(error: Error): void
}

/** All options. The compiler checks that none is missing. */
const optionNames: Record<keyof StartOptions, true> = {
  port: true,
  host: true,
  data: true,
  metadata: true,
  stores: true,
  locations: true,
  defaultLocation: true,
  keyRing: true,
  buckets: true,
  credentials: true,
  accounts: true,
  domains: true,
  region: true,
  corsAllowOrigin: true,
  trustedProxies: true,
  publicEndpoints: true,
  websiteDomains: true,
  blockPublic: true,
  kmsKeys: true,
  tls: true,
  allowCustomerKeysOverHttp: true,
  defaultChecksum: true,
  sigv2: true,
  oidc: true,
  webhooks: true,
  sites: true,
  log: true,
  onFatal: true,
}

/** The settings of `[webhooks.NAME]` in the configuration file. */
export type WebhookOptions = JsonReceiver

/** The settings of `[sites.NAME]` in the configuration file. */
export type SiteOptions = Pick<SiteSettings, 'endpoint' | 'accessKeyId' | 'secretAccessKey'> &
  Partial<Pick<SiteSettings, 'region' | 'accounts'>>

/** The settings of `[access.oidc]` in the configuration file. */
export type OidcIssuer = Pick<OidcProvider, 'issuer' | 'clientId'> & Partial<OidcProvider>

export interface ClientConfig {
  endpoint: string
  region: string
  credentials: AccessKey
  forcePathStyle: true
}

export interface Server extends AsyncDisposable {
  /** For example `http://127.0.0.1:54321`; `https` when the server speaks TLS. */
  readonly endpoint: string
  readonly port: number
  readonly region: string
  /** An access key of the account `main`. */
  readonly credentials: AccessKey
  /** Accounts, users, policies and keys in addition to those given at start. They survive `reset`, and a restart if there is a data directory. */
  readonly identities: Identities
  /** For `new S3Client(server.clientConfig())` of the AWS SDK for JavaScript v3. */
  clientConfig(): ClientConfig
  /** Makes requests fail on purpose, for tests of what a program does then. Throws for options that can't be met. */
  fail(options: FailureOptions): Failure
  /** Removes every bucket and object, then creates the buckets given at start again. Accounts stay; planned failures end. Rejects where several servers share the metadata. */
  reset(): Promise<void>
  /** Answers the requests under way, then releases everything. Idempotent. */
  close(): Promise<void>
}

/** How this version treats each S3 operation and each of its parameters. Plain data that JSON can hold. */
export function supportTable(): OperationRow[] {
  return tableOf(operations)
}

export function startServer(options: StartOptions = {}): Promise<Server> {
  return opening(async (opened) => {
    checkStartOptions(options, Object.keys(optionNames))
    if (options.tls !== undefined) checkKeyPair(options.tls, { cert: 'tls.cert', key: 'tls.key' })
    const oidc = parseOidcProviders(options.oidc, 'oidc')
    let stopServing = async (): Promise<void> => {}
    const onFatal = (error: Error): void => {
      void stopServing()
      options.onFatal?.(error)
    }
    const log = options.log ?? silentLog()
    const settings = settingsOf(options)
    const copyRights = new LateCopyRights()
    const data = await openLibraryData(options, { ...settings, copyRights }, { log, onFatal }, opened)
    const { backend, credentialsFile, shared, metadataAnswers } = data
    const credentials = await credentialsOf(options, credentialsFile)
    const database = options.metadata?.url
    await patientStart(database, () => makeBuckets(backend, options.buckets ?? []))
    const accounts = withRootKey(parseAccounts(options.accounts), credentials)
    const identities = await openMetIdentities(data, { accounts, database, log, copyRights }, opened)
    const failures = new PlannedFailures()
    const endpoint = await openEndpoint({
      backend,
      metadataAnswers,
      credentials: identities.credentials,
      accountBlocks: openAccountBlocks(identities, { blockPublic: options.blockPublic ?? settings.blockPublic }),
      listen: { host: options.host ?? '127.0.0.1', port: options.port ?? 0 },
      ...portSettings(options, settings),
      oidc,
      failures,
      traces: await openTraces((message) => log.warn(message)),
      log,
    })
    stopServing = endpoint.close
    opened.add(endpoint.close)

    return {
      endpoint: endpoint.url,
      port: endpoint.port,
      region: settings.region,
      credentials,
      identities: identities.verbs,
      clientConfig: () => ({
        endpoint: endpoint.url,
        region: settings.region,
        credentials: { ...credentials },
        forcePathStyle: true,
      }),
      fail: (failing) => failureIn(failures, failing),
      reset: async () => {
        if (shared !== undefined) throw new ConfigurationError('reset would empty what other servers use too')
        failures.clear()
        await emptyStore(backend)
        await makeBuckets(backend, options.buckets ?? [])
      },
      close: opened.close,
      [Symbol.asyncDispose]: opened.close,
    }
  })
}

function failureIn(failures: PlannedFailures, options: FailureOptions): Failure {
  const planned = failures.add(failurePlan(options))
  const end = (): void => failures.remove(planned)
  return {
    get met() {
      return planned.met
    },
    end,
    [Symbol.dispose]: end,
  }
}

function settingsOf(options: StartOptions) {
  const initial = initialSettings(process.cwd())
  const region = options.region ?? initial.region
  return { ...initial, region, webhooks: parseWebhooks(options.webhooks), sites: parseSites(options.sites) }
}

function portSettings(options: StartOptions, settings: ReturnType<typeof settingsOf>) {
  return {
    domains: options.domains ?? [],
    region: settings.region,
    webhooks: settings.webhooks,
    sites: settings.sites,
    corsAllowOrigin: options.corsAllowOrigin ?? settings.corsAllowOrigin,
    trustedProxies: addressRanges.parse(options.trustedProxies ?? [], ''),
    publicEndpoints: endpointUrls.parse(options.publicEndpoints ?? [], ''),
    websiteDomains: options.websiteDomains,
    keyPair: options.tls,
    allowCustomerKeysOverHttp: options.allowCustomerKeysOverHttp ?? settings.allowCustomerKeysOverHttp,
    defaultChecksum: options.defaultChecksum ?? settings.defaultChecksum,
    sigv2: options.sigv2 ?? settings.sigv2,
    ...(options.data === undefined && { accessLogIntervalMs: accessLogLimits.inMemoryIntervalMs }),
  }
}

/** `database`: as `url` of `patientStart`. */
async function openMetIdentities(
  data: LibraryData,
  {
    accounts,
    database,
    log,
    copyRights,
  }: {
    accounts: readonly Account[]
    database: string | undefined
    log: Pick<PortLog, 'warn'>
    copyRights: LateCopyRights
  },
  opened: ClosingStack,
): Promise<ServedIdentities> {
  const { backend } = data
  const warn = (message: string): void => log.warn(message)
  const identities = await patientStart(database, () => openIdentities({ backend, accounts, warn }))
  opened.add(identities.close)
  copyRights.learn(identities)
  await patientStart(database, () => meetOthers(data, accounts, identities, log))
  return identities
}

/** Where several servers share the metadata. */
async function meetOthers(
  { backend: { kv, keys }, shared }: LibraryData,
  accounts: readonly Account[],
  identities: Pick<ServedIdentities, 'tellOthers'>,
  log: Pick<PortLog, 'warn'>,
): Promise<void> {
  if (shared === undefined) return
  const { announceAccounts, differingAccounts } = await import('./instance/member-accounts.ts')
  const others = await announceAccounts(kv, shared, accounts, keys)
  if (others.length > 0) log.warn(differingAccounts(others))
  // Other servers can't be told of a change. They know it when their lease is over.
  identities.tellOthers(() => new Promise(() => {}))
}

async function credentialsOf(options: StartOptions, file: string | undefined): Promise<AccessKey> {
  if (options.credentials !== undefined) return parseAccessKey(options.credentials, 'credentials')
  const { accessKeyId, secretAccessKey } =
    file === undefined ? randomKey(systemClock) : await keptRootKey(file, systemClock)
  return { accessKeyId, secretAccessKey }
}

async function makeBuckets(backend: Backend, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const bucket = {
      name,
      owner: rootAccount.id,
      locationConstraint: undefined,
      location: backend.blobs.defaultLocation,
      objectLock: undefined,
    }
    try {
      await createBucket(backend, bucket)
    } catch (error) {
      if (!(error instanceof S3Error && error.code === 'BucketAlreadyOwnedByYou')) throw error
    }
  }
}
