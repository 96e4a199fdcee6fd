/** The effect of a changed configuration of stores and locations on the existing data. Pure: `plan-locations` gathers the facts. */

import { type Forecast, type ForecastLocation, forecast, noDemand } from '../../blobs/forecast.ts'
import {
  domainLossesSurvived,
  type LocationPolicy,
  lossesSurvived,
  overheadOf,
  ownLocation as ownName,
} from '../../blobs/location-policy.ts'
import { shapeOf } from '../../blobs/shape.ts'
import type { Placement } from '../../config/locations.ts'
import { type KnownPlacement, nextLocations } from '../../instance/known-placement.ts'
import type { Proposal } from '../../instance/placement-proposal.ts'
import type { Census } from '../../jobs/locations/placement-census.ts'
import type { StoreNow } from '../../jobs/locations/store-now.ts'
import { removedLocation, removedStore, unreadableLocation } from '../../opening/placement/placement-refusals.ts'

export interface PlanFacts {
  known: KnownPlacement
  configured: Placement
  /** What a start with this configuration would change, where several servers share the metadata. Absent: this server decides alone. */
  proposal?: Proposal | undefined
  /** By name: the configured stores, of which some may not exist yet, and the one in the data directory, if there is one. */
  stores: ReadonlyMap<string, StoreNow & { storeId: string; domain: string }>
  census: Census
  /** Locations with blobs in the repair queue. */
  degraded: ReadonlySet<string>
}

export interface PlannedStore extends StoreNow {
  name: string
  change: 'new' | 'same' | 'removed'
  heldBytes: number
  /** Bytes that the store gains, and bytes that it loses, when outdated data is moved and the old copies are removed. */
  gets: number
  leaves: number
  refusal: string | undefined
}

export interface PlannedLocation {
  name: string
  change: 'new' | 'changed' | 'same' | 'removed'
  /** The version before the change, or before the removal. Absent: the location is new. */
  before: { version: number; policy: LocationPolicy } | undefined
  /** Absent: the location is removed. */
  after:
    | {
        version: number
        policy: LocationPolicy
        /** Bytes kept for each byte stored. */
        overhead: number
        storesSurvived: { whole: number; now: number }
        domainsSurvived: { whole: number; now: number }
        /** The data that must be rewritten to match the location's new definition. */
        outdated: Forecast
      }
    | undefined
  buckets: readonly string[]
  blobs: number
  bytes: number
  refusal: string | undefined
}

export interface LocationPlan {
  stores: PlannedStore[]
  locations: PlannedLocation[]
  /** Buckets whose move is unfinished. */
  moving: string[]
  /** Where several servers share the metadata: what will not follow the configuration, and what waits for other servers. */
  notices: readonly string[]
  waiting: readonly string[]
  refusals: readonly string[]
}

const own = {
  version: 1,
  policy: { scheme: 'replica', copies: 1, stores: [ownName], maxPerDomain: 1, writeAck: 1 } satisfies LocationPolicy,
}

/** Every location after the change, including the one in the data directory. */
export function locationsToBe({
  known,
  configured,
  proposal,
  stores,
}: Pick<PlanFacts, 'known' | 'configured' | 'stores' | 'proposal'>): Map<string, ConfiguredLocation> {
  const next = {
    ...(stores.has(ownName) ? { [ownName]: own } : {}),
    ...(proposal?.next.locations ?? nextLocations(known.locations, configured.locations)),
  }
  return new Map(
    Object.entries(next).map(([name, { version, policy }]) => {
      const over = policy.stores.flatMap((store) => {
        const now = stores.get(store)
        return now === undefined ? [] : [{ name: store, ...now }]
      })
      return [name, { ...shapeOf(policy), writeAck: policy.writeAck, stores: over, version, policy }]
    }),
  )
}

export interface ConfiguredLocation extends Omit<ForecastLocation, 'stores'> {
  version: number
  policy: LocationPolicy
  stores: readonly (StoreNow & { name: string; storeId: string; domain: string })[]
}

export function planPlacement(facts: PlanFacts): LocationPlan {
  const { known, census } = facts
  const toBe = locationsToBe(facts)
  const names = new Set([...toBe.keys(), ...Object.keys(known.locations)])
  const locations = [...names].map((name): PlannedLocation => {
    const before = name === ownName ? own : known.locations[name]
    const { buckets = [], blobs = 0, bytes = 0, outdated = noDemand } = census.locations.get(name) ?? {}
    const common = { name, before, buckets, blobs, bytes }
    const next = toBe.get(name)
    if (next === undefined) {
      const refusal = buckets.length > 0 ? removedLocation(name, buckets) : undefined
      return { ...common, change: 'removed', after: undefined, refusal }
    }
    const { version, policy, stores } = next
    const out = stores.flatMap((store) =>
      store.state === 'out' ? [{ name: store.name, reason: store.reason ?? '' }] : [],
    )
    const domains = domainLossesSurvived(
      policy,
      stores.map(({ domain, state }) => ({ domain, isOut: state === 'out' })),
    )
    const whole = lossesSurvived(policy)
    const isDegraded = facts.degraded.has(name)
    return {
      ...common,
      change: before === undefined ? 'new' : before.version === version ? 'same' : 'changed',
      after: {
        version,
        policy,
        overhead: overheadOf(policy),
        storesSurvived: { whole, now: isDegraded ? 0 : Math.max(0, whole - out.length) },
        domainsSurvived: isDegraded ? { ...domains, now: 0 } : domains,
        outdated: forecast(outdated, next),
      },
      refusal: unreadableLocation(name, policy, out),
    }
  })
  const stores = plannedStores(facts, locations)
  const { notices = [], waiting = [], refusals = [] } = facts.proposal ?? {}
  const against = [...stores, ...locations].flatMap(({ refusal }) => refusal ?? [])
  return { stores, locations, moving: census.moving, notices, waiting, refusals: [...refusals, ...against] }
}

function plannedStores(
  { known, configured, proposal, stores, census }: PlanFacts,
  locations: readonly PlannedLocation[],
): PlannedStore[] {
  const configuredNames = configured.stores.map(({ name }) => name)
  const keptNames = [...configuredNames, ...Object.keys(proposal?.next.stores ?? {})]
  const ownNames = stores.has(ownName) ? [ownName] : []
  const names = new Set([...ownNames, ...configuredNames, ...Object.keys(known.stores)])
  return [...names].map((name) => {
    const isOwn = name === ownName
    const now = stores.get(name)
    const held = census.stores.get(now?.storeId ?? known.stores[name]?.storeId ?? '')
    const gets = locations
      .flatMap(({ after }) => after?.outdated.stores ?? [])
      .filter((store) => store.name === name)
      .reduce((sum, { bytes }) => sum + bytes, 0)
    const isRemoved = !isOwn && !keptNames.includes(name)
    const isNew = !isOwn && known.stores[name] === undefined
    const fault = isNew && now?.state === 'out' ? `stores.${name}: ${now.reason}` : undefined
    return {
      name,
      change: isRemoved ? 'removed' : isNew ? 'new' : 'same',
      state: now?.state ?? 'out',
      reason: now?.reason,
      usedBytes: now?.usedBytes,
      freeBytes: now?.freeBytes,
      heldBytes: held?.bytes ?? 0,
      gets,
      leaves: held?.outdatedBytes ?? 0,
      refusal: isRemoved && held !== undefined && proposal === undefined ? removedStore(name, held.example) : fault,
    }
  })
}
