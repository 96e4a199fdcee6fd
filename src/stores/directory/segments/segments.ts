/** Examines segments of any process: which records are alive, how much space they take, and where a segment that a crash left behind ends. */
import type { FoundShard } from '../../shard-store.ts'
import { closeQuietly, type StoreContext } from '../context.ts'
import { unlessMissing, unlessRemoved } from '../failures.ts'
import { formatRecordId } from '../shard-ids.ts'
import { readSeal, SegmentWalk } from './segment-walk.ts'
import type { Tombstones } from './tombstones.ts'

export interface SegmentSummary {
  fileBytes: number
  /** Bytes of all records, dead or alive. */
  recordBytes: number
  newestMs: number
  damaged: boolean
}

export class Segments {
  readonly #context: StoreContext
  readonly #tombstones: Tombstones

  constructor(context: StoreContext, tombstones: Tombstones) {
    this.#context = context
    this.#tombstones = tombstones
  }

  async names(): Promise<string[]> {
    return (await this.#context.fs.list(this.#context.layout.segments)).sort()
  }

  async *live(segment: string): AsyncGenerator<FoundShard> {
    const dead = await this.#tombstones.read(segment)
    const walk = await this.walk(segment)
    if (walk === undefined) return
    try {
      for await (const { offset, totalBytes, description, payloadBytes } of walk.records()) {
        if (!dead.has(offset)) yield { id: formatRecordId(segment, offset, totalBytes), description, payloadBytes }
      }
    } finally {
      await walk.close()
    }
  }

  /** A walk, which the caller must close; `undefined` when the segment is gone. */
  async walk(segment: string): Promise<SegmentWalk | undefined> {
    const { fs, layout } = this.#context
    const file = await unlessRemoved(fs.open(layout.segment(segment), 'read'))
    return file === undefined ? undefined : new SegmentWalk(file, segment)
  }

  /** One small read for a segment that was closed properly, else a walk. */
  async summary(segment: string): Promise<SegmentSummary | undefined> {
    const { fs, layout } = this.#context
    const file = await unlessRemoved(fs.open(layout.segment(segment), 'read'))
    if (file === undefined) return undefined
    try {
      const fileBytes = await file.size()
      const seal = await readSeal(file, segment)
      if (seal !== undefined) return { ...seal, fileBytes, damaged: false }
      const walk = new SegmentWalk(file, segment)
      for await (const _record of walk.records());
      return { fileBytes, recordBytes: walk.recordBytes, newestMs: walk.newestMs, damaged: walk.damaged }
    } finally {
      await closeQuietly(file)
    }
  }

  /** Cuts off the room that a crashed writer had prepared but not used. Removes only zeros. */
  async settle(segment: string): Promise<void> {
    const { fs, layout } = this.#context
    const file = await unlessMissing(fs.open(layout.segment(segment), 'write'))
    if (file === undefined) return
    try {
      if ((await readSeal(file, segment)) !== undefined) return
      const walk = new SegmentWalk(file, segment)
      for await (const _record of walk.records());
      if (walk.usedBytes < (await file.size())) await file.truncate(walk.usedBytes)
    } finally {
      await closeQuietly(file)
    }
  }
}
