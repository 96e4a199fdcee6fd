/** Objects made of parts: where each part lies in the object, and reading a range that spans parts. */
import type { ByteSink, ByteSource } from '../byte-source.ts'
import { blobKey } from '../encryption/object-key.ts'
import { ShardMissing } from '../shards/shard-store.ts'
import type { ByteRange } from './byte-range.ts'
import { partBlob } from './encryption.ts'
import { partKey } from './keyspace.ts'
import { openBlob } from './open-blob.ts'
import { partCodec } from './record-codecs.ts'
import type { ObjectData, PartRun } from './records.ts'
import type { Store } from './store.ts'

export interface PartPlace {
  number: number
  /** Where the part lies in the object. */
  range: ByteRange
}

/** Folds parts in order into runs of equal size and consecutive numbers. */
export function toRuns(parts: Iterable<{ number: number; size: number }>): PartRun[] {
  const runs: PartRun[] = []
  for (const { number, size } of parts) {
    const run = runs.at(-1)
    if (run !== undefined && run.size === size && run.first + run.count === number) run.count += 1
    else runs.push({ first: number, count: 1, size })
  }
  return runs
}

export const partsCount = (runs: readonly PartRun[]): number => runs.reduce((sum, run) => sum + run.count, 0)

/** The place of part `number`, or `undefined` when the object has no such part. */
export function placeOfPart(runs: readonly PartRun[], number: number): PartPlace | undefined {
  let start = 0
  for (const { first, count, size } of runs) {
    if (number >= first && number < first + count) {
      const partStart = start + (number - first) * size
      return { number, range: { start: partStart, end: partStart + size } }
    }
    start += count * size
  }
  return undefined
}

/** The parts that hold bytes of `range`, in order. */
export function partsWithin(runs: readonly PartRun[], range: ByteRange): PartPlace[] {
  const places: PartPlace[] = []
  let start = 0
  for (const { first, count, size } of runs) {
    const runEnd = start + count * size
    if (size > 0 && start < range.end && runEnd > range.start) {
      const from = Math.max(0, Math.floor((range.start - start) / size))
      const to = Math.min(count, Math.ceil((range.end - start) / size))
      for (let i = from; i < to; i++) {
        places.push({ number: first + i, range: { start: start + i * size, end: start + (i + 1) * size } })
      }
    }
    start = runEnd
  }
  return places
}

/** Opens a range of an object made of parts. The first part is open when it resolves; each next one is opened when its turn comes. */
export async function openParts(
  store: Store,
  data: Extract<ObjectData, { kind: 'parts' }>,
  range: ByteRange,
  objectKey: Buffer | undefined,
): Promise<ByteSource> {
  const [first, ...later] = partsWithin(data.runs, range)
  if (first === undefined) throw new Error('an empty range has no parts')
  const open = (place: PartPlace): Promise<ByteSource> => openPart(store, data.uploadId, place, range, objectKey)
  let current = await open(first)
  let cancelled = false

  const drain = async (sink: ByteSink): Promise<void> => {
    await current.drain(sink)
    for (const place of later) {
      const next = await open(place)
      current = next
      if (cancelled) {
        next.cancel()
        throw new Error('reading was cancelled')
      }
      await next.drain(sink)
    }
  }
  return {
    size: range.end - range.start,
    drain,
    read: async () => {
      const chunks: Buffer[] = []
      await drain((chunk) => {
        chunks.push(Buffer.from(chunk))
      })
      return Buffer.concat(chunks)
    },
    cancel: () => {
      cancelled = true
      current.cancel()
    },
  }
}

async function openPart(
  store: Store,
  uploadId: string,
  place: PartPlace,
  range: ByteRange,
  objectKey: Buffer | undefined,
): Promise<ByteSource> {
  const wanted = {
    start: Math.max(range.start, place.range.start) - place.range.start,
    end: Math.min(range.end, place.range.end) - place.range.start,
  }
  const key = partKey(uploadId, place.number)
  const openOnce = async (): Promise<ByteSource> => {
    const [entry] = await store.kv.get([key])
    if (entry === undefined) throw new ShardMissing(`part ${place.number} of ${uploadId}`)
    const { manifest, size, salt = '' } = partCodec.decode(key, entry.value)
    return openBlob(store, manifest, wanted, {
      owner: { kind: 'part', uploadId, number: place.number },
      size,
      key: objectKey && blobKey(objectKey, partBlob(place.number, salt)),
    })
  }
  try {
    return await openOnce()
  } catch (error) {
    // Compaction may have moved the part between looking up and opening it.
    if (error instanceof ShardMissing) return openOnce()
    throw error
  }
}
