/** Resolves every option from flags, environment, TOML file and initial value, in this order. Starts nothing. */
import type { Account } from '../auth/credentials.ts'
import type { SiteSettings } from '../replication-site.ts'
import type { OidcProvider } from '../sts/oidc/provider-settings.ts'
import type { Webhook } from '../webhook.ts'
import { accessKeyOf, type RootAccessKey, withRootKey } from './accounts.ts'
import { ConfigurationError } from './configuration-error.ts'
import { checkHostNames } from './host-names.ts'
import { keyRingOf } from './key-ring.ts'
import type { AdminAddress } from './kinds.ts'
import { type Placement, refuseStoresAround, requireLocation } from './locations.ts'
import { metadataOf, type SharedMetadata } from './metadata-options.ts'
import { type Option, type OptionName, options, type Settings, type TlsFiles, type Values } from './options.ts'
import type { TomlFile } from './toml-file.ts'
import { joinedWebhooks, minioWebhooks } from './webhooks.ts'

export interface Configuration extends Settings {
  /** The file's accounts, and the root account when its key is known. Empty: a key must be made. */
  accounts: Account[]
  /** The root account's key, when the environment gives one. */
  root: RootAccessKey | undefined
  /** The text of the key ring, when it is in the environment. */
  keyRing: string | undefined
  /** Stores and locations other than those in the data directory. */
  placement: Placement
  /** Issuers of web identities. */
  oidc: OidcProvider[]
  /** Receivers of the events of buckets. */
  webhooks: Webhook[]
  /** Servers elsewhere to which buckets can be copied. */
  sites: SiteSettings[]
}

export interface Sources {
  /** The values on the command line, in order. */
  flags: Partial<Record<OptionName, string[]>>
  environment: NodeJS.ProcessEnv
  /** Initial values that replace the table's. */
  initial?: Partial<Record<OptionName, string[]>>
  /** The directory to which paths in flags and variables are relative. */
  directory: string
}

export async function loadConfiguration(sources: Sources): Promise<Configuration> {
  const file = given('config', sources, undefined)
  const toml = file === undefined ? undefined : await readToml(parse(options.config, file))
  const accounts = toml?.accounts ?? []
  const settings = settingsOf(sources, toml)
  const fromAws = parse(options.rootFromAwsEnv, required('rootFromAwsEnv', sources, toml))
  const root = accessKeyOf(sources.environment, { fromAws })
  const { defaultLocation } = settings
  const placement = { ...(toml?.placement ?? { stores: [], locations: [] }), defaultLocation }
  requireLocation(placement.locations, defaultLocation, 'defaultLocation: ')
  refuseStoresAround(placement.stores, settings.data, { isShared: settings.metadata !== undefined })
  checkHostNames(settings)
  return {
    ...settings,
    accounts: root === undefined ? accounts : withRootKey(accounts, root),
    root,
    keyRing: keyRingOf(sources.environment),
    placement,
    oidc: toml?.oidc ?? [],
    webhooks: joinedWebhooks(toml?.webhooks ?? [], minioWebhooks(sources.environment)),
    sites: toml?.sites ?? [],
  }
}

/** Loads the TOML parser only when there is a file. */
async function readToml(path: string): Promise<TomlFile> {
  const { readTomlFile } = await import('./toml-file.ts')
  return readTomlFile(path)
}

/** The initial value of every option. */
export function initialSettings(directory: string): Settings {
  return settingsOf({ flags: {}, environment: {}, directory }, undefined)
}

