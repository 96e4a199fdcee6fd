/**
 * Opens the configured stores for the locations over them. A store is used only if it is the one that the metadata knows by its name; one that is missing, empty
 * or another's is left out, and no store is made anew in its place.
 */
import type { Clock } from './clock.ts'
import type { ClosingStack } from './closing-stack.ts'
import type { Placement, StoreSettings } from './config/locations.ts'
import {
  type KnownPlacement,
  keepPlacement,
  nextLocations,
  PlacementRefused,
  readKnownPlacement,
} from './instance/known-placement.ts'
import { everyBucket, everyReference } from './jobs/blob-reference.ts'
import type { Kv, Put } from './kv/kv.ts'
import { limits } from './limits.ts'
import type { Location } from './shards/blobs.ts'
import { openDirectoryStore } from './shards/directory/directory-store.ts'
import { type GuardedStore, openGuardedStore } from './shards/guarded-store.ts'
import { type LocationPolicy, lossesSurvived } from './shards/location-policy.ts'
import { repairPut } from './store/repair-queue.ts'
import type { Store } from './store/store.ts'

export interface PlacementOptions {
  configured: Placement
  /** This process owns the data directory: it decides whether the stores will do, for its workers too. */
  owner: boolean
  /** Whether a changed configuration is taken over. Without, one that lacks what the metadata knows is refused. */
  adopt: boolean
  clock: Clock
  warn(message: string): void
}

export interface OpenPlacement {
  locations: Location[]
  /** Every configured store: some may be in no location any more. */
  stores: GuardedStore[]
}

/** Throws `PlacementRefused`. */
export async function openPlacement(kv: Kv, options: PlacementOptions, opened: ClosingStack): Promise<OpenPlacement> {
  const { configured, owner, adopt } = options
  const { known, version } = await readKnownPlacement(kv)
  let placement = known
  if (!adopt) refuseOtherConfiguration(known, configured)
  else if (owner) {
    await refuseRemovals(kv, known, configured)
    placement = await nextPlacement(known, options)
    if (JSON.stringify(placement) !== JSON.stringify(known)) await keepPlacement(kv, placement, version)
  }

  const stores = new Map<string, GuardedStore>()
  for (const settings of configured.stores) {
    const storeId = placement.stores[settings.name]?.storeId
    if (storeId === undefined)
      throw new PlacementRefused(`store ${settings.name} is not known yet: start the server first`)
    const guarded = await openGuardedStore({
      ...settings,
      storeId,
      firstOpener: owner,
      clock: options.clock,
      warn: options.warn,
      open: ({ first, onFatal }) =>
        openDirectoryStore({
          path: settings.path,
          clock: options.clock,
          create: false,
          firstOpener: first,
          onFatal,
          warn: options.warn,
        }),
    })
    opened.add(() => guarded.close())
    stores.set(settings.name, guarded)
  }
  const locations = Object.entries(placement.locations).map(([name, { version: number, policy }]) => ({
    ...policy,
    name,
    version: number,
    stores: policy.stores.flatMap((store) => stores.get(store) ?? []),
  }))
  if (owner && adopt) {
    for (const [name, { policy }] of Object.entries(placement.locations)) {
      requireReadable(
        name,
        policy,
        policy.stores.flatMap((store) => stores.get(store) ?? []),
      )
    }
  }
  return { locations, stores: [...stores.values()] }
}

function refuseOtherConfiguration(known: KnownPlacement, configured: Placement): void {
  for (const kind of ['stores', 'locations'] as const) {
    const names = configured[kind].map(({ name }) => name)
    const lacking = Object.keys(known[kind]).find((name) => !names.includes(name))
    if (lacking !== undefined) {
      throw new PlacementRefused(
        `the data directory knows [${kind}.${lacking}], which the configuration lacks. Name the server's file with --config`,
      )
    }
  }
}

const namesShown = 5

