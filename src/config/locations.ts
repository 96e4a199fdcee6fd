/** Validates the stores and locations of the TOML file, each by itself and all together. Opens nothing. */
import { join, resolve, sep } from 'node:path'
import type { z } from 'zod'
import {
  type LocationPolicy,
  ownLocation,
  policyFault,
  usualWriteAck,
  usualWriteAckOfStripes,
} from '../blobs/location-policy.ts'
import { lazySchema } from '../lazy-schema.ts'
import { limits } from '../limits.ts'
import { namedStorageClasses } from '../storage-class.ts'
import { ConfigurationError } from './configuration-error.ts'
import { parseWith } from './parse-with.ts'
import { didYouMean } from './suggestion.ts'

interface AnyStore {
  name: string
  /** The failure domain: stores in one domain can fail together. */
  domain: string
}

/** A directory that keeps shards. */
export interface DirectorySettings extends AnyStore {
  type: 'directory'
  /** Absolute. */
  path: string
}

/** A prefix in a bucket of an S3-compatible endpoint. */
export interface S3Settings extends AnyStore {
  type: 's3'
  endpoint: string
  bucket: string
  /** Empty, or ends with a slash. */
  prefix: string
  region: string
  pathStyle: boolean
  /** A profile in AWS's shared credentials file. Absent: credentials come from the environment. */
  profile: string | undefined
}

export type StoreSettings = DirectorySettings | S3Settings

export interface LocationSettings {
  name: string
  policy: LocationPolicy
}

export interface Placement {
  stores: StoreSettings[]
  locations: LocationSettings[]
  /** The location of buckets that are created without one. */
  defaultLocation: string
}

/** The stores and locations of a server that has none but the one in its data directory. */
export const ownPlacement: Placement = { stores: [], locations: [], defaultLocation: ownLocation }

const schemas = lazySchema((z) => {
  const name = z.string().regex(/^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/, 'is no name: 1 to 63 of a-z, 0-9, . and -')
  const shardCount = z.int().min(1).max(limits.locationShardsMax)

  const store = z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('directory'), path: z.string().min(1), domain: name.optional() }),
    z.strictObject({ type: z.literal('memory'), domain: name.optional() }),
    z.strictObject({
      type: z.literal('s3'),
      endpoint: z.string().refine(isEndpoint, 'expects http://HOST or https://HOST, and no credentials in it'),
      bucket: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/, 'is no name of a bucket'),
      prefix: z
        .string()
        .regex(/^[A-Za-z0-9!_.*'()/-]*$/, "may have A-Z, a-z, 0-9, / and !_.*'()-")
        .optional(),
      region: z.string().min(1).optional(),
      pathStyle: z.boolean().optional(),
      profile: z.string().min(1).optional(),
      domain: name.optional(),
    }),
  ])
  const spread = {
    stores: z.array(z.string()).min(1, 'must name stores').max(limits.storesMax),
    maxPerDomain: shardCount.optional(),
    writeAck: shardCount.optional(),
    storageClasses: z.array(z.enum(namedStorageClasses)).optional(),
  }
  const location = z.discriminatedUnion('scheme', [
    z.strictObject({ scheme: z.literal('replica'), copies: shardCount, ...spread }),
    z.strictObject({
      scheme: z.literal('erasure'),
      data: z.int().min(1).max(limits.dataShardsMax),
      parity: z.int().min(1).max(limits.parityShardsMax),
      replicateBelow: z.int().min(0).optional(),
      ...spread,
    }),
  ])
  return { name, store, location, table: z.record(z.string(), z.unknown()) }
})

const storeKeys = ['type', 'path', 'domain', 'endpoint', 'bucket', 'prefix', 'region', 'pathStyle', 'profile']

const locationKeys = [
  'scheme',
  'copies',
  'stores',
  'maxPerDomain',
  'writeAck',
  'data',
  'parity',
  'replicateBelow',
  'storageClasses',
]

type ParsedPlacement = Pick<Placement, 'stores' | 'locations'>

/** `given`: the content of the keys `stores` and `locations`. `directory`: the base of relative paths. */
export function parsePlacement(given: { stores: unknown; locations: unknown }, directory: string): ParsedPlacement {
  const stores = entriesOf(given.stores, 'stores').map(([key, value]) => parseStore(key, value, directory))
  refuseOverlaps(stores)
  const domains = new Map(stores.map((known) => [known.name, known.domain]))
  const locations = entriesOf(given.locations, 'locations').map(([key, value]) => parseLocation(key, value, domains))
  refuseSharedClasses(locations)
  return { stores, locations }
}

/** Throws `ConfigurationError` when no bucket can be moved to a location of this name. `shared`: the metadata is in PostgreSQL. */
export function requireTarget(configured: readonly { name: string }[], name: string, shared: boolean): void {
  requireLocation(configured, name)
  if (!shared || name !== ownLocation) return
  throw new ConfigurationError(
    `there is no location '${ownLocation}' where the metadata is in PostgreSQL: it would be in one server's data directory, which the others can't reach`,
  )
}

/** Throws `ConfigurationError` when no location has this name. */
export function requireLocation(configured: readonly { name: string }[], name: string, what = ''): void {
  const names = [ownLocation, ...configured.map((location) => location.name)]
  if (names.includes(name)) return
  throw new ConfigurationError(`${what}there is no location '${name}'${didYouMean(name, names)}`)
}

