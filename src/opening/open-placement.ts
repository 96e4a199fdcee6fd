/**
 * Opens the configured stores for the locations over them. A store is used only if it is the one that the metadata knows by its name. One that is missing,
 * empty or foreign is left out, and never replaced by a new one.
 */

import type { Location } from '../blobs/blobs.ts'
import type { ClosingStack } from '../closing-stack.ts'
import type { Backend } from '../commits/backend.ts'
import { repairPut } from '../commits/repair-queue.ts'
import type { Placement, StoreSettings } from '../config/locations.ts'
import { failureText } from '../file-failure.ts'
import {
  type KnownPlacement,
  nextLocations,
  PlacementRefused,
  readKnownPlacement,
  savePlacement,
} from '../instance/known-placement.ts'
import { everyBucket, everyReference } from '../jobs/blob-reference.ts'
import type { Kv, Put } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { type GuardedStore, openGuardedStore } from '../stores/guarded-store.ts'
import { placeName, requirePackages, storeOpener, type Telling } from './open-stores.ts'
import { removedLocation, removedStore, unreadableLocation } from './placement-refusals.ts'

export interface PlacementOptions extends Telling {
  configured: Placement
  /** This process owns the data directory, and decides for its workers too whether there are enough stores. */
  owner: boolean
  /** No other process has the stores open: see `Opening`. */
  firstOpener: boolean
  /** Takes over a changed configuration. Otherwise one that lacks what the metadata knows is refused. */
  adopt: boolean
  /** Neither takes over nor refuses a changed configuration: opens what both know. */
  dryRun?: boolean | undefined
}

export interface OpenPlacement {
  locations: Location[]
  /** Every configured store. Some may no longer belong to a location. */
  stores: GuardedStore[]
}

/** Throws `PlacementRefused`. */
export async function openPlacement(kv: Kv, options: PlacementOptions, opened: ClosingStack): Promise<OpenPlacement> {
  const { configured, owner, firstOpener, adopt, dryRun = false, ownership, clock, warn } = options
  await requirePackages(configured.stores)
  const { known, version } = await readKnownPlacement(kv)
  let placement = known
  if (!adopt && !dryRun) refuseOtherConfiguration(known, configured)
  else if (adopt && owner) {
    await refuseRemovals(kv, known, configured)
    placement = await nextPlacement(known, options)
    if (JSON.stringify(placement) !== JSON.stringify(known)) await savePlacement(kv, placement, version)
  }

  const stores = new Map<string, GuardedStore>()
  for (const settings of configured.stores) {
    const storeId = placement.stores[settings.name]?.storeId
    if (storeId === undefined && dryRun) continue
    if (storeId === undefined)
      throw new PlacementRefused(`store ${settings.name} is not known yet: start the server first`)
    const open = storeOpener(settings, { ownership, clock, warn })
    const guarded = await openGuardedStore({
      name: settings.name,
      domain: settings.domain,
      storeId,
      firstOpener,
      clock,
      warn,
      knownStoreId: async () => (await readKnownPlacement(kv)).known.stores[settings.name]?.storeId,
      open: (how) => open({ ...how, knows: how.storeId }),
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
      const out = policy.stores.flatMap((store) => stores.get(store) ?? []).flatMap(outOfUse)
      const refusal = unreadableLocation(name, policy, out)
      if (refusal !== undefined) throw new PlacementRefused(refusal)
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

async function refuseRemovals(kv: Kv, known: KnownPlacement, configured: Placement): Promise<void> {
  const locations = Object.keys(known.locations).filter((name) => !configured.locations.some((it) => it.name === name))
  if (locations.length > 0) {
    const users = new Map<string, string[]>()
    for await (const { name, location } of everyBucket(kv)) {
      if (locations.includes(location)) users.set(location, [...(users.get(location) ?? []), name])
    }
    for (const [name, buckets] of users) throw new PlacementRefused(removedLocation(name, buckets))
  }
  for (const [name, { storeId }] of Object.entries(known.stores)) {
    if (configured.stores.some((store) => store.name === name)) continue
    for await (const { owner, manifest } of everyReference(kv)) {
      // Snapshots don't count, because they are made again on the other stores.
      if (owner.kind === 'snapshot' || !manifest.shards.some((shard) => shard.storeId === storeId)) continue
      throw new PlacementRefused(removedStore(name, owner))
    }
  }
}

/** Makes the stores whose names the metadata does not know. */
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
 * Replaces a lost store by a new, empty one, and queues the blobs that had copies there for repair. Resolves with their number. After a crash, calling it
 * again continues. Running servers take up the new store when they next look at the lost one.
 */
export async function replaceStore(
  { kv, blobs, clock }: Backend,
  settings: StoreSettings,
  making: Telling,
): Promise<number> {
  const { known, version } = await readKnownPlacement(kv)
  const lost = known.stores[settings.name]?.storeId
  if (blobs.stores.some(({ storeId }) => storeId === lost)) {
    throw new PlacementRefused(`store ${settings.name} is there and in use: only one that is lost can be replaced`)
  }
  const storeId = await newStore(settings, making)
  if (lost !== undefined) await queueWhatLayIn(lost, { kv, clock })
  await savePlacement(kv, { ...known, stores: { ...known.stores, [settings.name]: { storeId } } }, version)
  // Runs again for what a server committed meanwhile. From now on, nothing is written to the lost store.
  return lost === undefined ? 0 : queueWhatLayIn(lost, { kv, clock })
}

/** Queues the lost store's blobs for repair. Resolves with their number. */
async function queueWhatLayIn(lost: string, { kv, clock }: Pick<Backend, 'kv' | 'clock'>): Promise<number> {
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
  return queued
}

/** Makes a store. It must be empty, because anything in it would look like garbage. */
async function newStore(settings: StoreSettings, telling: Telling): Promise<string> {
  const { name } = settings
  const fatal: Error[] = []
  const open = storeOpener(settings, telling)
  const making = open({ first: true, create: true, onFatal: (error) => fatal.push(error) })
  const store = await making.catch((error: unknown) => {
    throw new PlacementRefused(`stores.${name}: ${failureText(error)}`)
  })
  try {
    for await (const _ of store.list()) {
      throw new PlacementRefused(
        `stores.${name}: ${placeName(settings)} holds data that this server's metadata does not know. If its metadata was lost, run \`holdfast recover\``,
      )
    }
    if (fatal[0] !== undefined) throw fatal[0]
    return store.storeId
  } finally {
    await store.close()
  }
}

function outOfUse(store: GuardedStore): { name: string; reason: string }[] {
  const { state, reason = '' } = store.condition()
  return state === 'out' ? [{ name: store.name, reason }] : []
}
