/**
 * Decides what a start's configuration changes where several members share the placement (ADR 0044). A change is made once every other member can serve it.
 * Until then the placement stays as it is, and the start goes on with it. Pure.
 */
import { type LocationPolicy, lossesSurvived, ownLocation } from '../blobs/location-policy.ts'
import type { LocationSettings } from '../config/locations.ts'
import {
  isFormer,
  isSamePolicy,
  type KnownLocation,
  type KnownPlacement,
  nextLocations,
  withDefault,
} from './known-placement.ts'
import type { MemberOffer } from './placement-offers.ts'
import { definitionText } from './placement-text.ts'

export interface ProposalFacts {
  known: KnownPlacement
  configured: {
    /** By name. */
    stores: readonly string[]
    locations: readonly LocationSettings[]
    /** Absent: the configuration has none. */
    defaultLocation: string | undefined
  }
  /** The offers of all other living members. */
  others: readonly MemberOffer[]
  /** The buckets in known locations that the configuration lacks, by location. */
  buckets: ReadonlyMap<string, readonly string[]>
  /** Known stores that hold data and that the configuration lacks, each with an example of the data. */
  holding: ReadonlyMap<string, string>
}

export interface Proposal {
  /** The placement from now on. The stores of `made` are missing from it. */
  next: KnownPlacement
  /** Configured stores that the metadata does not know yet, by name. */
  made: readonly string[]
  /** Where the configuration differs from `next`, and why. */
  notices: readonly string[]
  /** Changes that some member can't serve yet, with the member's name. */
  waiting: readonly string[]
  /** Why this process can't serve. */
  refusals: readonly string[]
}

export function judgeProposal(facts: ProposalFacts): Proposal {
  const { known, configured } = facts
  const findings: Findings = { notices: [], waiting: [], refusals: [] }
  const judged = { ...configuredLocations(facts, findings), ...keptLocations(facts, findings) }
  const locations = withClassesApart(judged, facts, findings)
  const { stores } = keptStores(facts, locations, findings)
  const made = configured.stores.filter((name) => known.stores[name] === undefined)
  const next = nextDefault({ ...known, stores, locations }, facts, findings)
  return { next, made, ...findings }
}

interface Findings {
  notices: string[]
  waiting: string[]
  refusals: string[]
}

type Locations = KnownPlacement['locations']

/** How messages name a member. */
const called = ({ host, address }: MemberOffer): string => `${host} (${address})`
const listed = (members: readonly MemberOffer[]): string => members.map(called).join(', ')

function configuredLocations({ known, configured, others }: ProposalFacts, findings: Findings): Locations {
  const wanted = nextLocations(known.locations, configured.locations)
  const kept: Locations = {}
  for (const [name, location] of Object.entries(wanted)) {
    const before = known.locations[name]
    if (before === location) {
      kept[name] = before
      continue
    }
    const holders = before === undefined ? [] : others.filter((other) => hasPolicy(other, name, before.policy))
    if (before !== undefined && holders.length > 0 && isFormer(before, location.policy)) {
      findings.notices.push(
        `[locations.${name}] is an earlier definition here. The newer one of ${listed(holders)} counts:\n${definitionText(name, before.policy)}`,
      )
      kept[name] = before
      continue
    }
    const unable = others.flatMap((other) => whyUnable(other, location.policy) ?? [])
    if (unable.length === 0) kept[name] = location
    else {
      const what = before === undefined ? 'is not used yet' : `stays at version ${before.version}`
      findings.waiting.push(`[locations.${name}] ${what}, because ${unable.join('; ')}`)
      if (before !== undefined) kept[name] = before
    }
  }
  return kept
}

function hasPolicy(offer: MemberOffer, name: string, policy: LocationPolicy): boolean {
  const theirs = offer.locations[name]
  return theirs !== undefined && isSamePolicy(theirs, policy)
}

/** Why a member can't serve a location with this definition. */
function whyUnable(offer: MemberOffer, policy: LocationPolicy): string | undefined {
  const lacking = policy.stores.filter((store) => offer.stores[store] === undefined)
  if (lacking.length > 0) return `${called(offer)} lacks ${lacking.map((store) => `[stores.${store}]`).join(', ')}`
  const out = policy.stores.flatMap((store) => {
    const reason = offer.stores[store]?.out
    return reason === undefined ? [] : [`store ${store} (${reason})`]
  })
  return out.length > lossesSurvived(policy) ? `${called(offer)} can't use ${out.join(', ')}` : undefined
}

