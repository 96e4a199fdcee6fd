/** Opens a range of a blob on the stores that are likely to answer best. */
import type { ByteSource } from '../byte-source.ts'
import { ShardDamaged, ShardMissing, type ShardRange } from '../stores/shard-store.ts'
import type { Chance } from './choose-stores.ts'
import { type CopyReading, type ReadableCopy, readCopies } from './copies/read-copies.ts'
import type { ErasureCode } from './erasure/code.ts'
import { codingOf, type ErasureManifest, type Manifest, type ShardPlace } from './manifest.ts'
import { isInUse, type Member, type Members } from './member.ts'
import { readStripes } from './stripes/read-stripes.ts'

export interface BlobReading extends CopyReading {
  members: Members
  random: Chance
  code: () => ErasureCode
}

export async function readBlob(
  manifest: Manifest,
  range: ShardRange,
  damaged: () => void,
  reading: BlobReading,
): Promise<ByteSource> {
  if (manifest.scheme === 'erasure') return readStriped(manifest, range, damaged, reading)
  const { members, random } = reading
  const { shards } = manifest
  const [only] = shards
  if (shards.length === 1 && only !== undefined) {
    const member = members.holder(only.storeId)
    if (member === undefined) throw new ShardMissing(only.id)
    if (member.isVital) return await member.store.get(only.id, range)
  }
  const rank = new Map(shards.map(({ storeId }) => [storeId, preference(members.holder(storeId), random())]))
  const ordered = [...shards].sort((a, b) => (rank.get(a.storeId) ?? 0) - (rank.get(b.storeId) ?? 0))
  return readCopies(
    ordered.map((shard) => readable(shard, members.holder(shard.storeId), damaged)),
    range,
    reading,
  )
}

async function readStriped(
  manifest: ErasureManifest,
  range: ShardRange,
  damaged: () => void,
  { members, code, raceMs, stallMs }: BlobReading,
): Promise<ByteSource> {
  const shards = manifest.shards.flatMap((shard) => {
    const member = members.holder(shard.storeId)
    return shard.index === undefined ? [] : [{ ...readable(shard, member, damaged), index: shard.index, member }]
  })
  const askLast = shards.filter(({ member }) => !isInUse(member)).map(({ index }) => index)
  return readStripes(shards, range, { coding: codingOf(manifest), code, askLast, raceMs, stallMs })
}

function readable({ id }: ShardPlace, member: Member | undefined, damaged: () => void): ReadableCopy {
  return {
    open: async (range) => {
      if (member === undefined) throw new ShardMissing(id)
      return member.store.get(id, range)
    },
    failed: (error) => {
      member?.blame(error)
      if (error instanceof ShardDamaged) damaged()
    },
  }
}

/** Stores that are out come last. The order of the others is random, so that all share the reads. */
function preference(member: Member | undefined, chance: number): number {
  return chance + (isInUse(member) ? 0 : 1)
}
