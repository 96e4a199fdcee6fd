/** Deletes the shards of blobs, with one call to each store. */
import { type MaintenancePost, type ShardId, StoreFenced } from '../stores/shard-store.ts'
import type { Manifest } from './manifest.ts'
import type { Members } from './member.ts'

/** Resolves with the shards that could not be deleted yet because their stores are out of use. Rejects when a vital store fails, and with `StoreFenced` when the post is another's. */
export async function removeBlobs(
  manifests: readonly Manifest[],
  members: Members,
  post: MaintenancePost | undefined,
): Promise<Manifest[]> {
  const outOfReach = new Set<string>()
  const remove = async ([storeId, ids]: [string, ShardId[]]): Promise<void> => {
    const member = members.holder(storeId)
    if (member === undefined) return
    try {
      await member.store.delete(ids, post)
    } catch (error) {
      if (member.isVital || error instanceof StoreFenced) throw error
      outOfReach.add(storeId)
    }
  }
  await Promise.all([...idsByStore(manifests)].map(remove))
  return manifests.flatMap((manifest) => {
    const shards = manifest.shards.filter(({ storeId }) => outOfReach.has(storeId))
    return shards.length === 0 ? [] : [{ ...manifest, shards }]
  })
}

function idsByStore(manifests: readonly Manifest[]): Map<string, ShardId[]> {
  const found = new Map<string, ShardId[]>()
  for (const { storeId, id } of manifests.flatMap((manifest) => manifest.shards)) {
    const ids = found.get(storeId)
    if (ids === undefined) found.set(storeId, [id])
    else ids.push(id)
  }
  return found
}
