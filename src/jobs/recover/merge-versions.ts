/** Merges the versions of a key from a metadata snapshot and from the descriptions of shards. Pure. The rules: ADR 0021. */
import type { Manifest } from '../../blobs/blobs.ts'
import type { NotedPart } from '../../objects/completion-note.ts'
import { toRuns } from '../../objects/object-parts.ts'
import type { VersionDescription } from '../../records/descriptions.ts'
import type { Encryption, ObjectRecord, VersionRecord } from '../../records/records.ts'
import { nullVersionId, versionIdOf, versionRandom } from '../../records/version-id.ts'
import { ownBlob, withOwnBlob } from '../../rules/versions.ts'

/** A readable blob whose description says that it is a version, or the note of one. */
export interface FoundVersion {
  identity: string
  description: VersionDescription
  manifest: Manifest
  /** For a completion note: the parts that it lists. */
  parts?: readonly NotedPart[]
}

export interface MergeContext {
  /** When the snapshot was taken. Absent: there is none. */
  takenMs: number | undefined
  /** An upper bound on how long a request takes. */
  graceMs: number
  /** Whether every shard of the store was seen. */
  wasRead(storeId: string): boolean
}

export interface MergedVersions {
  /** In the order of their sequences. */
  versions: VersionRecord[]
  /** Known versions that are gone: a newer null version replaced them. */
  replaced: ObjectRecord[]
  /** Blobs that belong to no version. */
  unneeded: FoundVersion[]
  /** Versions that the snapshot lacks. */
  added: { record: ObjectRecord; found: FoundVersion }[]
}

export function mergeVersions(
  known: readonly VersionRecord[],
  found: readonly FoundVersion[],
  context: MergeContext,
): MergedVersions {
  const matches = matchKnown(known, found)
  const matched = new Set(matches.values())
  const unneeded: FoundVersion[] = []
  const fresh: FoundVersion[] = []
  const there = new Set(known.map(randomOf))
  for (const one of [...found].sort(byTime)) {
    if (matched.has(one)) continue
    // A move writes a blob again: both copies carry the same description.
    const { versionRandom: random } = one.description
    const isAgain = random !== undefined && there.has(random)
    if (random !== undefined) there.add(random)
    ;(isAgain || isOrphan(one, context) ? unneeded : fresh).push(one)
  }
  const kept = known.map((record) => {
    const match = matches.get(record)
    return match === undefined || record.kind === 'marker' ? record : atFoundPlaces(record, match.manifest, context)
  })

  const nulls = fresh.filter(({ description }) => description.versionRandom === undefined).sort(byTime)
  const newestNull = nulls.at(-1)
  const knownNull = kept.find(isNull)
  const isNewer =
    newestNull !== undefined && newestNull.description.writtenMs > writtenMsOf(known.find(isNull), matches)
  unneeded.push(...nulls.filter((one) => one !== newestNull || !isNewer))
  const gone = isNewer ? knownNull : undefined
  const versions = kept.filter((record) => record !== gone)
  const named = fresh.filter(({ description }) => description.versionRandom !== undefined)
  const added = place(versions, isNewer ? [...named, newestNull] : named, context)
  return {
    versions: [...versions, ...added.map(({ record }) => record)].sort((a, b) => a.sequence - b.sequence),
    replaced: gone?.kind === 'object' ? [gone] : [],
    unneeded,
    added,
  }
}

function randomOf({ versionId }: VersionRecord): string | undefined {
  return versionId === nullVersionId ? undefined : versionRandom(versionId).toString('hex')
}

const isNull = ({ versionId }: VersionRecord): boolean => versionId === nullVersionId

/** When a version was written here. The record of a copy says when its original was, so its description is asked first. */
function writtenMsOf(record: VersionRecord | undefined, matches: ReadonlyMap<VersionRecord, FoundVersion>): number {
  if (record === undefined) return 0
  return matches.get(record)?.description.writtenMs ?? record.modifiedMs
}

/** Whether the blob was written so long before the snapshot, which lacks it, that its request must have ended without a commit. */
function isOrphan({ description }: FoundVersion, { takenMs, graceMs }: MergeContext): boolean {
  return takenMs !== undefined && description.writtenMs < takenMs - graceMs
}

/** Matches known versions with blobs, by place or else by description, because shards move. */
function matchKnown(known: readonly VersionRecord[], found: readonly FoundVersion[]): Map<VersionRecord, FoundVersion> {
  const matches = new Map<VersionRecord, FoundVersion>()
  const free = new Set(found)
  for (const fits of [sharesAPlace, hasSameDescription]) {
    for (const record of known) {
      if (record.kind === 'marker' || matches.has(record)) continue
      const match = [...free]
        .filter((one) => fits(record, one))
        .sort(byTime)
        .at(-1)
      if (match === undefined) continue
      matches.set(record, match)
      free.delete(match)
    }
  }
  return matches
}

