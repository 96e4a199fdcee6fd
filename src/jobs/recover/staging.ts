/** Sorts the shards of all stores by owner while the metadata is rebuilt. It uses a temporary engine. */

import { z } from 'zod'
import type { Manifest } from '../../blobs/blobs.ts'
import type { Key, Kv, Put } from '../../kv/kv.ts'
import { packKey, rangeOf, unpackKey } from '../../kv/ordered-key.ts'
import { readDescription } from '../../records/description-bytes.ts'
import type { CompletionDescription } from '../../records/descriptions.ts'
import type { ShardStore } from '../../stores/shard-store.ts'
import { everyEntry } from '../every-entry.ts'
import { identityOf, type StagedShard } from './found-blobs.ts'
import { notedPartsSchema } from './noted-parts.ts'

/*
 *     v bucket key identity storeId id        shards of versions, and of notes of uploads
 *     p uploadId number identity storeId id   shards of parts
 *     m snapshotId piece identity storeId id  shards of metadata snapshots
 *     i storeId id                            every shard; its value says whether the snapshot knows it as garbage
 *     n uploadId                              uploads whose note was found
 */

const batchEntries = 1000
const sizeBytes = 6
const garbageMark = Buffer.alloc(1, 1)
const noMark = Buffer.alloc(0)

/** Shards of one key, part or piece, grouped by their identity. */
export interface ShardGroup {
  /** Bucket or upload or snapshot, and key or number. */
  of: readonly [string, string | number]
  blobs: ReadonlyMap<string, readonly StagedShard[]>
}

/** The note of a completed upload, and the version that it belongs to. */
const stagedNote = z.object({
  parts: notedPartsSchema,
  /** Needs no further check: it was parsed when it was read from the store. */
  description: z.custom<CompletionDescription>((value) => typeof value === 'object' && value !== null),
  versionId: z.string(),
})
export type StagedNote = z.infer<typeof stagedNote>

export class Staging {
  readonly #kv: Kv
  #puts: Put[] = []

  constructor(kv: Kv) {
    this.#kv = kv
  }

  /** Reads the descriptions of all shards of a store. Calls `seen` with the payload size of each shard. */
  async readStore(shards: ShardStore, seen: (payloadBytes: number) => Promise<void>): Promise<void> {
    for await (const { id, payloadBytes, description } of shards.list()) {
      const key = keyOf({ storeId: shards.storeId, id, payloadBytes, raw: description })
      if (key !== undefined) {
        const value = Buffer.alloc(sizeBytes + description.length)
        value.writeUIntBE(payloadBytes, 0, sizeBytes)
        value.set(description, sizeBytes)
        this.#puts.push({ key, value })
      }
      this.#puts.push({ key: packKey('i', shards.storeId, id), value: noMark })
      if (this.#puts.length >= batchEntries) await this.flush()
      await seen(payloadBytes)
    }
    await this.flush()
  }

  /** Marks shards that are garbage: nothing is recovered from them. */
  async markGarbage({ shards }: Manifest): Promise<void> {
    for (const { storeId, id } of shards) this.#puts.push({ key: packKey('i', storeId, id), value: garbageMark })
    if (this.#puts.length >= batchEntries) await this.flush()
  }

  async flush(): Promise<void> {
    const puts = this.#puts
    this.#puts = []
    if (puts.length > 0) await this.#kv.commit({ puts })
  }

  /** Which of these places hold a shard. */
  async present(places: readonly { storeId: string; id: string }[]): Promise<boolean[]> {
    const entries = await this.#kv.get(places.map(({ storeId, id }) => packKey('i', storeId, id)))
    return entries.map((entry) => entry !== undefined)
  }

  async putNote(uploadId: string, note: StagedNote): Promise<void> {
    await this.#kv.commit({ puts: [{ key: packKey('n', uploadId), value: Buffer.from(JSON.stringify(note)) }] })
  }

  async note(uploadId: string): Promise<StagedNote | undefined> {
    const [entry] = await this.#kv.get([packKey('n', uploadId)])
    return entry && readNote(entry.value)
  }

  async *notes(): AsyncGenerator<[uploadId: string, note: StagedNote]> {
    for await (const { key, value } of everyEntry(this.#kv, rangeOf('n'))) {
      yield [unpackKey(key, ['string', 'string'])[1], readNote(value)]
    }
  }

  /** Everything in a table except garbage, sorted by owner. */
  async *groups(table: 'v' | 'p' | 'm'): AsyncGenerator<ShardGroup> {
    let of: readonly [string, string | number] | undefined
    let shards: { identity: string; shard: StagedShard }[] = []
    for await (const { key, value } of everyEntry(this.#kv, rangeOf(table))) {
      const [first, next, identity, storeId, id] = table === 'v' ? named(key) : numbered(key)
      if (of?.[0] !== first || of[1] !== next) {
        if (of !== undefined) yield* this.#group(of, shards)
        of = [first, next]
        shards = []
      }
      const shard = { storeId, id, payloadBytes: value.readUIntBE(0, sizeBytes), raw: value.subarray(sizeBytes) }
      shards.push({ identity, shard })
    }
    if (of !== undefined) yield* this.#group(of, shards)
  }

  async *#group(of: ShardGroup['of'], staged: { identity: string; shard: StagedShard }[]): AsyncGenerator<ShardGroup> {
    const marks = await this.#kv.get(staged.map(({ shard: { storeId, id } }) => packKey('i', storeId, id)))
    const blobs = new Map<string, StagedShard[]>()
    for (const [i, { identity, shard }] of staged.entries()) {
      if (marks[i]?.value.equals(garbageMark)) continue
      const others = blobs.get(identity)
      if (others === undefined) blobs.set(identity, [shard])
      else others.push(shard)
    }
    if (blobs.size > 0) yield { of, blobs }
  }
}

function readNote(value: Buffer): StagedNote {
  return stagedNote.parse(JSON.parse(value.toString()))
}

type Unpacked = [string, string | number, identity: string, storeId: string, id: string]

function named(key: Key): Unpacked {
  const [, ...rest] = unpackKey(key, ['string', 'string', 'string', 'string', 'string', 'string'])
  return rest
}

function numbered(key: Key): Unpacked {
  const [, ...rest] = unpackKey(key, ['string', 'string', 'number', 'string', 'string', 'string'])
  return rest
}

/** `undefined` for a shard that does not name its owner. Such a shard is left alone. */
function keyOf(shard: StagedShard): Buffer | undefined {
  const description = readDescription(shard.raw)
  if (description === undefined) return undefined
  const rest = [identityOf(shard.raw), shard.storeId, shard.id] as const
  if (description.kind === 'part') return packKey('p', description.uploadId, description.partNumber, ...rest)
  if (description.kind === 'snapshot') return packKey('m', description.snapshotId, description.piece, ...rest)
  return packKey('v', description.bucket, description.key, ...rest)
}