/**
 * Refuses a store inside the data directory, or a data directory inside a store. `isShared`: the metadata is not in the directory, so that its own store can
 * have a name, as after `holdfast migrate --keep-local`.
 */
export function refuseStoresAround(
  stores: readonly StoreSettings[],
  data: string,
  { isShared }: { isShared: boolean },
): void {
  for (const settings of stores) {
    if (settings.type !== 'directory') continue
    const { name: storeName, path } = settings
    if (isShared && path === join(data, 'store')) continue
    if (isWithin(path, data) || isWithin(data, path)) {
      throw new ConfigurationError(
        `stores.${storeName}: ${path} and the data directory ${data} overlap: one contains the other`,
      )
    }
  }
}

function entriesOf(value: unknown, where: string): [string, unknown][] {
  if (value === undefined) return []
  const entries = Object.entries(parseWith(schemas().table, value, where, []))
  for (const [key] of entries) {
    const at = `${where}.${key}`
    parseWith(schemas().name, key, at, [])
    if (key === ownLocation) {
      throw new ConfigurationError(`${at}: the name is taken by what lies in the data directory. Choose another`)
    }
  }
  return entries
}

function parseStore(key: string, value: unknown, directory: string): StoreSettings {
  const where = `stores.${key}`
  const settings = parseWith(schemas().store, value, where, storeKeys)
  const { domain = key } = settings
  if (settings.type === 'directory') {
    return { type: 'directory', name: key, path: resolve(directory, settings.path), domain }
  }
  if (settings.type === 'memory') {
    throw new ConfigurationError(
      `${where}: a store of type memory would be empty after each start, while the metadata remembers its data. Use directory`,
    )
  }
  const { endpoint, bucket, region = 'us-east-1', pathStyle = true, profile } = settings
  const prefix = prefixOf(settings.prefix ?? '', where)
  return { type: 's3', name: key, endpoint, bucket, prefix, region, pathStyle, profile, domain }
}

/** Refuses dot segments and double slashes in a prefix, because proxies and clients resolve them. */
function prefixOf(given: string, where: string): string {
  const prefix = given === '' || given.endsWith('/') ? given : `${given}/`
  const parts = prefix.split('/').slice(0, -1)
  if (parts.every((part) => part !== '' && part !== '.' && part !== '..')) return prefix
  throw new ConfigurationError(`${where}.prefix: expects names with single slashes between them`)
}

function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return ['http:', 'https:'].includes(protocol) && [username, password, search, hash].every((part) => part === '')
}

function refuseOverlaps(stores: readonly StoreSettings[]): void {
  for (const [i, one] of stores.entries()) {
    for (const other of stores.slice(i + 1)) {
      const names = `stores.${one.name} and stores.${other.name}`
      const [at, otherAt] = [addressOf(one), addressOf(other)]
      if (at === otherAt) {
        const what = one.type === 'directory' ? 'path' : 'prefix in one bucket,'
        throw new ConfigurationError(`${names} have the same ${what} ${at}`)
      }
      if (isWithin(at, otherAt) || isWithin(otherAt, at)) {
        throw new ConfigurationError(`${names}: ${at} and ${otherAt} overlap: one contains the other`)
      }
    }
  }
}

/** A store's address as one path, for either kind of store. */
function addressOf(settings: StoreSettings): string {
  if (settings.type === 'directory') return settings.path
  const { endpoint, bucket, prefix } = settings
  return `${new URL(endpoint).href.replace(/\/$/, '')}/${bucket}/${prefix}`.replace(/\/$/, '')
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(outer.endsWith(sep) ? outer : outer + sep)
}

function parseLocation(key: string, value: unknown, domains: ReadonlyMap<string, string>): LocationSettings {
  const where = `locations.${key}`
  const policy = policyOf(parseWith(schemas().location, value, where, locationKeys))
  const unknown = policy.stores.find((storeName) => !domains.has(storeName))
  if (unknown !== undefined) {
    throw new ConfigurationError(`${where}: there is no store '${unknown}'${didYouMean(unknown, domains.keys())}`)
  }
  const fault = policyFault(policy, domains)
  if (fault !== undefined) throw new ConfigurationError(`${where}: ${fault}`)
  return { name: key, policy }
}

function refuseSharedClasses(locations: readonly LocationSettings[]): void {
  const keeperOf = new Map<string, string>()
  for (const { name, policy } of locations) {
    for (const storageClass of policy.storageClasses ?? []) {
      const other = keeperOf.get(storageClass)
      if (other !== undefined)
        throw new ConfigurationError(`locations.${name}: ${storageClass} is among storageClasses of ${other}, too`)
      keeperOf.set(storageClass, name)
    }
  }
}

function policyOf(settings: z.output<ReturnType<typeof schemas>['location']>): LocationPolicy {
  const { stores, maxPerDomain = 1 } = settings
  const kept = [...new Set(settings.storageClasses)].sort()
  const storageClasses = kept.length === 0 ? {} : { storageClasses: kept }
  if (settings.scheme === 'replica') {
    const { scheme, copies, writeAck = usualWriteAck(copies) } = settings
    return { scheme, copies, stores, maxPerDomain, writeAck, ...storageClasses }
  }
  const { scheme, data, parity, replicateBelow = limits.smallShardBytesMax } = settings
  const { writeAck = usualWriteAckOfStripes(settings) } = settings
  return { scheme, data, parity, stores, maxPerDomain, writeAck, replicateBelow, ...storageClasses }
}
