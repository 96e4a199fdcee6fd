/** Picks the engine of a configured store by its type. */
import type { Clock } from '../clock.ts'
import { ConfigurationError } from '../config/configuration-error.ts'
import type { StoreSettings } from '../config/locations.ts'
import { openDirectoryStore } from '../stores/directory/directory-store.ts'
import { openS3Store } from '../stores/s3/s3-store.ts'
import { loadSdk, SdkMissing } from '../stores/s3/sdk.ts'
import type { ShardStore } from '../stores/shard-store.ts'
import type { Ownership } from '../stores/store-claim.ts'

export interface Opening {
  /** No other process has it open: what is marked as being written was left by processes that died. */
  first: boolean
  /** Make a store where nothing is yet. */
  create?: boolean
  /** The store that the metadata knows there. */
  knows?: string
  /** The store can promise nothing any more. */
  onFatal(error: Error): void
}

export interface Telling {
  clock: Clock
  warn(message: string): void
  /** Who opens stores. `takes` and `met`: see `Ownership`. */
  ownership: Omit<Ownership, 'knows'>
}

/** What a store is called in messages: where it lies. */
export function placeName(settings: StoreSettings): string {
  if (settings.type === 'directory') return settings.path
  return `${settings.endpoint} ${settings.bucket}/${settings.prefix}`
}

/** Opens a store, and opens it again after it was out of use: by one process, through one of these. */
export function storeOpener(
  settings: StoreSettings,
  { ownership, ...telling }: Telling,
): (how: Opening) => Promise<ShardStore> {
  const leftOpen = new Map<string, number>()
  return ({ first: firstOpener, create = false, knows, onFatal }) => {
    const how = { create, firstOpener, ownership: { ...ownership, knows }, ...telling }
    if (settings.type === 'directory') return openDirectoryStore({ path: settings.path, onFatal, ...how })
    return openS3Store({ address: settings, leftOpen, ...how })
  }
}

/** Throws `ConfigurationError` when a package is missing that some store needs. */
export async function requirePackages(stores: readonly StoreSettings[]): Promise<void> {
  const remote = stores.find(({ type }) => type === 's3')
  if (remote === undefined) return
  await loadSdk().catch((error: unknown) => {
    throw error instanceof SdkMissing ? new ConfigurationError(`stores.${remote.name}: ${error.message}`) : error
  })
}
