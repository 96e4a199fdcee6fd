/** The stores and locations that the metadata knows, and how a changed configuration changes them. Pure, except for reading and saving the record. */
import { z } from 'zod'
import type { LocationPolicy } from '../blobs/location-policy.ts'
import type { LocationSettings, Placement } from '../config/locations.ts'
import type { Kv, Version } from '../kv/kv.ts'
import { readRecord, systemRecord } from './sealed-record.ts'

const spread = {
  stores: z.array(z.string()).readonly(),
  maxPerDomain: z.number(),
  writeAck: z.number(),
}
const policy = z.discriminatedUnion('scheme', [
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
    locations: z.record(z.string(), z.object({ version: z.number(), policy })),
  }),
)

export interface KnownPlacement {
  stores: Record<string, { storeId: string }>
  locations: Record<string, { version: number; policy: LocationPolicy }>
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

export async function savePlacement(kv: Kv, placement: KnownPlacement, version: Version | undefined): Promise<void> {
  const { key } = placementRecord
  const check = version === undefined ? ({ key, absent: true } as const) : { key, version }
  const kept = await kv.commit({ checks: [check], puts: [{ key, value: placementRecord.seal(placement) }] })
  if (!kept) throw new Error('another process changed the metadata of an owned data directory')
}

/** A location whose definition has changed gets the next version; a new one begins with 1. */
export function nextLocations(
  known: KnownPlacement['locations'],
  configured: readonly LocationSettings[],
): KnownPlacement['locations'] {
  return Object.fromEntries(
    configured.map(({ name, policy: wanted }) => {
      const before = known[name]
      const unchanged = before !== undefined && canonical(before.policy) === canonical(wanted)
      return [name, unchanged ? before : { version: (before?.version ?? 0) + 1, policy: wanted }]
    }),
  )
}

/** Whether the metadata knows exactly these stores and locations. */
export function knowsPlacement(known: KnownPlacement, { stores, locations }: Placement): boolean {
  const next = nextLocations(known.locations, locations)
  const names = stores.map(({ name }) => name).sort()
  return (
    JSON.stringify(names) === JSON.stringify(Object.keys(known.stores).sort()) &&
    Object.keys(known.locations).length === locations.length &&
    Object.entries(next).every(([name, { version }]) => known.locations[name]?.version === version)
  )
}

/** The text by which two definitions are compared. The order of stores and fields does not matter. */
function canonical({ stores, ...policy }: LocationPolicy): string {
  const said = Object.entries(policy).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([[...stores].sort(), said])
}
