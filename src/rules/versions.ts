/** The versions of a key, and how writing, deleting and removing change them, as AWS S3 documents it. Pure. */
import type { Manifest } from '../blobs/blobs.ts'
import type { BucketRecord, VersioningState } from '../records/bucket-record.ts'
import type { DeleteMarker, ObjectData, ObjectRecord, VersionRecord } from '../records/records.ts'
import { nullVersionId } from '../records/version-id.ts'

/**
 * Where the versions of a key lie. If the newest version is an object, it is the current one and has a metadata key of its own, so that a read is one lookup and
 * a listing of objects never meets a delete marker. All other versions are the history. Without a current object, the history's newest is a delete marker, or the
 * history is empty.
 */
export interface KeyVersions {
  current: ObjectRecord | undefined
  /** The newest two of the history. */
  newest: readonly VersionRecord[]
  /** The null version, when it is in the history. */
  nullVersion: VersionRecord | undefined
}

export interface VersionInBucket {
  bucket: BucketRecord
  record: ObjectRecord
}

/** What a write or removal changes about the versions of a key. */
export interface VersionChange {
  current: ObjectRecord | undefined
  addToHistory: readonly VersionRecord[]
  dropFromHistory: readonly VersionRecord[]
  /** The sequence of the null version, if the history holds it afterwards. */
  nullSequence: number | undefined
  /** Versions that are removed for good. */
  removed: readonly VersionRecord[]
}

export function nextSequence({ current, newest }: KeyVersions): number {
  return (current?.sequence ?? newest[0]?.sequence ?? 0) + 1
}

/** Whether a new version in this bucket gets an id of its own, or is the null version and replaces the earlier one. */
export function namesVersions(versioning: VersioningState): boolean {
  return versioning === 'enabled'
}

/** The null version: a new null version replaces it. */
export function nullVersionsIn({ current, nullVersion }: KeyVersions): VersionRecord[] {
  const isCurrent = current?.versionId === nullVersionId
  return [...(isCurrent ? [current] : []), ...(nullVersion === undefined ? [] : [nullVersion])]
}

/** Makes `version`, which has the next sequence, the newest. It replaces a version only if it is a null version: then the earlier null version. */
export function placeVersion(versions: KeyVersions, version: VersionRecord): VersionChange {
  const { current, nullVersion } = versions
  const replaces = version.versionId === nullVersionId
  const replacesCurrent = replaces && current?.versionId === nullVersionId
  const replacesOlder = replaces && nullVersion !== undefined

  const addToHistory: VersionRecord[] = []
  if (current !== undefined && !replacesCurrent) addToHistory.push(current)
  if (version.kind === 'marker') addToHistory.push(version)
  const removed: VersionRecord[] = []
  if (current !== undefined && replacesCurrent) removed.push(current)
  if (replacesOlder) removed.push(nullVersion)

  return {
    current: version.kind === 'object' ? version : undefined,
    addToHistory,
    dropFromHistory: replacesOlder ? [nullVersion] : [],
    nullSequence: nullSequenceOf(addToHistory) ?? (replaces ? undefined : nullVersion?.sequence),
    removed,
  }
}

/** Removes the current object without a replacement: DELETE in a bucket that was never versioned. */
export function removeCurrent(versions: KeyVersions): VersionChange {
  const removed = versions.current === undefined ? [] : [versions.current]
  return { current: undefined, addToHistory: [], dropFromHistory: [], nullSequence: undefined, removed }
}

/** Removes one version for good. If it was the newest and the one before it is an object, that one becomes current again. */
export function removeVersion(versions: KeyVersions, version: VersionRecord): VersionChange {
  const { current, newest, nullVersion } = versions
  const isCurrent = version.sequence === current?.sequence
  const isNewestMarker = current === undefined && version.sequence === newest[0]?.sequence
  const successor = isCurrent ? newest[0] : isNewestMarker ? newest[1] : undefined
  const restored = successor?.kind === 'object' ? successor : undefined

  const dropFromHistory: VersionRecord[] = []
  if (!isCurrent) dropFromHistory.push(version)
  if (restored !== undefined) dropFromHistory.push(restored)
  const nullLeaves =
    nullVersion !== undefined && dropFromHistory.some(({ sequence }) => sequence === nullVersion.sequence)
  return {
    current: restored ?? (isCurrent ? undefined : current),
    addToHistory: [],
    dropFromHistory,
    nullSequence: nullLeaves ? undefined : nullVersion?.sequence,
    removed: [version],
  }
}

function nullSequenceOf(records: readonly VersionRecord[]): number | undefined {
  return records.find(({ versionId }) => versionId === nullVersionId)?.sequence
}

/** The version id that a client sees: none in a bucket that was never versioned. */
export function shownVersionId({ bucket, record }: VersionInBucket): string | undefined {
  return bucket.versioning === 'unversioned' ? undefined : record.versionId
}

/** The version id that the writer of a version sees. The null version has none, because no client needs to name it. */
export function writtenVersionId(versionId: string | undefined): string | undefined {
  return versionId === nullVersionId ? undefined : versionId
}

/** The blob that the version's own record references: its data, or the note of its parts. */
export function ownBlob(data: ObjectData): Manifest | undefined {
  return data.kind === 'blob' ? data.manifest : data.note
}

/** The same data with another manifest for its own blob. */
export function withOwnBlob(data: ObjectData, manifest: Manifest): ObjectData {
  return data.kind === 'blob' ? { kind: 'blob', manifest } : { ...data, note: manifest }
}

/** The newest version: an object, a delete marker, or none. */
export function latestOf({ current, newest }: KeyVersions): ObjectRecord | DeleteMarker | undefined {
  return current ?? newest[0]
}
