/** Picks the engine of a configured store by its type. */
import type { Clock } from '../../clock.ts'
import { ConfigurationError } from '../../config/configuration-error.ts'
import type { StoreSettings } from '../../config/locations.ts'
import { openDirectoryStore } from '../../stores/directory/directory-store.ts'
import { openS3Store } from '../../stores/s3/s3-store.ts'
import { loadSdk, SdkMissing } from '../../stores/s3/sdk.ts'
import type { ShardStore } from '../../stores/shard-store.ts'
import type { Ownership } from '../../stores/store-claim.ts'

export interface Opening {
  /** No other process has the store open, so unfinished writes in it were left by dead processes. */
  first: boolean
  /** Make a new store if there is none. */
  create?: boolean
  /** Id of the store that the metadata knows there. */
  knows?: string
  /** Called when the store can no longer keep its promises. */
  onFatal(error: Error): void
}

export interface Telling {
  clock: Clock
  /** The member that opens the stores, if other hosts use them too. Then opening closes no batches, because the maintainer does (`jobs/orphans/close-abandoned.ts`). */
  member?: string | undefined
  warn(message: string): void
  /** The metadata that opens stores. See `Ownership`. */
  ownership: Omit<Ownership, 'knows'>
}

/** The name of a store in messages: its address. */
export function placeName(settings: StoreSettings): string {
  if (settings.type === 'directory') return settings.path
  return `${settings.endpoint} ${settings.bucket}/${settings.prefix}`
}

/** Returns a function that opens a store, at start and again after it was out of use. A process needs one opener per store. */
export function storeOpener(
  settings: StoreSettings,
  { ownership, ...telling }: Telling,
): (how: Opening) => Promise<ShardStore> {
  const leftOpen = new Map<string, number>()
  return ({ first, create = false, knows, onFatal }) => {
    const firstOpener = first && telling.member === undefined
    const how = { create, firstOpener, leftOpen, ownership: { ...ownership, knows }, ...telling }
    if (settings.type === 'directory') return openDirectoryStore({ path: settings.path, onFatal, ...how })
    return openS3Store({ address: settings, ...how })
  }
}

/** Throws `ConfigurationError` when a package that a store needs is missing. */
export async function requirePackages(stores: readonly StoreSettings[]): Promise<void> {
  const remote = stores.find(({ type }) => type === 's3')
  if (remote === undefined) return
  await loadSdk().catch((error: unknown) => {
    throw error instanceof SdkMissing ? new ConfigurationError(`stores.${remote.name}: ${error.message}`) : error
  })
}