function sharesAPlace({ data }: ObjectRecord, { manifest }: FoundVersion): boolean {
  const places = ownBlob(data)?.shards ?? []
  return manifest.shards.some(({ storeId, id }) => places.some((place) => place.storeId === storeId && place.id === id))
}

function hasSameDescription(record: ObjectRecord, { description }: FoundVersion): boolean {
  const { data, etag, versionId } = record
  if (description.etag !== etag || (description.kind === 'completion') !== (data.kind === 'parts')) return false
  if (description.kind === 'completion') return data.kind === 'parts' && description.uploadId === data.uploadId
  if (versionId !== nullVersionId) return description.versionRandom === randomOf(record)
  return (
    description.versionRandom === undefined &&
    modifiedMsOf(description) <= record.modifiedMs &&
    isSameKey(record.encryption, description.encryption)
  )
}

/** When different keys of the ring wrap them, the wrappings differ even for the same object key, so they are not compared. */
function isSameKey(record: Encryption | undefined, described: Encryption | undefined): boolean {
  if (record?.wrappedBy?.id !== described?.wrappedBy?.id) return record !== undefined && described !== undefined
  return record?.wrappedKey === described?.wrappedKey
}

/** The known version with the shards that were found, and with its shards in stores that could not be read. */
function atFoundPlaces(record: ObjectRecord, found: Manifest, { wasRead }: MergeContext): ObjectRecord {
  const known = ownBlob(record.data)
  const isUsed = (storeId: string, index: number | undefined): boolean =>
    found.shards.some((place) => place.storeId === storeId || (index !== undefined && place.index === index))
  const unseen = (known?.shards ?? []).filter(({ storeId, index }) => !wasRead(storeId) && !isUsed(storeId, index))
  const shards = [...found.shards, ...unseen]
  const isUnchanged =
    known !== undefined &&
    known.shards.length === shards.length &&
    known.shards.every(({ storeId, id }) => shards.some((place) => place.storeId === storeId && place.id === id))
  if (isUnchanged) return record
  const { missing, ...rest } = found
  const lacking = (missing ?? 0) - unseen.length
  return {
    ...record,
    data: withOwnBlob(record.data, { ...rest, shards, ...(lacking > 0 ? { missing: lacking } : {}) }),
  }
}

/** Gives each version its expected sequence, or the next free one. Versions newer than the snapshot come after all that it lists. */
function place(
  versions: readonly VersionRecord[],
  fresh: readonly FoundVersion[],
  { takenMs }: MergeContext,
): { record: ObjectRecord; found: FoundVersion }[] {
  const taken = new Set(versions.map(({ sequence }) => sequence))
  const highest = Math.max(0, ...taken)
  return [...fresh].sort(bySequence).map((found) => {
    const { sequence: expected, writtenMs } = found.description
    let sequence = takenMs !== undefined && writtenMs > takenMs ? Math.max(expected, highest + 1) : expected
    while (taken.has(sequence)) sequence += 1
    taken.add(sequence)
    return { record: recordOf(found, sequence), found }
  })
}

function recordOf({ description, manifest, parts }: FoundVersion, sequence: number): ObjectRecord {
  const { versionRandom: random, checksum, encryption } = description
  const isWhole = description.kind === 'object'
  return {
    kind: 'object',
    sequence,
    versionId: random === undefined ? nullVersionId : versionIdOf(sequence, Buffer.from(random, 'hex')),
    modifiedMs: modifiedMsOf(description),
    size: description.size ?? manifest.size,
    etag: description.etag,
    checksum: description.kind === 'object' ? checksum && { ...checksum, type: 'FULL_OBJECT' } : description.checksum,
    attributes: description.attributes,
    data:
      description.kind === 'object'
        ? { kind: 'blob', manifest }
        : { kind: 'parts', uploadId: description.uploadId, runs: toRuns(parts ?? []), note: manifest },
    // The key of an object made of parts is bound to its upload.
    encryption:
      encryption !== undefined && isWhole && description.sequence !== sequence
        ? { ...encryption, boundSequence: description.sequence }
        : encryption,
  }
}

/** As the record of the version says it: a copy has the time of its original. */
function modifiedMsOf({ writtenMs, attributes: { originalMs } }: VersionDescription): number {
  return originalMs === undefined ? writtenMs : Math.min(originalMs, writtenMs)
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function byTime(a: FoundVersion, b: FoundVersion): number {
  const [one, other] = [a.description, b.description]
  return one.writtenMs - other.writtenMs || one.sequence - other.sequence || compareText(a.identity, b.identity)
}

function bySequence(a: FoundVersion, b: FoundVersion): number {
  return a.description.sequence - b.description.sequence || byTime(a, b)
}
