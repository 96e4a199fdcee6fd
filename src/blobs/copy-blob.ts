/** Writes a blob's bytes and description again, for another location or a newer version of its own. */
import { type ByteSource, bytesSource } from '../byte-source.ts'
import { type NewShard, ShardMissing, type ShardRange } from '../stores/shard-store.ts'
import type { Manifest } from './manifest.ts'
import type { Member } from './member.ts'
import { readLabel } from './shard-label.ts'

/** The blob can't be read: its shards are damaged, or their stores are out of use. The destination is not at fault. */
export class BlobUnreadable extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'BlobUnreadable'
  }
}

/** Waits until this many more bytes may be read. */
export type Pace = (bytes: number) => Promise<void>

export interface CopyingBlobs {
  member(storeId: string): Member | undefined
  read(manifest: Manifest, range: ShardRange): Promise<ByteSource>
  write(blob: NewShard): Promise<Manifest>
}

/** Throws `BlobUnreadable`; what `write` throws. On rejection nothing is left behind. */
export async function copyBlob(
  manifest: Manifest,
  { member, read, write }: CopyingBlobs,
  pace: Pace,
): Promise<Manifest> {
  const description = await descriptionOf(manifest, member)
  const { size } = manifest
  const source = size === 0 ? bytesSource(Buffer.alloc(0)) : await readable(read(manifest, { start: 0, end: size }))
  try {
    return await write({ payload: verified(source, pace), describe: () => description })
  } catch (error) {
    source.cancel()
    throw error
  }
}

/** The description that the blob was written with. Each of its shards has a copy. */
async function descriptionOf({ shards }: Manifest, member: CopyingBlobs['member']): Promise<Buffer> {
  let failure: unknown
  for (const { storeId, id } of shards) {
    const holder = member(storeId)
    try {
      if (holder === undefined) throw new ShardMissing(id)
      return readLabel(await holder.store.description(id)).description
    } catch (error) {
      holder?.blame(error)
      failure ??= error
    }
  }
  throw new BlobUnreadable(failure)
}

/** Separates failures of the source from those of the sink. */
function verified(source: ByteSource, pace: Pace): ByteSource {
  return {
    size: source.size,
    drain: async (sink) => {
      let sinkFailed = false
      const taking = source.drain(async (chunk) => {
        try {
          await pace(chunk.length)
          await sink(chunk)
        } catch (error) {
          sinkFailed = true
          throw error
        }
      })
      await taking.catch((error: unknown) => {
        throw sinkFailed ? error : new BlobUnreadable(error)
      })
    },
    read: async () => {
      await pace(source.size)
      return readable(source.read())
    },
    cancel: () => source.cancel(),
  }
}

function readable<T>(reading: Promise<T>): Promise<T> {
  return reading.catch((error: unknown) => {
    throw new BlobUnreadable(error)
  })
}
