/** Verifies the copies of a blob and makes the missing ones. Deletes nothing: the caller turns what is no longer referenced into garbage. */
import type { ReplicaManifest, ShardPlace } from '../manifest.ts'
import type { Member } from '../member.ts'
import {
  cannotGainShards,
  type InspectedShard,
  Interrupted,
  inspectShards,
  paced,
  type Restoration,
  type RestoreContext,
} from '../restoration.ts'
import { readCopies } from './read-copies.ts'

export interface CopiesContext extends RestoreContext {
  copies: number
}

export async function restoreCopies(manifest: ReplicaManifest, context: CopiesContext): Promise<Restoration> {
  if (cannotGainShards(manifest, context, context.copies))
    return { outcome: 'waiting', reason: 'no store can take the missing copy' }
  const found = await inspectShards(manifest, context)
  const good = found.filter(({ state }) => state === 'good')
  const kept = found.filter(({ state }) => state !== 'bad')
  const replaced = found.filter(({ state }) => state === 'bad').map(({ shard }) => shard)
  if (good.length === 0) {
    if (kept.length === 0) return { outcome: 'lost' }
    return { outcome: 'waiting', reason: 'no copy can be reached now' }
  }
  const keptShards = kept.map(({ shard }) => shard)
  const lacking = Math.max(0, context.copies - kept.length)
  if (lacking === 0 && replaced.length === 0) return { outcome: 'whole', manifest: context.manifestOf(keptShards) }

  const made: ShardPlace[] = []
  for (const member of context.findStores(
    lacking,
    kept.flatMap(({ member: holder }) => holder ?? []),
    [],
  )) {
    const copy = await copyTo(manifest, good, member, context)
    if (copy !== undefined) made.push(copy)
  }
  if (made.length === 0 && lacking > 0) return { outcome: 'waiting', reason: 'no store can take the missing copy' }
  const whole = made.length === lacking
  // Until the blob is whole again, a damaged copy stays referenced, because some of its blocks may be needed one day.
  const gone = whole ? replaced : replaced.filter(({ storeId }) => context.member(storeId) === undefined)
  const shards = [...keptShards, ...made, ...replaced.filter((shard) => !gone.includes(shard))]
  return { outcome: 'restored', manifest: context.manifestOf(shards), made, replaced: gone, whole }
}

/** Copies the shard byte for byte, with the same description. `undefined` when that failed; another run tries again. */
async function copyTo(
  manifest: ReplicaManifest,
  good: readonly InspectedShard[],
  target: Member,
  { reading, looking }: RestoreContext,
): Promise<ShardPlace | undefined> {
  const sources = good.flatMap(({ shard, member }) => (member === undefined ? [] : [{ shard, member }]))
  try {
    const [first] = sources
    if (first === undefined) return undefined
    const description = await first.member.store.description(first.shard.id)
    const copies = sources.map(({ shard, member }) => ({
      open: (range: { start: number; end: number }) => member.store.get(shard.id, range),
      failed: (error: unknown) => member.blame(error),
    }))
    const payload = paced(await readCopies(copies, { start: 0, end: manifest.size }, reading), looking)
    return { storeId: target.storeId, id: await target.store.put({ payload, describe: () => description }) }
  } catch (error) {
    if (error instanceof Interrupted) throw error.cause
    target.blame(error)
    return undefined
  }
}
