/** Opens the data of a server inside another process, as the options of `startServer` say: in memory, in a data directory, or shared with other servers. */
import { resolve } from 'node:path'
import { ownLocation } from '../blobs/location-policy.ts'
import type { ClosingStack } from '../closing-stack.ts'
import type { Backend } from '../commits/backend.ts'
import { ConfigurationError } from '../config/configuration-error.ts'
import { keyNames } from '../config/kinds.ts'
import { type Placement, parsePlacement, refuseStoresAround, requireLocation } from '../config/locations.ts'
import { metadataOf, metadataOptions, type SharedMetadata } from '../config/metadata-options.ts'
import type { LocationOptions, MetadataOptions, StoreOptions } from './library-options.ts'
import { urlOf } from './listen-address.ts'
import { openServedData, openServedMemory, type ServedLog, type ServedSettings } from './open-served-data.ts'
import type { SharedPlacement } from './placement/shared-placement.ts'

export interface DataOptions {
  data?: string
  metadata?: MetadataOptions
  stores?: Readonly<Record<string, StoreOptions>>
  locations?: Readonly<Record<string, LocationOptions>>
  defaultLocation?: string
  kmsKeys?: readonly string[]
  keyRing?: string
  host?: string
  port?: number
  tls?: object
  credentials?: object
  accounts?: readonly object[]
}

export interface LibraryData {
  backend: Backend
  /** Absent: data is in memory. */
  credentialsFile?: string
  /** Absent: no other server uses the metadata. */
  shared?: SharedPlacement
  metadataAnswers(): boolean
}

/** Throws `ConfigurationError`, and what `openServedData` throws. */
export async function openLibraryData(
  options: DataOptions,
  settings: ServedSettings,
  { log, onFatal }: { log: ServedLog; onFatal(error: Error): void },
  opened: ClosingStack,
): Promise<LibraryData> {
  const { data, kmsKeys = [], keyRing } = options
  const keys = { keyRing, kmsKeys: keyNames.parse(kmsKeys, '') }
  const metadata = sharedMetadataOf(options)
  const placement = placementOf(options)
  if (data === undefined) {
    refuseInMemory(options)
    const memory = await openServedMemory(keys.kmsKeys, settings, log)
    opened.add(memory.close)
    return { backend: memory.backend, metadataAnswers: () => true }
  }
  const path = resolve(data)
  refuseStoresAround(placement.stores, path, { isShared: metadata !== undefined })
  const address = addressOf(options)
  const kept = await openServedData({ path, metadata, create: true, keys, placement, address, onFatal }, settings, log)
  opened.add(kept.close)
  const { backend, shared, metadataAnswers } = kept
  return { backend, credentialsFile: kept.directory.credentials, metadataAnswers, ...(shared && { shared }) }
}

function sharedMetadataOf({ metadata, data, credentials, accounts = [] }: DataOptions): SharedMetadata | undefined {
  if (metadata === undefined) return undefined
  const { type, url, connections = 10, ...unknown } = metadata
  const [name] = Object.keys(unknown)
  if (name !== undefined) throw new ConfigurationError(`metadata.${name}: there is no such option`)
  if (type !== 'postgres') throw new ConfigurationError("metadata.type: expects 'postgres'")
  if (data === undefined) {
    throw new ConfigurationError('data: metadata in PostgreSQL needs a directory for what belongs to this host')
  }
  if (credentials === undefined && accounts.length === 0) {
    throw new ConfigurationError(
      'credentials: with metadata in PostgreSQL, every server needs the same key of the root account',
    )
  }
  return metadataOf({
    type: { value: type, source: 'metadata.type' },
    url: { value: checked('metadata.url', metadataOptions.metadataUrl.kind, String(url)), source: 'metadata.url' },
    connections: checked('metadata.connections', metadataOptions.metadataConnections.kind, String(connections)),
  })
}

function checked<T>(name: string, kind: { parse(texts: readonly string[], directory: string): T }, text: string): T {
  try {
    return kind.parse([text], '')
  } catch (error) {
    throw error instanceof ConfigurationError ? new ConfigurationError(`${name}: ${error.message}`) : error
  }
}

function placementOf({ stores, locations, defaultLocation = ownLocation }: DataOptions): Placement {
  const placement = parsePlacement({ stores, locations }, process.cwd())
  requireLocation(placement.locations, defaultLocation, 'defaultLocation: ')
  return { ...placement, defaultLocation }
}

/** These options mean nothing for data in memory. */
function refuseInMemory({ stores, locations, defaultLocation, keyRing }: DataOptions): void {
  const given = Object.entries({ stores, locations, defaultLocation, keyRing }).find(([, value]) => value !== undefined)
  if (given !== undefined) throw new ConfigurationError(`${given[0]}: needs data, the path of a data directory`)
}

/** `undefined`: the system picks the port. */
function addressOf({ host = '127.0.0.1', port = 0, tls }: DataOptions): string | undefined {
  return port === 0 ? undefined : urlOf(host, port, { secure: tls !== undefined })
}
