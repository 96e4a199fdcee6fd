/**
 * Decides whether metadata can use a store. A store names the metadata that refers to it, and the server start that last used it. Other metadata, which would take every shard for
 * garbage, is refused, and so is a copy of the same metadata that has diverged (ADR 0025). Pure; each kind of store keeps claims in its own way.
 */

/** A store's record of its owner. */
export interface StoreOwner {
  /** Id of the metadata. */
  metadataId: string
  /** The start that claimed it, as in `Claimant`. */
  start: string
  /** For people: host and data directory. */
  server: string
}

/** Metadata that opens a store. */
export interface Claimant {
  /** Empty: none of its starts has claimed stores. */
  metadataId: string
  /** Ids of the metadata that it replaced, by `recover` or `restore`. */
  predecessors: readonly string[]
  /** Its last starts, oldest first. */
  starts: readonly string[]
  /** The start in whose name this process claims stores. Absent: it claims none. */
  claims?: StoreOwner
}

export interface Ownership {
  /** Called again whenever a store's owner has changed, because several servers can share the metadata. */
  claimant(): Promise<Claimant>
  /** The id of the store that the metadata expects here. Absent: none, so a new one must be created. */
  knows?: string | undefined
  /** `empty`: accepts an empty, unclaimed store. `any`: accepts any store, because an operator has asked for it. */
  takes?: 'empty' | 'any'
  /** Called with the owner of each store, unless another store lies where a known one is expected. */
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
  name: string
  storeId: string
  /** Absent: version 0.1.0 wrote none. */
  owner: StoreOwner | undefined
  /** Called only if the decision depends on it. */
  isEmpty(): Promise<boolean>
}

/** Whether to open the store as it is or to claim it first. Throws `StoreRefused`. */
export async function judgeStore(found: FoundStore, ownership: Ownership): Promise<'open' | 'claim'> {
  const { name, storeId, owner } = found
  const { knows, takes } = ownership
  const claimant = await ownership.claimant()
  const claim = claimant.claims === undefined ? 'open' : 'claim'
  if (knows !== undefined && knows !== storeId) throw new StoreRefused(`${name}: another store lies in its place`)
  if (owner !== undefined) ownership.met?.(owner)
  if (takes === 'any') return claim
  if (owner === undefined) {
    if (knows !== undefined || (takes === 'empty' && (await found.isEmpty()))) return claim
    throw new StoreRefused(
      `${name} holds a store that this server's metadata does not know. Name an empty or new place, or run holdfast recover if its metadata is lost`,
    )
  }
  if (owner.metadataId === claimant.metadataId) return judgeStart(name, owner, claimant, claim)
  if (knows !== undefined && claimant.predecessors.includes(owner.metadataId)) return claim
  throw new StoreRefused(
    `${name} belongs to other metadata, ${owner.metadataId} of ${owner.server}. Two servers must not share a store: name another place. ` +
      'If that metadata is lost, run holdfast recover; if it is gone for good, holdfast locations claim',
  )
}

function judgeStart(name: string, owner: StoreOwner, { starts, claims }: Claimant, claim: 'open' | 'claim') {
  if (owner.start === claims?.start) return 'open'
  if (starts.includes(owner.start)) return claim
  // A start that is too old to be remembered is refused, too: otherwise a diverged copy could get in after enough refused starts.
  const user = startNumber(owner.start) < startNumber(starts[0] ?? '') ? 'a start that it has forgotten, or ' : ''
  throw new StoreRefused(
    `${name} was last used by ${user}a copy of this metadata, of ${owner.server}. Go on with that one. ` +
      'If this one is the right one, stop the other for good, and run holdfast locations claim',
  )
}

/** A start is named by its number and a random part. */
export function startNumber(start: string): number {
  return Number.parseInt(start, 10)
}

/** Parses the claim of a store. Throws `StoreRefused` when it is damaged, because the owner is then unknown. */
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
