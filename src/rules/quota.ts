/** What a change adds to the usage of a bucket, and what a quota allows. Pure. */
import type { PartRecord, VersionRecord } from '../records/records.ts'
import type { BucketQuota, Usage } from '../records/usage.ts'
import type { KeyVersions, VersionChange } from './versions.ts'

export const noUsage: Usage = { bytes: 0, objects: 0 }

export function plus(...usages: readonly Usage[]): Usage {
  let bytes = 0
  let objects = 0
  for (const usage of usages) {
    bytes += usage.bytes
    objects += usage.objects
  }
  return { bytes, objects }
}

export const times = ({ bytes, objects }: Usage, count: number): Usage => ({
  bytes: bytes * count,
  objects: objects * count,
})

export function minus(usage: Usage, ...others: readonly Usage[]): Usage {
  const { bytes, objects } = plus(...others)
  return { bytes: usage.bytes - bytes, objects: usage.objects - objects }
}

export const usageOfVersion = (version: VersionRecord): Usage =>
  version.kind === 'marker' ? noUsage : { bytes: version.size, objects: 1 }

/** What a change of a key's versions adds; less than zero where it removes more. */
export function growthOf(before: KeyVersions, { current, addToHistory, removed }: VersionChange): Usage {
  const known = [before.current, ...before.newest]
  const placed = current === undefined ? addToHistory : [current, ...addToHistory]
  const added = placed.filter((version) => !known.includes(version))
  return minus(plus(...added.map(usageOfVersion)), ...removed.map(usageOfVersion))
}

/** An open upload counts as an object from its beginning, so that no Complete fails for want of room. */
export const usageOfOpenUpload = (parts: Iterable<Pick<PartRecord, 'size'>>): Usage => {
  let bytes = 0
  for (const { size } of parts) bytes += size
  return { bytes, objects: 1 }
}

/** Whether `usage` is more than `share` of the quota. */
export function exceeds(usage: Usage, quota: BucketQuota, share = 1): boolean {
  const { bytes = Number.POSITIVE_INFINITY, objects = Number.POSITIVE_INFINITY } = quota
  return usage.bytes > bytes * share || usage.objects > objects * share
}

/** Whether the quota refuses a change. One that grows in no respect never is refused, however full the bucket is. */
export function isRefused(before: Usage, growth: Usage, quota: BucketQuota): boolean {
  const { bytes, objects } = quota
  return (
    (bytes !== undefined && growth.bytes > 0 && before.bytes + growth.bytes > bytes) ||
    (objects !== undefined && growth.objects > 0 && before.objects + growth.objects > objects)
  )
}
