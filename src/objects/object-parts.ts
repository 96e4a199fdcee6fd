/** Objects made of parts: finds where each part lies in the object, and reads ranges that span parts. */
import type { ByteSink, ByteSource } from '../byte-source.ts'
import type { Backend } from '../commits/backend.ts'
import { partBlob } from '../commits/encryption.ts'
import { blobKey } from '../encryption/object-key.ts'
import type { Entry } from '../kv/kv.ts'
import { keyAfter } from '../kv/ordered-key.ts'
import { limits } from '../limits.ts'
import { partKey, partOf } from '../records/keyspace.ts'
import { partCodec } from '../records/record-codecs.ts'
import type { ObjectData, PartRun } from '../records/records.ts'
import type { ByteRange } from '../rules/byte-range.ts'
import { ShardMissing } from '../stores/shard-store.ts'
import { openBlob } from './open-blob.ts'

export interface PartRange {
  number: number
  /** The part's bytes within the object. */
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

/** Where part `number` lies in the object, or `undefined` when the object has no such part. */
export function locatePart(runs: readonly PartRun[], number: number): PartRange | undefined {
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
export function partsWithin(runs: readonly PartRun[], range: ByteRange): PartRange[] {
  const parts: PartRange[] = []
  let start = 0
  for (const { first, count, size } of runs) {
    const runEnd = start + count * size
    if (size > 0 && start < range.end && runEnd > range.start) {
      const from = Math.max(0, Math.floor((range.start - start) / size))
      const to = Math.min(count, Math.ceil((range.end - start) / size))
      for (let i = from; i < to; i++) {
        parts.push({ number: first + i, range: { start: start + i * size, end: start + (i + 1) * size } })
      }
    }
    start = runEnd
  }
  return parts
}

/** Opens a range of an object made of parts. The first part is open when this resolves; the others are opened one by one while the range is read. */
export async function openParts(
  backend: Backend,
  data: Extract<ObjectData, { kind: 'parts' }>,
  range: ByteRange,
  objectKey: Buffer | undefined,
): Promise<ByteSource> {
  const parts = partsWithin(data.runs, range)
  const [first, ...later] = parts
  if (first === undefined) throw new Error('an empty range has no parts')
  const nextEntry = entriesInTurn(backend, data.uploadId, parts)
  const open = async (part: PartRange): Promise<ByteSource> =>
    openPart(backend, { uploadId: data.uploadId, part, entry: await nextEntry() }, range, objectKey)
  let current = await open(first)
  let cancelled = false

  const drain = async (sink: ByteSink): Promise<void> => {
    await current.drain(sink)
    for (const part of later) {
      const next = await open(part)
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

/** Returns a function that gives the entries of the parts in order. It reads many per round trip, so an entry can be older than the call that gives it. */
function entriesInTurn(
  backend: Backend,
  uploadId: string,
  parts: readonly PartRange[],
): () => Promise<Entry | undefined> {
  let at = 0
  let countMax: number = limits.partEntriesFirst
  let known = new Map<number, Entry>()
  return async () => {
    const ahead = parts.slice(at, at + countMax)
    const [next] = ahead
    if (next === undefined) throw new Error('no part is left')
    at += 1
    if (!known.has(next.number)) {
      known = await entriesOf(backend, uploadId, ahead)
      countMax = limits.partEntriesMax
    }
    return known.get(next.number)
  }
}

/** Entries by part number. If the range also holds parts that the object does not use, it can lack the last of `parts`, but never the first. */
async function entriesOf({ kv }: Backend, uploadId: string, parts: readonly PartRange[]): Promise<Map<number, Entry>> {
  const keys = parts.map(({ number }) => partKey(uploadId, number))
  const [first] = keys
  const last = keys.at(-1)
  if (first === undefined || last === undefined) return new Map()
  const entries =
    keys.length === 1 ? await kv.get(keys) : await kv.range({ start: first, end: keyAfter(last), limit: keys.length })
  return new Map(entries.flatMap((entry) => (entry === undefined ? [] : [[partOf(entry.key).number, entry]])))
}

async function openPart(
  backend: Backend,
  { uploadId, part, entry }: { uploadId: string; part: PartRange; entry: Entry | undefined },
  range: ByteRange,
  objectKey: Buffer | undefined,
): Promise<ByteSource> {
  const wanted = {
    start: Math.max(range.start, part.range.start) - part.range.start,
    end: Math.min(range.end, part.range.end) - part.range.start,
  }
  const key = partKey(uploadId, part.number)
  const openAt = async (found: Entry | undefined): Promise<ByteSource> => {
    if (found === undefined) throw new ShardMissing(`part ${part.number} of ${uploadId}`)
    const { manifest, size, salt = '' } = partCodec.decode(key, found.value)
    return openBlob(backend, manifest, wanted, {
      owner: { kind: 'part', uploadId, number: part.number },
      size,
      key: objectKey && blobKey(objectKey, partBlob(part.number, salt)),
    })
  }
  try {
    return await openAt(entry)
  } catch (error) {
    // Compaction, a repair or a move may have put the part elsewhere between looking up and opening it.
    const [fresh] = await backend.kv.get([key])
    if (error instanceof ShardMissing || fresh?.version !== entry?.version) return openAt(fresh)
    throw error
  }
}
