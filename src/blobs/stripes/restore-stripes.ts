/** Verifies the shards of an erasure code and computes the missing ones. Deletes nothing: the caller turns what is no longer referenced into garbage. */
import type { GiveEach } from '../branched-source.ts'
import type { ErasureCode } from '../erasure/code.ts'
import { shardBytes, stripeAt, stripeCount } from '../erasure/stripes.ts'
import { codingOf, type ErasureManifest, type ShardPlace } from '../manifest.ts'
import type { Member } from '../member.ts'
import {
  cannotGainShards,
  type InspectedShard,
  inspectShards,
  type Restoration,
  type RestoreContext,
} from '../restoration.ts'
import { labelled, readLabel } from '../shard-label.ts'
import { placeOf, type ShardsDemand, writeSideBySide } from '../write-shards.ts'
import { PulledSource } from './pulled-source.ts'
import { blocksOf } from './read-stripes.ts'

export interface StripesContext extends RestoreContext {
  code: () => ErasureCode
}

export async function restoreStripes(manifest: ErasureManifest, context: StripesContext): Promise<Restoration> {
  const { data, parity } = manifest
  if (cannotGainShards(manifest, context, data + parity))
    return { outcome: 'waiting', reason: 'no store can take the missing shards' }
  const found = await inspectShards(manifest, context)
  const good = found.filter(({ state }) => state === 'good')
  const kept = found.filter(({ state }) => state !== 'bad')
  const bad = found.filter(({ state }) => state === 'bad').map(({ shard }) => shard)
  if (good.length < data) {
    if (kept.length < data) return { outcome: 'lost' }
    return { outcome: 'waiting', reason: 'too few shards can be reached now' }
  }
  const keptShards = kept.map(({ shard }) => shard)
  const lacking = indexesOf(manifest).filter((index) => !keptShards.some((shard) => shard.index === index))
  if (lacking.length === 0) return { outcome: 'whole', manifest: context.manifestOf(keptShards) }

  const holders = kept.flatMap(({ member }) => member ?? [])
  const members = context.findStores(lacking.length, holders, [])
  const another = (others: readonly Member[], tried: readonly Member[]): Member | undefined =>
    context.findStores(1, [...holders, ...others], tried)[0]
  const made = members.length === 0 ? [] : await compute(manifest, good, lacking, { members, another }, context)
  if (made.length === 0) return { outcome: 'waiting', reason: 'no store can take the missing shards' }
  // A damaged shard that could not be replaced stays referenced, because some of its blocks may be needed one day.
  const isGone = (shard: ShardPlace): boolean =>
    context.member(shard.storeId) === undefined || made.some(({ index }) => index === shard.index)
  const shards = [...keptShards, ...made, ...bad.filter((shard) => !isGone(shard))]
  return {
    outcome: 'restored',
    manifest: context.manifestOf(shards.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0))),
    made,
    replaced: bad.filter(isGone),
    whole: made.length === lacking.length,
  }
}

function indexesOf({ data, parity }: ErasureManifest): number[] {
  return Array.from({ length: data + parity }, (_, index) => index)
}

/** Writes the `lacking` shards again, byte for byte, as far as there are stores for them. None when that failed; another run tries again. */
async function compute(
  manifest: ErasureManifest,
  good: readonly InspectedShard[],
  lacking: readonly number[],
  { members, another }: Pick<ShardsDemand, 'members' | 'another'>,
  context: StripesContext,
): Promise<ShardPlace[]> {
  const coding = codingOf(manifest)
  const code = context.code()
  const { stallMs } = context.reading
  const sources = new Map<number, PulledSource>()
  try {
    const descriptions: Buffer[] = []
    for (const { shard, member } of good.slice(0, coding.data)) {
      if (member === undefined || shard.index === undefined) continue
      const source = await member.store.get(shard.id, { start: 0, end: shardBytes(coding) })
      sources.set(shard.index, new PulledSource(source, stallMs))
      if (descriptions.length === 0) descriptions.push(await member.store.description(shard.id))
    }
    const wanted = lacking.slice(0, members.length)
    const computation = code.reconstruction(coding, [...sources.keys()], wanted)
    const produce = async (give: GiveEach): Promise<void> => {
      for (let index = 0; index < stripeCount(coding); index++) {
        const { unitBytes } = stripeAt(coding, index)
        await context.looking.pace?.(unitBytes * sources.size)
        const blocks = await blocksOf(sources, unitBytes)
        const computed = await code.apply(coding, computation, blocks)
        await give((at) => computed[at] ?? Buffer.alloc(0))
      }
    }
    const { label, description } = readLabel(descriptions[0] ?? Buffer.alloc(0))
    if (label === undefined) return []
    const describe = (at: number): Buffer => labelled({ ...label, index: wanted[at] ?? 0 }, description)
    const written = await writeSideBySide(
      { shardBytes: shardBytes(coding), describe, produce },
      { members, another, least: 1, stallMs },
    )
    return written.map((shard) => ({ ...placeOf(shard), index: wanted[shard.at] ?? 0 }))
  } catch {
    return []
  } finally {
    for (const source of sources.values()) source.cancel()
  }
}
