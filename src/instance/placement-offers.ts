/**
 * What each member that serves can use, where several share the metadata: the stores that it has configured, and whether it could open them; its locations; its keys.
 * A proposal to change the placement is judged by these offers.
 */
import { z } from 'zod'
import type { Check, Entry, Key, Kv, Version } from '../kv/kv.ts'
import { type KeyRange, rangeOf, unpackKey } from '../kv/ordered-key.ts'
import { type KnownPlacement, policySchema, readKnownPlacement } from './known-placement.ts'
import { type SystemRecord, systemRecord } from './sealed-record.ts'

/** Tells a key without revealing it. */
const keyId = z.object({ name: z.string(), id: z.string() })
export type OfferedKey = z.infer<typeof keyId>

const offer = z.object({
  /** The member's host, and the address where clients reach it, for people. */
  host: z.string(),
  address: z.string(),
  /** By name. `place`: its path or bucket, for people. `out`: why it could not be opened. */
  stores: z.record(z.string(), z.object({ place: z.string(), out: z.string().optional() })),
  locations: z.record(z.string(), policySchema),
  /** Absent: its configuration has no default location. */
  defaultLocation: z.string().optional(),
  /** The keys that are in its ring's file or variable now. Absent: the member's version is too old to tell. */
  keys: z.array(keyId).readonly().optional(),
})
export type PlacementOffer = z.infer<typeof offer>

export interface MemberOffer extends PlacementOffer {
  /** The member's id. */
  id: string
}

const kind = 'member-placement'
export const placementOffers: KeyRange = rangeOf('s', kind)
const offerOf = (member: string): SystemRecord<PlacementOffer> => systemRecord([kind, member], offer)
const idOf = ({ key }: Entry): string => unpackKey(key, ['string', 'string', 'string'])[2]

/** Written with every offer. So a proposal whose commit checks its version was judged by all offers. */
const changes = systemRecord('placement-offers', z.object({}))
export const offersKey: Key = changes.key

/** The most members that have records of their own. */
export const membersMax = 10_000

/** All that a proposal is judged by, read at one moment. */
export interface Offers {
  known: KnownPlacement
  version: Version | undefined
  all: MemberOffer[]
  /** Holds until an offer is written or withdrawn. */
  unchanged: Check
}

/** Includes offers of members that are gone. */
export async function readOffers(kv: Kv): Promise<Offers> {
  const { key } = changes
  // The placement comes last: when it is changed after the offers were read, the check of `unchanged` or of its version fails.
  const { entries, found } = await kv.view([key], [{ ...placementOffers, limit: membersMax }], (entry) => {
    const id = idOf(entry)
    return { ...offerOf(id).open(Buffer.from(entry.value)), id }
  })
  const version = entries[0]?.version
  const unchanged = version === undefined ? ({ key, absent: true } as const) : { key, version }
  return { ...(await readKnownPlacement(kv)), all: found.flat(), unchanged }
}

/** Writes the offer of a member, and removes those of members that are gone. */
export async function writeOffer(kv: Kv, member: string, what: PlacementOffer, gone: readonly string[] = []) {
  const record = offerOf(member)
  await kv.commit({
    puts: [
      { key: record.key, value: record.seal(what) },
      { key: changes.key, value: changes.seal({}) },
    ],
    deletes: gone.filter((id) => id !== member).map((id) => offerOf(id).key),
  })
}

export async function withdrawOffer(kv: Kv, member: string): Promise<void> {
  await kv.commit({ puts: [{ key: changes.key, value: changes.seal({}) }], deletes: [offerOf(member).key] })
}
