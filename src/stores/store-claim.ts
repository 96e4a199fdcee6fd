/**
 * Whose a store is. It names the metadata that refers to it, and the start of a server that last used it: other metadata, which would take every shard for garbage,
 * is refused, and so is a copy of the same metadata that has gone its own way (ADR 0025). Pure; how a claim is kept, each kind of store knows.
 */

/** What stands with a store. */
export interface StoreOwner {
  /** Of the metadata. */
  metadataId: string
  /** The start that claimed it, as in `Claimant`. */
  start: string
  /** For people: host and data directory. */
  server: string
}

/** Metadata that opens a store. */
export interface Claimant {
  /** Empty: it has had no start that claims stores. */
  metadataId: string
  /** Ids of the metadata in whose place it came, by `recover` or `restore`. */
  predecessors: readonly string[]
  /** Its last starts, oldest first. */
  starts: readonly string[]
  /** The start in whose name this process claims. Absent: it only looks. */
  claims?: StoreOwner
}

export interface Ownership {
  /** Asked anew whenever a store says something else than before: several servers may share one metadata. */
  claimant(): Promise<Claimant>
  /** The store that the metadata knows here. Absent: none, so that one must be made. */
  knows?: string | undefined
  /** `empty`: a store that nobody claims and that is empty is taken. `any`: whatever is there; an operator has asked for it. */
  takes?: 'empty' | 'any'
  /** Told of the owner of each store, unless another store lies where a known one is expected. */
  met?(owner: StoreOwner): void
}

/** A store that must not be opened. The message says whose it is, and what to do. */
export class StoreRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StoreRefused'
  }
}

export interface FoundStore {
  /** For messages. */
  place: string
  storeId: string
  /** Absent: 0.1.0 wrote none. */
  owner: StoreOwner | undefined
  /** Asked for only where it decides. */
  isEmpty(): Promise<boolean>
}

/** Whether it is opened as it is, or claimed first. Throws `StoreRefused`. */
export async function judgeStore(found: FoundStore, ownership: Ownership): Promise<'open' | 'claim'> {
  const { place, storeId, owner } = found
  const { knows, takes } = ownership
  const claimant = await ownership.claimant()
  const claim = claimant.claims === undefined ? 'open' : 'claim'
  if (knows !== undefined && knows !== storeId) throw new StoreRefused(`${place}: another store lies in its place`)
  if (owner !== undefined) ownership.met?.(owner)
  if (takes === 'any') return claim
  if (owner === undefined) {
    if (knows !== undefined || (takes === 'empty' && (await found.isEmpty()))) return claim
    throw new StoreRefused(
      `${place} holds a store that this server's metadata does not know. Name an empty or new place, or run holdfast recover if its metadata is lost`,
    )
  }
  if (owner.metadataId === claimant.metadataId) return judgeStart(place, owner, claimant, claim)
  if (knows !== undefined && claimant.predecessors.includes(owner.metadataId)) return claim
  throw new StoreRefused(
    `${place} belongs to other metadata, ${owner.metadataId} of ${owner.server}. Two servers must not share a store: name another place. ` +
      'If that metadata is lost, run holdfast recover; if it is gone for good, holdfast locations claim',
  )
}

function judgeStart(place: string, owner: StoreOwner, { starts, claims }: Claimant, claim: 'open' | 'claim') {
  if (owner.start === claims?.start) return 'open'
  if (starts.includes(owner.start)) return claim
  // Nor is one believed that is too old to be remembered: a copy that is refused long enough would have as many starts.
  const user = startNumber(owner.start) < startNumber(starts[0] ?? '') ? 'a start that it has forgotten, or ' : ''
  throw new StoreRefused(
    `${place} was last used by ${user}a copy of this metadata, of ${owner.server}. Go on with that one. ` +
      'If this one is the right one, stop the other for good, and run holdfast locations claim',
  )
}

/** A start is called by its number and a random part. */
export function startNumber(start: string): number {
  return Number.parseInt(start, 10)
}

/** What a claim says that was read. Throws `StoreRefused` when it is none: whose the store is, nobody knows then. */
export function ownerOf(claim: unknown, path: string): StoreOwner {
  if (typeof claim === 'object' && claim !== null && 'metadataId' in claim && 'start' in claim && 'server' in claim) {
    const { metadataId, start, server } = claim
    if (typeof metadataId === 'string' && typeof start === 'string' && typeof server === 'string') {
      return { metadataId, start, server }
    }
  }
  throw new StoreRefused(
    `${path} is damaged: it does not say whose the store is. If no other server uses it, remove that file`,
  )
}
