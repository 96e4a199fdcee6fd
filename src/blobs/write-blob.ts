/** Writes a blob as its location requires: as stripes, as copies, or into the only store. */
import type { Clock } from '../clock.ts'
import { limits } from '../limits.ts'
import type { NewShard } from '../stores/shard-store.ts'
import { type Chance, storesForNew } from './choose-stores.ts'
import { writeCopies } from './copies/write-copies.ts'
import type { ErasureCode } from './erasure/code.ts'
import { erasureManifest, type Placing, replicaManifest, type Striping } from './location.ts'
import type { Manifest } from './manifest.ts'
import { labelling } from './shard-label.ts'
import { writeStripes } from './stripes/write-stripes.ts'
import { placeOf } from './write-shards.ts'

export interface BlobWriting {
  clock: Clock
  random: Chance
  code: () => ErasureCode
  stallMs: number
}

export async function writeBlob(location: Placing, blob: NewShard, writing: BlobWriting): Promise<Manifest> {
  const { striping, members } = location
  const { size } = blob.payload
  const isStriped = striping !== undefined && size >= striping.replicateBelow
  const [only] = members
  if (!isStriped && members.length === 1 && only?.condition().state === 'up') {
    const id = await only.store.put(blob)
    return replicaManifest(location, size, [{ storeId: only.storeId, id }])
  }
  try {
    if (isStriped) return await writeStriped(location, striping, blob, writing)
    return await writeCopied(location, blob, writing)
  } catch (error) {
    blob.payload.cancel()
    throw error
  }
}

async function writeCopied(location: Placing, blob: NewShard, { random, stallMs }: BlobWriting): Promise<Manifest> {
  const chosen = storesForNew(location, random, { count: location.copies, least: location.copiesAck })
  const written = await writeCopies(blob, { ...chosen, stallMs })
  return replicaManifest(location, blob.payload.size, written.map(placeOf))
}

async function writeStriped(
  location: Placing,
  { data, parity, writeAck }: Striping,
  blob: NewShard,
  { clock, random, code, stallMs }: BlobWriting,
): Promise<Manifest> {
  const coding = { size: blob.payload.size, data, parity, unitBytes: limits.stripeUnitBytes }
  const chosen = storesForNew(location, random, { count: data + parity, least: writeAck })
  const label = labelling(coding, clock)
  const written = await writeStripes(blob, { ...chosen, coding, code: code(), label, stallMs })
  const shards = written.map((shard) => ({ ...placeOf(shard), index: shard.at }))
  return erasureManifest(location, coding, shards)
}