function settingsOf(sources: Sources, toml: TomlFile | undefined): Settings {
  const value = <N extends OptionName>(name: N): Values[N] =>
    parse<Values[N]>(options[name], required(name, sources, toml))
  return {
    data: value('data'),
    metadata: sharedMetadataOf(sources, toml),
    defaultLocation: value('defaultLocation'),
    listen: value('listen'),
    adminListen: adminAddressOf(sources, toml),
    adminPublicEndpoints: value('adminPublicEndpoints'),
    adminMetricsToken: optional('adminMetricsToken', sources, toml),
    auditLog: optional('auditLog', sources, toml),
    auditWebhook: optional('auditWebhook', sources, toml),
    auditWebhookToken: optional('auditWebhookToken', sources, toml),
    slowRequestMs: value('slowRequestMs'),
    domains: value('domains'),
    region: value('region'),
    corsAllowOrigin: value('corsAllowOrigin'),
    trustedProxies: value('trustedProxies'),
    publicEndpoints: value('publicEndpoints'),
    websiteDomains: value('websiteDomains'),
    blockPublic: value('blockPublic'),
    tls: tlsFilesOf(sources, toml),
    allowCustomerKeysOverHttp: value('allowCustomerKeysOverHttp'),
    defaultChecksum: value('defaultChecksum'),
    sigv2: value('sigv2'),
    workers: value('workers'),
    connectionsMax: value('connectionsMax'),
    clientBytesMax: value('clientBytesMax'),
    clientBytesPerSecondMin: value('clientBytesPerSecondMin'),
    logLevel: value('logLevel'),
    logFile: optional('logFile', sources, toml),
    reclaimGraceMs: value('reclaimGraceMs'),
    reclaimIntervalMs: value('reclaimIntervalMs'),
    quarantineMs: value('quarantineMs'),
    abandonedUploadMs: value('abandonedUploadMs'),
    accessLogIntervalMs: value('accessLogIntervalMs'),
    scrubIntervalMs: value('scrubIntervalMs'),
    scrubBytesPerSecond: value('scrubBytesPerSecond'),
    repairBytesPerSecond: value('repairBytesPerSecond'),
    kmsKeys: value('kmsKeys'),
    snapshotIntervalMs: value('snapshotIntervalMs'),
    snapshotsKept: value('snapshotsKept'),
  }
}

function adminAddressOf(sources: Sources, toml: TomlFile | undefined): AdminAddress | undefined {
  const found = required('adminListen', sources, toml)
  const address = parse(options.adminListen, found)
  return address && { ...address, isDefault: found.isInitial === true }
}

function sharedMetadataOf(sources: Sources, toml: TomlFile | undefined): SharedMetadata | undefined {
  const type = required('metadataType', sources, toml)
  const url = given('metadataUrl', sources, toml)
  return metadataOf({
    type: type.isInitial ? undefined : { value: parse(options.metadataType, type), source: type.source },
    url: url && { value: parse(options.metadataUrl, url), source: url.source },
    connections: parse(options.metadataConnections, required('metadataConnections', sources, toml)),
  })
}

/** `undefined`: no source gives a value. */
function optional<N extends OptionName>(name: N, sources: Sources, toml: TomlFile | undefined): Values[N] | undefined {
  const found = given(name, sources, toml)
  return found && parse<Values[N]>(options[name], found)
}

function tlsFilesOf(sources: Sources, toml: TomlFile | undefined): TlsFiles | undefined {
  const cert = given('tlsCert', sources, toml)
  const key = given('tlsKey', sources, toml)
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined) throw halfOfTls(key, options.tlsCert)
  if (key === undefined) throw halfOfTls(cert, options.tlsKey)
  return { cert: parse(options.tlsCert, cert), key: parse(options.tlsKey, key) }
}

function halfOfTls(given: Given | undefined, { flag, environment, toml }: Option<string>): ConfigurationError {
  const names = [`--${flag}`, ...environment, toml].join(', ')
  return new ConfigurationError(`${given?.source} is set, but what belongs to it is not: set one of ${names} too`)
}

interface Given {
  texts: readonly string[]
  directory: string
  /** Names the source in messages. */
  source: string
  /** True when no source gives a value. */
  isInitial?: boolean
}

function required(name: OptionName, sources: Sources, toml: TomlFile | undefined): Given {
  const found = given(name, sources, toml)
  if (found === undefined) throw new Error(`option ${name} has no initial value`)
  return found
}

/** The value in the first source that has one. */
function given(name: OptionName, sources: Sources, toml: TomlFile | undefined): Given | undefined {
  const { directory } = sources
  const { flag, environment, kind, initial } = options[name]
  const flags = sources.flags[name]
  if (flags !== undefined && flags.length > 0) return { texts: flags, directory, source: `--${flag}` }

  const variable = environment.find((candidate) => sources.environment[candidate])
  const text = variable === undefined ? undefined : sources.environment[variable]
  if (variable !== undefined && text !== undefined) {
    return { texts: kind.repeatable ? text.split(',') : [text], directory, source: variable }
  }

  const fromFile = toml?.texts.get(name)
  if (toml !== undefined && fromFile !== undefined) return { ...fromFile, directory: toml.directory }

  const texts = sources.initial?.[name] ?? initial
  return texts === undefined ? undefined : { texts, directory, source: `initial value of ${name}`, isInitial: true }
}

function parse<T>({ kind }: Option<T>, { texts, directory, source }: Given): T {
  try {
    return kind.parse(texts, directory)
  } catch (error) {
    if (error instanceof ConfigurationError) throw new ConfigurationError(`${source}: ${error.message}`)
    throw error
  }
}
