/** The library: an S3 server inside this process, for tests and applications. No global state, no signal handlers, no output. */
import { resolve } from 'node:path'
import { type Logger, pino } from 'pino'
import type { Account } from './auth/credentials.ts'
import { systemClock } from './clock.ts'
import { type ClosingStack, opening } from './closing-stack.ts'
import type { Backend } from './commits/backend.ts'
import { type AccessKey, parseAccessKey, parseAccounts, rootAccount, withRootKey } from './config/accounts.ts'
import { initialSettings } from './config/configuration.ts'
import { addressRanges, endpointUrls, keyNames } from './config/kinds.ts'
import { parseOidcProviders } from './config/oidc.ts'
import type { Settings } from './config/options.ts'
import { type OperationRow, type ParameterRow, supportTable as tableOf } from './contract/support-table.ts'
import { S3Error } from './errors.ts'
import { checkKeyPair } from './http/key-pair.ts'
import type { KeyPair } from './http/tls-front.ts'
import type { Identities } from './identities/identities.ts'
import { openIdentities } from './identities/open-identities.ts'
import { keptRootKey, randomKey } from './instance/root-key.ts'
import { createBucket } from './objects/buckets.ts'
import { openAccountBlocks } from './opening/account-blocks.ts'
import { emptyStore } from './opening/empty-store.ts'
import { openEndpoint } from './opening/endpoint.ts'
import { openServedData, openServedMemory } from './opening/open-served-data.ts'
import { checkStartOptions } from './opening/start-options.ts'
import { operations } from './operations/table.ts'
import type { OidcProvider } from './sts/oidc/provider-settings.ts'

export type { AccessKey, Account, Identities, KeyPair, OperationRow, ParameterRow }

export interface StartOptions {
  /** 0, the default: the system picks one. */
  port?: number
  /** Default: 127.0.0.1. */
  host?: string
  /** The data directory, which one server at a time may use. Default: everything is in memory, and gone after `close`. */
  data?: string
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
  /** Default: no log. */
  log?: Logger
  /** Called when the server can't go on, for instance after a failed fsync. It stops answering; `close` it and start another. */
  onFatal?(error: Error): void
}

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
  /** Removes every bucket and object, then creates the buckets given at start again. Accounts stay. */
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
    checkStartOptions(options)
    if (options.tls !== undefined) checkKeyPair(options.tls, { cert: 'tls.cert', key: 'tls.key' })
    const oidc = parseOidcProviders(options.oidc ?? [], 'oidc')
    let stopServing = async (): Promise<void> => {}
    const onFatal = (error: Error): void => {
      void stopServing()
      options.onFatal?.(error)
    }
    const log = options.log ?? pino({ level: 'silent' })
    const settings = initialSettings(process.cwd())
    const { backend, credentialsFile } = await openStore(options, settings, log, onFatal, opened)
    const credentials = await credentialsOf(options, credentialsFile)
    await makeBuckets(backend, options.buckets ?? [])
    const region = options.region ?? settings.region
    const accounts = withRootKey(parseAccounts(options.accounts ?? []), credentials)
    const identities = await openIdentities({ backend, accounts, warn: (message) => log.warn(message) })
    opened.add(identities.close)
    const endpoint = await openEndpoint({
      backend,
      credentials: identities.credentials,
      accountBlocks: openAccountBlocks(identities, { blockPublic: options.blockPublic ?? settings.blockPublic }),
      listen: { host: options.host ?? '127.0.0.1', port: options.port ?? 0 },
      domains: options.domains ?? [],
      region,
      corsAllowOrigin: options.corsAllowOrigin ?? settings.corsAllowOrigin,
      trustedProxies: addressRanges.parse(options.trustedProxies ?? [], ''),
      publicEndpoints: endpointUrls.parse(options.publicEndpoints ?? [], ''),
      websiteDomains: options.websiteDomains,
      keyPair: options.tls,
      allowCustomerKeysOverHttp: options.allowCustomerKeysOverHttp ?? settings.allowCustomerKeysOverHttp,
      defaultChecksum: options.defaultChecksum ?? settings.defaultChecksum,
      sigv2: options.sigv2 ?? settings.sigv2,
      oidc,
      log,
    })
    stopServing = endpoint.close
    opened.add(endpoint.close)

    return {
      endpoint: endpoint.url,
      port: endpoint.port,
      region,
      credentials,
      identities: identities.verbs,
      clientConfig: () => ({ endpoint: endpoint.url, region, credentials: { ...credentials }, forcePathStyle: true }),
      reset: async () => {
        await emptyStore(backend)
        await makeBuckets(backend, options.buckets ?? [])
      },
      close: opened.close,
      [Symbol.asyncDispose]: opened.close,
    }
  })
}

async function openStore(
  { data, kmsKeys = [] }: StartOptions,
  settings: Settings,
  log: Logger,
  onFatal: (error: Error) => void,
  opened: ClosingStack,
): Promise<{ backend: Backend; credentialsFile?: string }> {
  const keys = { keyRing: undefined, kmsKeys: keyNames.parse(kmsKeys, '') }
  if (data === undefined) {
    const memory = await openServedMemory(keys.kmsKeys, settings, log)
    opened.add(memory.close)
    return { backend: memory.backend }
  }
  const kept = await openServedData({ path: resolve(data), create: true, keys, onFatal }, settings, log)
  opened.add(kept.close)
  return { backend: kept.backend, credentialsFile: kept.directory.credentials }
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
