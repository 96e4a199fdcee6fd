/**
 * Which records of segments are deleted: `dead/<segment>/<log>`, one log per process, so that no two processes write the same file.
 * A lost or damaged entry revives a shard without a reference, and never loses a shard.
 */
import { crc32c } from '@node-rs/crc32'
import { randomId } from '../../../clock.ts'
import { StoreFull } from '../../shard-store.ts'
import { closeQuietly, type StoreContext } from '../context.ts'
import { codeOf, isMissing, storeFailure, unlessMissing } from '../failures.ts'
import type { RecordAddress } from '../shard-ids.ts'

const entryBytes = 16
const logsRememberedMax = 1024
const segmentsAtOnce = 32

interface Log {
  name: string
  bytes: number
}

/** Dead records of one segment: offset -> bytes. */
export type DeadRecords = ReadonlyMap<number, number>

export class Tombstones {
  readonly #context: StoreContext
  /** This process's log of each segment from which it deleted lately. */
  readonly #logs = new Map<string, Log>()
  #turn: Promise<unknown> = Promise.resolve()

  constructor(context: StoreContext) {
    this.#context = context
  }

  /** Durable when it resolves. One sync per segment for all its records. */
  mark(records: readonly RecordAddress[]): Promise<void> {
    const marked = this.#turn.then(() => this.#markOnFullDisk(records))
    this.#turn = marked.catch(() => {})
    return marked
  }

  async read(segment: string): Promise<DeadRecords> {
    const { fs, layout } = this.#context
    const dead = new Map<number, number>()
    for (const name of (await unlessMissing(fs.list(layout.deadOf(segment)))) ?? []) {
      for (const [offset, bytes] of await this.#readLog(segment, name)) dead.set(offset, bytes)
    }
    return dead
  }

  /** Segments in which anything is deleted, and removed ones that still have tombstones. */
  segments(): Promise<string[]> {
    return this.#context.fs.list(this.#context.layout.dead)
  }

  /** Call only after the removal of the segment is durable: without tombstones, its dead records would be alive. */
  async drop(segment: string): Promise<void> {
    const { fs, layout } = this.#context
    this.#logs.delete(segment)
    for (const name of (await unlessMissing(fs.list(layout.deadOf(segment)))) ?? []) {
      await unlessMissing(fs.unlink(layout.deadLog(segment, name)))
    }
    await fs.rmdir(layout.deadOf(segment)).catch((error) => {
      // A concurrent deletion has created a new log. The next compaction drops it.
      if (!isMissing(error) && codeOf(error) !== 'ENOTEMPTY') throw error
    })
  }

  /** Tries again in the reserved room. Marks that exist already do no harm. */
  async #markOnFullDisk(records: readonly RecordAddress[]): Promise<void> {
    try {
      await this.#markInTurn(records)
    } catch (error) {
      if (!(storeFailure(error) instanceof StoreFull) || !(await this.#context.deleteRoom.giveUp())) throw error
      await this.#markInTurn(records)
    }
  }

  async #markInTurn(records: readonly RecordAddress[]): Promise<void> {
    const segments = [...groupBySegment(records)]
    for (let at = 0; at < segments.length; at += segmentsAtOnce) {
      const marked = segments
        .slice(at, at + segmentsAtOnce)
        .map(([segment, dead]) => this.#markUnlessGone(segment, dead))
      // All must have ended before another call can write the same logs.
      const failed = (await Promise.allSettled(marked)).find((result) => result.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    }
  }

  /** Does nothing if compaction has removed the segment, because nothing is left to delete. */
  async #markUnlessGone(segment: string, dead: readonly RecordAddress[]): Promise<void> {
    if (!(await this.#exists(segment))) return
    try {
      await this.#markSegment(segment, dead)
    } catch (error) {
      if (!isMissing(error) || (await this.#exists(segment))) throw error
    }
  }

  async #exists(segment: string): Promise<boolean> {
    const { fs, layout } = this.#context
    return (await unlessMissing(fs.stat(layout.segment(segment)))) !== undefined
  }

  async #markSegment(segment: string, dead: readonly RecordAddress[]): Promise<void> {
    const { fs, layout, directories } = this.#context
    const entries = Buffer.concat(dead.map(encodeEntry))
    const known = this.#logs.get(segment)
    // A log is remembered only after a success, because one whose write or sync failed must never be written again.
    this.#logs.delete(segment)
    const log = known ?? { name: randomId(this.#context.clock), bytes: 0 }
    if (known === undefined) await fs.mkdir(layout.deadOf(segment)).catch(ignoreExisting)
    await this.#append(layout.deadLog(segment, log.name), log.bytes, entries)
    if (known === undefined) {
      await directories.sync(layout.deadOf(segment))
      await directories.sync(layout.dead)
    }
    this.#remember(segment, { name: log.name, bytes: log.bytes + entries.length })
  }

  async #append(path: string, position: number, entries: Buffer): Promise<void> {
    const file = await this.#context.fs.open(path, position === 0 ? 'create' : 'write')
    try {
      await file.write([entries], position)
      await file.datasync()
    } catch (error) {
      await closeQuietly(file)
      throw error
    }
    await file.close()
  }

  #remember(segment: string, log: Log): void {
    this.#logs.set(segment, log)
    const oldest = this.#logs.keys().next()
    if (this.#logs.size > logsRememberedMax && oldest.done === false) this.#logs.delete(oldest.value)
  }

  async #readLog(segment: string, name: string): Promise<[offset: number, bytes: number][]> {
    const { fs, layout } = this.#context
    const file = await unlessMissing(fs.open(layout.deadLog(segment, name), 'read'))
    if (file === undefined) return []
    try {
      const log = Buffer.allocUnsafe(await file.size())
      return decodeEntries(segment, log.subarray(0, await file.read(log, 0)))
    } finally {
      await closeQuietly(file)
    }
  }
}

function encodeEntry({ segment, offset, bytes }: RecordAddress): Buffer {
  const entry = Buffer.alloc(entryBytes)
  entry.writeUIntLE(offset, 0, 6)
  entry.writeUInt32LE(bytes, 6)
  entry.writeUInt32LE(entryChecksum(segment, entry), 12)
  return entry
}

function decodeEntries(segment: string, log: Buffer): [offset: number, bytes: number][] {
  const entries: [number, number][] = []
  for (let at = 0; at + entryBytes <= log.length; at += entryBytes) {
    const entry = log.subarray(at, at + entryBytes)
    if (entry.readUInt32LE(12) !== entryChecksum(segment, entry)) continue
    entries.push([entry.readUIntLE(0, 6), entry.readUInt32LE(6)])
  }
  return entries
}

function entryChecksum(segment: string, entry: Buffer): number {
  return crc32c(entry.subarray(0, 12), crc32c(segment))
}

function groupBySegment(records: readonly RecordAddress[]): Map<string, RecordAddress[]> {
  const groups = new Map<string, RecordAddress[]>()
  for (const record of records) {
    const group = groups.get(record.segment)
    if (group === undefined) groups.set(record.segment, [record])
    else group.push(record)
  }
  return groups
}

function ignoreExisting(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error
}
