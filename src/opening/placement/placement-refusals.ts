/** The reasons why a changed configuration of stores and locations is refused, at start and in a plan. Pure. */
import { type LocationPolicy, lossesSurvived } from '../../blobs/location-policy.ts'
import type { BlobOwner } from '../../records/keyspace.ts'

const namesShown = 5

/** `buckets`: the buckets in the location. */
export function removedLocation(name: string, buckets: readonly string[]): string {
  const more = buckets.length > namesShown ? ` and ${buckets.length - namesShown} more` : ''
  return `[locations.${name}] was removed from the configuration, but it is the location of ${buckets.slice(0, namesShown).join(', ')}${more}. Put it back`
}

/** `example`: the owner of some data on the store. */
export function removedStore(name: string, example: BlobOwner): string {
  return `[stores.${name}] was removed from the configuration, but it still holds data, such as of ${ownerText(example)}. Put it back`
}

export function ownerText(owner: BlobOwner): string {
  return owner.kind === 'version' ? `bucket ${owner.bucket}` : 'a multipart upload'
}

/** With more stores out of use than may be lost, too few of the others may hold some data. */
export function unreadableLocation(
  name: string,
  policy: LocationPolicy,
  out: readonly { name: string; reason: string }[],
): string | undefined {
  if (out.length <= lossesSurvived(policy)) return undefined
  const shards = policy.scheme === 'replica' ? `${policy.copies} copies` : `${policy.data} + ${policy.parity} shards`
  const reasons = out.map((store) => `${store.name}: ${store.reason}`)
  return `location ${name} keeps ${shards}, and ${out.length} of its stores can't be used:\n  ${reasons.join('\n  ')}`
}

/** For metadata in PostgreSQL, which has no location in a data directory. */
export function dataInDirectory(bucket: string): string {
  return `bucket ${bucket} keeps its data in the location default, in a data directory, which servers over PostgreSQL don't use. Without metadata.url, bring the metadata back into that data directory, move the bucket to another location, and then run holdfast migrate`
}
