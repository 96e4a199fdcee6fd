/**
 * Packs manifests into bytes. They take a third of their size as text, which matters because every object's record holds one. Pure.
 *
 *     scheme u8, location text, locationVersion, size, missing, [data, parity, unitBytes of an erasure code], count, then for each shard:
 *     index + 1 (0: a whole copy), storeId id, id id
 *
 * Numbers, texts and ids: `packed-bytes`.
 */
import type { Manifest, ShardPlace } from '../blobs/blobs.ts'
import { PackReader, PackWriter } from './packed-bytes.ts'

const replicaScheme = 1
const erasureScheme = 2

export function manifestBytes(manifest: Manifest): Buffer {
  const writer = new PackWriter()
  writer.number(manifest.scheme === 'replica' ? replicaScheme : erasureScheme)
  writer.text(manifest.location)
  writer.number(manifest.locationVersion)
  writer.number(manifest.size)
  writer.number(manifest.missing ?? 0)
  if (manifest.scheme === 'erasure') {
    writer.number(manifest.data)
    writer.number(manifest.parity)
    writer.number(manifest.unitBytes)
  }
  writer.number(manifest.shards.length)
  for (const { index, storeId, id } of manifest.shards) {
    writer.number(index === undefined ? 0 : index + 1)
    writer.id(storeId)
    writer.id(id)
  }
  return writer.written()
}

/** Throws when the bytes are not exactly one manifest. */
export function readManifest(bytes: Buffer): Manifest {
  const reader = new PackReader(bytes)
  const scheme = reader.number()
  const location = reader.text()
  const locationVersion = reader.number()
  const size = reader.number()
  const missing = reader.number()
  const placed = { location, locationVersion, size, ...(missing === 0 ? {} : { missing }) }
  if (scheme === replicaScheme) return { scheme: 'replica', ...placed, shards: readShards(reader) }
  if (scheme !== erasureScheme) throw new Error(`unknown scheme ${scheme}`)
  const [data, parity, unitBytes] = [reader.number(), reader.number(), reader.number()]
  return { scheme: 'erasure', ...placed, data, parity, unitBytes, shards: readShards(reader) }
}

function readShards(reader: PackReader): ShardPlace[] {
  const count = reader.number()
  const shards: ShardPlace[] = []
  for (let i = 0; i < count; i++) {
    const index = reader.number()
    const [storeId, id] = [reader.id(), reader.id()]
    shards.push(index === 0 ? { storeId, id } : { storeId, id, index: index - 1 })
  }
  reader.end()
  return shards
}
