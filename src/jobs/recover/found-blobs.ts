/** Puts blobs together from the shards in stores, without an index. Pure. */
import { createHash } from 'node:crypto'
import { type LocationState, locationFor, type Manifest, readLabel, type ShardPlace } from '../../blobs/blobs.ts'
import type { PartDescription, VersionDescription } from '../../records/descriptions.ts'

/** A shard as a store lists it. */
export interface StagedShard {
  storeId: string
  id: string
  payloadBytes: number
  /** Label and description, as stored. */
  raw: Buffer
}

/** What is known of a location before its metadata is. */
export interface RecoveryLocation extends Pick<LocationState, 'name' | 'version' | 'copies' | 'storageClasses'> {
  storeIds: ReadonlySet<string>
}

export function recoveryLocation({ name, version, copies, storageClasses, stores }: LocationState): RecoveryLocation {
  return { name, version, copies, storageClasses, storeIds: new Set(stores.map(({ store }) => store.storeId)) }
}

/** The location to which the blob was written, if its description says so. The blob can have been moved since. */
export function writtenTo(
  locations: readonly RecoveryLocation[],
  description: VersionDescription | PartDescription,
): string | undefined {
  const { attributes } = description.kind === 'part' ? (description.upload ?? {}) : description
  const ofBucket = description.bucketState?.location
  return ofBucket && locationFor(locations, ofBucket, attributes?.storageClass)
}

export type AssembledBlob =
  | { isReadable: true; manifest: Manifest; surplus: readonly Manifest[] }
  | { isReadable: false; found: number; needed: number }

/** An identity that all shards of a blob share. Without a label it is a hash of the description, which copies share. */
export function identityOf(raw: Buffer): string {
  return readLabel(raw).label?.blobId ?? createHash('sha256').update(raw).digest('hex').slice(0, 32)
}

/** `shards` have one identity. `preferred`: see `writtenTo`. */
export function assembleBlob(
  shards: readonly StagedShard[],
  locations: readonly RecoveryLocation[],
  preferred: string | undefined,
): AssembledBlob {
  const [first] = shards
  const { label } = first === undefined ? { label: undefined } : readLabel(first.raw)
  const [kept, surplus] = distinct(shards, label !== undefined)
  const { name, version, copies } = locationOf(kept, locations, preferred)
  const named = { location: name, locationVersion: version }
  const lacking = (wanted: number): Pick<Manifest, 'missing'> =>
    wanted > kept.length ? { missing: wanted - kept.length } : {}
  const size = first?.payloadBytes ?? 0
  const manifestOver = (places: readonly ShardPlace[]): Manifest => {
    if (label === undefined) return { ...named, scheme: 'replica', size, shards: places, ...lacking(copies) }
    const { data, parity, unitBytes } = label
    const coding = { size: label.size, data, parity, unitBytes }
    return { ...named, scheme: 'erasure', ...coding, shards: places, ...lacking(data + parity) }
  }
  const needed = label?.data ?? 1
  if (kept.length < needed) return { isReadable: false, found: kept.length, needed }
  return {
    isReadable: true,
    manifest: manifestOver(kept),
    surplus: surplus.map((place) => ({ ...named, scheme: 'replica', size, shards: [place] })),
  }
}

/** Keeps one shard of each store, and one of each index of an erasure code. The rest is surplus, for instance from a move that a crash cut off. */
function distinct(shards: readonly StagedShard[], isStriped: boolean): [ShardPlace[], ShardPlace[]] {
  const kept: ShardPlace[] = []
  const surplus: ShardPlace[] = []
  for (const { storeId, id, raw } of shards) {
    const index = isStriped ? readLabel(raw).label?.index : undefined
    const isTaken = kept.some((place) => place.storeId === storeId || (index !== undefined && place.index === index))
    if (isTaken) surplus.push({ storeId, id })
    else kept.push(index === undefined ? { storeId, id } : { storeId, id, index })
  }
  kept.sort((a, b) => (a.index ?? 0) - (b.index ?? 0))
  return [kept, surplus]
}

function locationOf(
  places: readonly ShardPlace[],
  locations: readonly RecoveryLocation[],
  preferred: string | undefined,
): Pick<RecoveryLocation, 'name' | 'version' | 'copies'> {
  const holding = locations.filter(({ storeIds }) => places.every(({ storeId }) => storeIds.has(storeId)))
  const found = holding.find(({ name }) => name === preferred) ?? holding[0]
  return found ?? { name: preferred ?? '', version: 1, copies: places.length }
}
