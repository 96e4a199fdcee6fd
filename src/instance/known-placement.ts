/** The stores and locations that the metadata knows, and how a changed configuration changes them. Pure, except for reading and saving the record. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type LocationPolicy, ownLocation } from '../blobs/location-policy.ts'
import type { LocationSettings, Placement } from '../config/locations.ts'
import type { Check, Kv, Put, Version } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import { readRecord, systemRecord } from './sealed-record.ts'

const spread = {
  stores: z.array(z.string()).readonly(),
  maxPerDomain: z.number(),
  writeAck: z.number(),
  storageClasses: z.array(z.string()).readonly().optional(),
}
export const policySchema = z.discriminatedUnion('scheme', [
  z.object({ scheme: z.literal('replica'), copies: z.number(), ...spread }),
  z.object({
    scheme: z.literal('erasure'),
    data: z.number(),
    parity: z.number(),
    replicateBelow: z.number(),
    ...spread,
  }),
])

/** Maps names to the identity that a store had at its first use, and to a location's definition with its version, counted from 1. */
const placementRecord = systemRecord(
  'placement',
  z.object({
    stores: z.record(z.string(), z.object({ storeId: z.string() })),
    locations: z.record(
      z.string(),
      z.object({ version: z.number(), policy: policySchema, former: z.array(z.string()).readonly().optional() }),
    ),
    defaultLocation: z.string().optional(),
    formerDefaults: z.array(z.string()).readonly().optional(),
  }),
)

export interface KnownLocation {
  version: number
  policy: LocationPolicy
  /** Fingerprints of earlier definitions, the latest first. They tell a configuration that lags behind from one that is newer. */
  former?: readonly string[] | undefined
}

export interface KnownPlacement {
  stores: Record<string, { storeId: string }>
  locations: Record<string, KnownLocation>
  /** Absent: it is the location in the data directory, because no server that has another one has started. */
  defaultLocation?: string | undefined
  /** Names of earlier default locations, the latest first. */
  formerDefaults?: readonly string[] | undefined
}

/** The configured stores and locations can't be used with this data. The message says why, and what to do about it. */
export class PlacementRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'PlacementRefused'
  }
}

export async function readKnownPlacement(kv: Kv): Promise<{ known: KnownPlacement; version: Version | undefined }> {
  const found = await readRecord(kv, placementRecord)
  return { known: found?.value ?? { stores: {}, locations: {} }, version: found?.version }
}

/** Resolves with whether the placement is saved. False: another process has changed it, or what `checks` say no longer holds. */
export function savePlacement(
  kv: Kv,
  placement: KnownPlacement,
  version: Version | undefined,
  checks: readonly Check[] = [],
): Promise<boolean> {
  const { key } = placementRecord
  const check = version === undefined ? ({ key, absent: true } as const) : { key, version }
  return kv.commit({ checks: [check, ...checks], puts: [{ key, value: placementRecord.seal(placement) }] })
}

/** The entry that records the placement. */
export function sealedPlacement(placement: KnownPlacement): Put {
  return { key: placementRecord.key, value: placementRecord.seal(placement) }
}

/** Changes the placement as it is at the moment of the commit. `change` may throw. */
export async function changePlacement(kv: Kv, change: (known: KnownPlacement) => KnownPlacement): Promise<void> {
  for (;;) {
    const { known, version } = await readKnownPlacement(kv)
    if (await savePlacement(kv, change(known), version)) return
  }
}

/** A location whose definition has changed gets the next version; a new one begins with 1. */
export function nextLocations(
  known: KnownPlacement['locations'],
  configured: readonly LocationSettings[],
): KnownPlacement['locations'] {
  return Object.fromEntries(
    configured.map(({ name, policy: wanted }) => {
      const before = known[name]
      if (before === undefined) return [name, { version: 1, policy: wanted }]
      return [name, isSamePolicy(before.policy, wanted) ? before : changedLocation(before, wanted)]
    }),
  )
}

/** Whether the metadata has exactly these stores and locations. */
export function knowsPlacement(known: KnownPlacement, { stores, locations }: Placement): boolean {
  const next = nextLocations(known.locations, locations)
  const names = stores.map(({ name }) => name).sort()
  return (
    JSON.stringify(names) === JSON.stringify(Object.keys(known.stores).sort()) &&
    Object.keys(known.locations).length === locations.length &&
    Object.entries(next).every(([name, { version }]) => known.locations[name]?.version === version)
  )
}

function changedLocation({ version, policy, former = [] }: KnownLocation, wanted: LocationPolicy): KnownLocation {
  const earlier = latest(fingerprintOf(policy), former).filter((print) => print !== fingerprintOf(wanted))
  return { version: version + 1, policy: wanted, former: earlier }
}

/** The placement with this default location. */
export function withDefault(known: KnownPlacement, name: string): KnownPlacement {
  const { defaultLocation = ownLocation, formerDefaults = [], ...rest } = known
  if (name === defaultLocation) return known
  const earlier = latest(defaultLocation, formerDefaults).filter((former) => former !== name)
  return { ...rest, defaultLocation: name, formerDefaults: earlier }
}

/** Whether the location had this definition before the present one. */
export function isFormer({ former = [] }: KnownLocation, policy: LocationPolicy): boolean {
  return former.includes(fingerprintOf(policy))
}

export function isSamePolicy(one: LocationPolicy, other: LocationPolicy): boolean {
  return canonical(one) === canonical(other)
}

const fingerprintOf = (policy: LocationPolicy): string =>
  createHash('sha256').update(canonical(policy)).digest('hex').slice(0, 16)

const latest = (name: string, earlier: readonly string[]): string[] =>
  [name, ...earlier.filter((other) => other !== name)].slice(0, limits.formerDefinitionsMax)

/** The text by which two definitions are compared. The order of stores and fields does not matter. */
function canonical({ stores, ...policy }: LocationPolicy): string {
  const said = Object.entries(policy).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([[...stores].sort(), said])
}
