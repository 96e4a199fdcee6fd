/**
 * Opens the configured stores for the locations over them. A store is used only if it is the one that the metadata knows by its name. One that is missing,
 * empty or foreign is left out, and never replaced by a new one.
 */

import type { Location, LocationFeed } from '../../blobs/blobs.ts'
import { ownLocation } from '../../blobs/location-policy.ts'
import type { ClosingStack } from '../../closing-stack.ts'
import type { Placement, StoreSettings } from '../../config/locations.ts'
import {
  type KnownPlacement,
  nextLocations,
  PlacementRefused,
  readKnownPlacement,
  savePlacement,
  withDefault,
} from '../../instance/known-placement.ts'
import type { Kv } from '../../kv/kv.ts'
import { type GuardedStore, openGuardedStore } from '../../stores/guarded-store.ts'
import { makeStore, refuseTwins } from './make-store.ts'
import { requirePackages, storeOpener, type Telling } from './open-stores.ts'
import { PlacementFeed } from './placement-feed.ts'
import { removedLocation, removedStore, unreadableLocation } from './placement-refusals.ts'
import { bucketsIn, dataOn } from './placement-users.ts'
import { openOffer, type ProposedPlacement, proposePlacement, type SharedPlacement } from './shared-placement.ts'
import { waitingProposal } from './waiting-proposal.ts'

export interface PlacementOptions extends Telling {
  configured: Placement
  /** This process decides for its workers too: whether the configuration is taken over, and whether there are enough stores. */
  owner: boolean
  /** Takes over a changed configuration. Otherwise one that lacks what the metadata knows is refused. */
  adopt: boolean
  /** Neither takes over nor refuses a changed configuration: opens what both know. */
  dryRun?: boolean | undefined
  /** Absent: no other server uses the metadata. */
  shared?: SharedPlacement | undefined
  /** How often to propose again a change that waits for other members. Absent: once a lease. */
  proposeEveryMs?: number
  /** How often to look for changes that other members have made. Absent: `placementLookMs`. */
  lookEveryMs?: number
}

export interface OpenPlacement {
  locations: Location[]
  /** Every configured store. Some may no longer belong to a location. */
  stores: GuardedStore[]
  defaultLocation: string
  /** Present if servers share the metadata. It runs until the closing stack is closed. */
  feed?: LocationFeed
}

/** Throws `PlacementRefused`. */
export async function openPlacement(kv: Kv, options: PlacementOptions, opened: ClosingStack): Promise<OpenPlacement> {
  const { configured, owner, adopt, dryRun = false, shared } = options
  await requirePackages(configured.stores)
  const offer = shared !== undefined && owner && adopt ? await openOffer(kv, configured, shared, opened) : undefined
  const proposed = await placementToUse(kv, options, offer !== undefined)
  const { placement } = proposed
  const stores = await openStores(kv, placement, options, opened)
  const locations = locationsOver(placement, stores)
  if (owner && adopt) refuseUnreadable(placement, stores)
  const { defaultLocation = ownLocation } = placement
  const found = { locations, stores: [...stores.values()], defaultLocation }
  if (shared === undefined || dryRun) return found
  const proposeAgain = waitingProposal(kv, { ...options, shared }, proposed, options.proposeEveryMs)
  const refresh = async (): Promise<void> => {
    await offer?.refresh(stores)
    await proposeAgain()
  }
  await refresh()
  const feed = new PlacementFeed({ kv, stores, placement, refresh, ...shared })
  opened.add(feed.start(options.lookEveryMs))
  return { ...found, feed }
}

async function placementToUse(kv: Kv, options: PlacementOptions, proposes: boolean): Promise<ProposedPlacement> {
  const { configured, owner, adopt, dryRun = false, shared } = options
  if (shared !== undefined && proposes) return proposePlacement(kv, { ...options, shared })
  const { known, version } = await readKnownPlacement(kv)
  if (!adopt && !dryRun) refuseOtherConfiguration(known, configured, shared === undefined)
  if (!adopt || !owner) return { placement: known, isWaiting: false }
  await refuseRemovals(kv, known, configured)
  const placement = await nextPlacement(known, options)
  if (JSON.stringify(placement) !== JSON.stringify(known) && !(await savePlacement(kv, placement, version))) {
    throw new Error('another process changed the metadata of an owned data directory')
  }
  return { placement, isWaiting: false }
}

