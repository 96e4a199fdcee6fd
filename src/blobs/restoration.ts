/** The possible outcomes of restoring a blob, and the inspection of its shards that comes first. */
import type { ByteSource } from '../byte-source.ts'
import { ShardDamaged } from '../stores/shard-store.ts'
import { Attempt, type CopyReading } from './copies/read-copies.ts'
import { bytesOfShards, type Manifest, type ShardPlace } from './manifest.ts'
import type { Member } from './member.ts'
import { readLabel, type ShardLabel } from './shard-label.ts'

export type Restoration =
  /** Every copy was verified. `manifest` is set when the old one wrongly says that some are missing. */
  | { outcome: 'whole'; manifest: Manifest }
  /** `made` are new; `replaced` become garbage once `manifest` is committed. Unless `whole`, copies are still missing. */
  | {
      outcome: 'restored'
      manifest: Manifest
      made: readonly ShardPlace[]
      replaced: readonly ShardPlace[]
      whole: boolean
    }
  /** No store can take the missing copies, or the remaining copies can't be reached now. */
  | { outcome: 'waiting'; reason: string }
  /** No copy can be read any more, neither here nor on a store that is out of use. */
  | { outcome: 'lost' }

/** How to inspect a blob's shards. */
export interface InspectOptions {
  /** Waits until this many more bytes may be read. */
  pace?(bytes: number): Promise<void>
  /** Whether a shard with this description belongs to the inspected blob. */
  isOfBlob?(description: Buffer): boolean
}

export interface RestoreContext {
  member(storeId: string): Member | undefined
  findStores(count: number, holders: readonly Member[], tried: readonly Member[]): Member[]
  manifestOf(shards: readonly ShardPlace[]): Manifest
  reading: CopyReading
  looking: InspectOptions
}

type InspectContext = Pick<RestoreContext, 'member' | 'reading' | 'looking'>

export interface InspectedShard {
  shard: ShardPlace
  member: Member | undefined
  state: 'good' | 'bad' | 'out of reach'
}

/** Reads every shard completely. A shard is bad only if the right store answers that it is missing or damaged. */
export async function inspectShards(manifest: Manifest, context: InspectContext): Promise<InspectedShard[]> {
  const looked = await Promise.all(manifest.shards.map((shard) => inspectShard(manifest, shard, context)))
  const blobId = mostFrequent(looked.flatMap(({ label }) => label?.blobId ?? []))
  return looked.map(({ label, ...found }) =>
    found.state === 'good' && label?.blobId !== blobId ? { ...found, state: 'bad' } : found,
  )
}

interface LabelledShard extends InspectedShard {
  label: ShardLabel | undefined
}

async function inspectShard(manifest: Manifest, shard: ShardPlace, context: InspectContext): Promise<LabelledShard> {
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

/** Resolves with the shard's description. */
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

/** Whether the blob lacks only shards that no store can take now, so that reading the others is pointless. */
export function cannotGainShards(
  { shards }: Manifest,
  { member, findStores }: RestoreContext,
  wanted: number,
): boolean {
  const holders = shards.flatMap(({ storeId }) => member(storeId) ?? [])
  if (holders.length < shards.length || holders.length >= wanted) return false
  return findStores(1, holders, []).length === 0
}

/** The caller stopped the work, so no store is at fault. */
export class Interrupted extends Error {
  constructor(cause: unknown) {
    super('the work was interrupted', { cause })
    this.name = 'Interrupted'
  }
}

/** Reads the source no faster than the pace allows. A rejection of the pace arrives as `Interrupted`. */
export function paced(source: ByteSource, { pace }: InspectOptions): ByteSource {
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