async function refuseRemovals(kv: Kv, known: KnownPlacement, configured: Placement): Promise<void> {
  const locations = Object.keys(known.locations).filter((name) => !configured.locations.some((it) => it.name === name))
  if (locations.length > 0) {
    const users = new Map<string, string[]>()
    for await (const { name, location } of everyBucket(kv)) {
      if (locations.includes(location)) users.set(location, [...(users.get(location) ?? []), name])
    }
    for (const [name, buckets] of users) {
      const more = buckets.length > namesShown ? ` and ${buckets.length - namesShown} more` : ''
      throw new PlacementRefused(
        `[locations.${name}] was removed from the configuration, but it is the location of ${buckets.slice(0, namesShown).join(', ')}${more}. Put it back`,
      )
    }
  }
  for (const [name, { storeId }] of Object.entries(known.stores)) {
    if (configured.stores.some((store) => store.name === name)) continue
    for await (const { owner, manifest } of everyReference(kv)) {
      if (!manifest.shards.some((shard) => shard.storeId === storeId)) continue
      const example =
        owner.kind === 'version'
          ? `bucket ${owner.bucket}`
          : owner.kind === 'part'
            ? 'a multipart upload'
            : 'a snapshot'
      throw new PlacementRefused(
        `[stores.${name}] was removed from the configuration, but it still holds data, such as of ${example}. Put it back`,
      )
    }
  }
}

/** Makes stores where the metadata knows none of their name. */
async function nextPlacement(known: KnownPlacement, options: PlacementOptions): Promise<KnownPlacement> {
  const { stores, locations } = options.configured
  const next: KnownPlacement = { stores: {}, locations: nextLocations(known.locations, locations) }
  for (const settings of stores) {
    const storeId = known.stores[settings.name]?.storeId ?? (await newStore(settings, options))
    const other = Object.keys(next.stores).find((name) => next.stores[name]?.storeId === storeId)
    if (other !== undefined) {
      throw new PlacementRefused(`stores.${other} and stores.${settings.name} are one and the same store`)
    }
    next.stores[settings.name] = { storeId }
  }
  return next
}

/**
 * Puts a new, empty store in the place of one that is lost, and queues for repair what had copies there: resolves with how many blobs that is. Repeating it
 * after a crash goes on. Nobody else may use the data meanwhile.
 */
export async function replaceStore(
  { kv, blobs, clock }: Store,
  settings: StoreSettings,
  making: Pick<PlacementOptions, 'clock' | 'warn'>,
): Promise<number> {
  const { known, version } = await readKnownPlacement(kv)
  const lost = known.stores[settings.name]?.storeId
  if (blobs.stores.some(({ storeId }) => storeId === lost)) {
    throw new PlacementRefused(`store ${settings.name} is there and in use: only one that is lost can be replaced`)
  }
  const storeId = await newStore(settings, making)
  let queued = 0
  let puts: Put[] = []
  const flush = async (): Promise<void> => {
    if (puts.length > 0) await kv.commit({ puts })
    queued += puts.length
    puts = []
  }
  for await (const { owner, manifest } of everyReference(kv)) {
    if (!manifest.shards.some((shard) => shard.storeId === lost)) continue
    puts.push(repairPut({ clock }, owner))
    if (puts.length >= limits.reclaimBatch) await flush()
  }
  await flush()
  await keepPlacement(kv, { ...known, stores: { ...known.stores, [settings.name]: { storeId } } }, version)
  return queued
}

/** A store must be empty when it is first used: what it holds else would look like garbage. */
async function newStore(
  { name, path }: StoreSettings,
  { clock, warn }: Pick<PlacementOptions, 'clock' | 'warn'>,
): Promise<string> {
  const fatal: Error[] = []
  const store = await openDirectoryStore({
    path,
    clock,
    create: true,
    firstOpener: true,
    onFatal: (error) => fatal.push(error),
    warn,
  }).catch((error: unknown) => {
    throw new PlacementRefused(`stores.${name}: ${error instanceof Error ? error.message : error}`)
  })
  try {
    for await (const _ of store.list()) {
      throw new PlacementRefused(`stores.${name}: ${path} holds data that this server's metadata does not know`)
    }
    if (fatal[0] !== undefined) throw fatal[0]
    return store.storeId
  } finally {
    await store.close()
  }
}

/** With more stores out of use than may be lost, some data may lie in too few of the others. */
function requireReadable(name: string, policy: LocationPolicy, stores: readonly GuardedStore[]): void {
  const out = stores.filter((store) => store.condition().state === 'out')
  if (out.length <= lossesSurvived(policy)) return
  const shards = policy.scheme === 'replica' ? `${policy.copies} copies` : `${policy.data} + ${policy.parity} shards`
  const reasons = out.map((store) => `${store.name}: ${store.condition().reason}`)
  throw new PlacementRefused(
    `location ${name} keeps ${shards}, and ${out.length} of its stores can't be used:\n  ${reasons.join('\n  ')}`,
  )
}