async function openStores(
  kv: Kv,
  placement: KnownPlacement,
  options: PlacementOptions,
  opened: ClosingStack,
): Promise<Map<string, GuardedStore>> {
  const { configured, owner, dryRun = false, clock, warn, shared } = options
  const stores = new Map<string, GuardedStore>()
  for (const settings of configured.stores) {
    const storeId = placement.stores[settings.name]?.storeId
    if (storeId === undefined && dryRun) continue
    if (storeId === undefined)
      throw new PlacementRefused(`store ${settings.name} is not known yet: start the server first`)
    const open = storeOpener(settings, options)
    const guarded = await openGuardedStore({
      name: settings.name,
      domain: settings.domain,
      storeId,
      firstOpener: owner && shared === undefined,
      clock,
      warn,
      knownStoreId: async () => (await readKnownPlacement(kv)).known.stores[settings.name]?.storeId,
      open: (how) => open({ ...how, knows: how.storeId }),
    })
    opened.add(() => guarded.close())
    stores.set(settings.name, guarded)
  }
  return stores
}

function locationsOver({ locations }: KnownPlacement, stores: ReadonlyMap<string, GuardedStore>): Location[] {
  return Object.entries(locations).map(([name, { version, policy }]) => ({
    ...policy,
    name,
    version,
    stores: policy.stores.flatMap((store) => stores.get(store) ?? []),
  }))
}

function refuseUnreadable({ locations }: KnownPlacement, stores: ReadonlyMap<string, GuardedStore>): void {
  for (const [name, { policy }] of Object.entries(locations)) {
    const out = policy.stores.flatMap((store) => stores.get(store) ?? []).flatMap(outOfUse)
    const refusal = unreadableLocation(name, policy, out)
    if (refusal !== undefined) throw new PlacementRefused(refusal)
  }
}

function outOfUse(store: GuardedStore): { name: string; reason: string }[] {
  const { state, reason = '' } = store.condition()
  return state === 'out' ? [{ name: store.name, reason }] : []
}

/** `alone`: no other server has a configuration. Otherwise, a location may also be defined in the metadata only. */
function refuseOtherConfiguration(known: KnownPlacement, configured: Placement, alone: boolean): void {
  for (const kind of alone ? (['stores', 'locations'] as const) : (['stores'] as const)) {
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
  const lacked = (kind: 'stores' | 'locations'): string[] =>
    Object.keys(known[kind]).filter((name) => !configured[kind].some((it) => it.name === name))
  for (const [name, buckets] of await bucketsIn(kv, lacked('locations'))) {
    throw new PlacementRefused(removedLocation(name, buckets))
  }
  const stores = lacked('stores').map((name) => ({ name, storeId: known.stores[name]?.storeId ?? '' }))
  const data = await dataOn(
    kv,
    stores.map(({ storeId }) => storeId),
  )
  for (const { name, storeId } of stores) {
    const example = data.get(storeId)
    if (example !== undefined) throw new PlacementRefused(removedStore(name, example))
  }
}

/** Makes the stores whose names the metadata does not know. */
async function nextPlacement(known: KnownPlacement, options: PlacementOptions): Promise<KnownPlacement> {
  const { stores, locations, defaultLocation } = options.configured
  const idOf = async (settings: StoreSettings): Promise<string> =>
    known.stores[settings.name]?.storeId ?? (await makeStore(settings, options))
  const next: KnownPlacement = { ...known, stores: {}, locations: nextLocations(known.locations, locations) }
  for (const settings of stores) {
    next.stores[settings.name] = { storeId: await idOf(settings) }
    refuseTwins(next.stores)
  }
  return withDefault(next, defaultLocation)
}