/** Known locations that the configuration lacks. The last member that has one in its configuration removes it by starting without it. */
function keptLocations({ known, configured, others, buckets }: ProposalFacts, findings: Findings): Locations {
  const kept: Locations = {}
  for (const [name, location] of lackedLocations(known, configured)) {
    const holders = others.filter((other) => other.locations[name] !== undefined)
    const inside = buckets.get(name) ?? []
    if (holders.length === 0 && inside.length === 0) continue
    kept[name] = location
    // No configuration can name the location of a data directory, which has kept its buckets (`holdfast migrate --keep-local`).
    if (name === ownLocation) continue
    const why = holders.length > 0 ? `${listed(holders)} has it` : `bucket ${inside[0]} is in it`
    findings.notices.push(
      `[locations.${name}] is not in this configuration. It stays, because ${why}:\n${definitionText(name, location.policy)}`,
    )
  }
  return kept
}

/**
 * Otherwise, a class could be in two locations: the one that another server's configuration, or a change that waits, holds as it was, and the one that this configuration
 * names. Such a change waits. As no configuration names a class twice, one of the two locations has not changed.
 */
function withClassesApart(judged: Locations, { known }: ProposalFacts, { waiting }: Findings): Locations {
  const next = { ...judged }
  for (;;) {
    const found = classInTwo(next, known)
    if (found === undefined) return next
    const { name, storageClass, keeper } = found
    const before = known.locations[name]
    const what = before === undefined ? 'is not used yet' : `stays at version ${before.version}`
    waiting.push(`[locations.${name}] ${what}, because ${storageClass} is among storageClasses of ${keeper}`)
    if (before === undefined) delete next[name]
    else next[name] = before
  }
}

/** A location that changes, and one that stays as it was and keeps the same class. */
function classInTwo(
  next: Locations,
  known: KnownPlacement,
): { name: string; storageClass: string; keeper: string } | undefined {
  const isChanged = (name: string): boolean => next[name] !== known.locations[name]
  const keepers = Object.entries(next).filter(([name]) => !isChanged(name))
  for (const [name, { policy }] of Object.entries(next).filter(([name]) => isChanged(name))) {
    for (const storageClass of policy.storageClasses ?? []) {
      const keeper = keepers.find(([, kept]) => kept.policy.storageClasses?.includes(storageClass))
      if (keeper !== undefined) return { name, storageClass, keeper: keeper[0] }
    }
  }
  return undefined
}

/** The known locations that a configuration lacks. */
export function lackedLocations(
  { locations }: KnownPlacement,
  configured: Pick<ProposalFacts['configured'], 'locations'>,
): [string, KnownLocation][] {
  return Object.entries(locations).filter(([name]) => !configured.locations.some((it) => it.name === name))
}

function keptStores(
  { known, configured, others, holding }: ProposalFacts,
  locations: Locations,
  { notices, refusals }: Findings,
): Pick<KnownPlacement, 'stores'> {
  const stores: KnownPlacement['stores'] = {}
  for (const [name, store] of Object.entries(known.stores)) {
    if (configured.stores.includes(name)) {
      stores[name] = store
      continue
    }
    const holders = others.filter((other) => other.stores[name] !== undefined)
    const user = Object.entries(locations).find(([, { policy }]) => policy.stores.includes(name))?.[0]
    const example = holding.get(name)
    const need = user !== undefined ? `location ${user} uses it` : example && `it holds data, such as of ${example}`
    const places = holders.map((other) => `${called(other)} has it at ${other.stores[name]?.place}`)
    if (need !== undefined) {
      refusals.push(`[stores.${name}] is missing: ${[need, ...places].join('; ')}. Add it`)
    } else if (holders.length > 0) {
      notices.push(`[stores.${name}] is not in this configuration. It stays, because ${places.join('; ')}`)
      stores[name] = store
    }
  }
  return { stores }
}

function nextDefault(
  next: KnownPlacement,
  { known, configured, others }: ProposalFacts,
  findings: Findings,
): KnownPlacement {
  const { defaultLocation: wanted } = configured
  const { defaultLocation: before, formerDefaults = [] } = known
  if (wanted === undefined && before === undefined) {
    const names = Object.keys(next.locations)
    findings.refusals.push(
      names.length === 0
        ? 'there is no location for data. Configure [stores] and [locations], and set defaultLocation'
        : `defaultLocation is not set, and there is no location in the data directory. Set it to one of ${names.join(', ')}`,
    )
  }
  if (wanted === undefined || wanted === before) return next
  const holders = others.filter(({ defaultLocation }) => defaultLocation === before)
  if (before !== undefined && holders.length > 0 && formerDefaults.includes(wanted)) {
    findings.notices.push(
      `defaultLocation is ${before}, as at ${listed(holders)}, not ${wanted} as in this configuration`,
    )
    return next
  }
  if (next.locations[wanted] !== undefined) return withDefault(next, wanted)
  if (before === undefined) findings.refusals.push(`defaultLocation is ${wanted}, which can't be used yet`)
  else findings.waiting.push(`defaultLocation stays ${before}, because ${wanted} is not used yet`)
  return next
}
