/** What comes of restoring a blob, and how its shards are looked at before. */
import type { ByteSource } from '../byte-source.ts'
import { ShardDamaged } from '../stores/shard-store.ts'
import { bytesOfShards, type Manifest, type ShardPlace } from './manifest.ts'
import type { Member } from './member.ts'
import { Attempt, type CopyReading } from './read-copies.ts'
import { readLabel, type ShardLabel } from './shard-label.ts'

export type Restoration =
  /** Every copy was verified. `manifest` may say so, where the old one says that some are missing. */
  | { outcome: 'whole'; manifest: Manifest }
  /** `made` are new, and `replaced` are to be garbage once `manifest` is committed. Unless `whole`, copies are still missing. */
  | {
      outcome: 'restored'
      manifest: Manifest
      made: readonly ShardPlace[]
      replaced: readonly ShardPlace[]
      whole: boolean
    }
  /** No store can take what is missing, or the copies that are left can't be reached now. */
  | { outcome: 'waiting'; reason: string }
  /** No copy is left that can be read, here or on any store that is out of use. */
  | { outcome: 'lost' }

/** How a blob's shards are looked at. */
export interface Looking {
  /** Waits until so many more bytes may be read. */
  pace?(bytes: number): Promise<void>
  /** Whether a shard that says this of its blob is one of the blob that is looked at, and of no other. */
  isOfBlob?(description: Buffer): boolean
}

export interface RestoreContext {
  member(storeId: string): Member | undefined
  places(count: number, beside: readonly Member[], not: readonly Member[]): Member[]
  manifestOf(shards: readonly ShardPlace[]): Manifest
  reading: CopyReading
  looking: Looking
}

type InspectContext = Pick<RestoreContext, 'member' | 'reading' | 'looking'>

export interface InspectedShard {
  shard: ShardPlace
  member: Member | undefined
  state: 'good' | 'bad' | 'out of reach'
}

/** Reads all of every shard. One is bad only when its store is there, and itself, and does not have it, or has another in its place. */
export async function inspectShards(manifest: Manifest, context: InspectContext): Promise<InspectedShard[]> {
  const looked = await Promise.all(manifest.shards.map((shard) => inspectShard(manifest, shard, context)))
  const blobId = mostFrequent(looked.flatMap(({ label }) => label?.blobId ?? []))
  return looked.map(({ label, ...found }) =>
    found.state === 'good' && label?.blobId !== blobId ? { ...found, state: 'bad' } : found,
  )
}

interface LookedAt extends InspectedShard {
  label: ShardLabel | undefined
}

async function inspectShard(manifest: Manifest, shard: ShardPlace, context: InspectContext): Promise<LookedAt> {
  const member = context.member(shard.storeId)
  if (member === undefined) return { shard, member, state: 'bad', label: undefined }
  try {
    const { label, description } = readLabel(await readWhole(manifest, shard, member, context))
    if (!isLabelOf(label, manifest, shard) || context.looking.isOfBlob?.(description) === false) {
      throw new ShardDamaged(shard.id, 'it is of another blob')
    }
    return { shard, member, state: 'good', label }
  } catch (error) {
    if (error instanceof Interrupted) throw error.cause
    member.blame(error)
    if (!(error instanceof ShardDamaged)) return { shard, member, state: 'out of reach', label: undefined }
    const isThere = await member.store.check().then(
      () => true,
      () => false,
    )
    return { shard, member, state: isThere ? 'bad' : 'out of reach', label: undefined }
  }
}

/** Resolves with its description. */
async function readWhole(
  manifest: Manifest,
  { id }: ShardPlace,
  { store }: Member,
  { reading, looking }: InspectContext,
): Promise<Buffer> {
  const source = await store.get(id, { start: 0, end: bytesOfShards(manifest) })
  const attempt = new Attempt((chunk) => looking.pace?.(chunk.length), reading.stallMs)
  const failure = await attempt.run(source)
  if (attempt.sinkFailed) throw new Interrupted(failure)
  if (failure !== undefined) throw failure
  return store.description(id)
}

function isLabelOf(label: ShardLabel | undefined, manifest: Manifest, { index }: ShardPlace): boolean {
  if (manifest.scheme === 'replica') return label === undefined
  const { data, parity, unitBytes, size } = manifest
  return (
    label?.index === index &&
    label?.data === data &&
    label.parity === parity &&
    label.unitBytes === unitBytes &&
    label.size === size
  )
}

function mostFrequent(names: readonly string[]): string | undefined {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0]
}

/** Whether only shards are missing for which there is no place now: then reading those that are there would be in vain. */
export function isHopeless({ shards }: Manifest, { member, places }: RestoreContext, wanted: number): boolean {
  const holders = shards.flatMap(({ storeId }) => member(storeId) ?? [])
  if (holders.length < shards.length || holders.length >= wanted) return false
  return places(1, holders, []).length === 0
}

/** Whoever asked wants no more of it: no store is to blame. */
export class Interrupted extends Error {
  constructor(cause: unknown) {
    super('the work was interrupted', { cause })
    this.name = 'Interrupted'
  }
}

/** The source, no faster than its pace. What the pace rejects with comes as `Interrupted`. */
export function paced(source: ByteSource, { pace }: Looking): ByteSource {
  if (pace === undefined) return source
  const wait = (bytes: number): Promise<void> =>
    pace(bytes).catch((error) => {
      throw new Interrupted(error)
    })
  return {
    size: source.size,
    drain: (sink) =>
      source.drain(async (chunk) => {
        await wait(chunk.length)
        await sink(chunk)
      }),
    read: async () => {
      await wait(source.size)
      return source.read()
    },
    cancel: () => source.cancel(),
  }
}
