/** Walks the records of a segment in order with bounded memory, skips unreadable ones, and reports whether any are lost. */
import type { FileHandle } from '../../fs.ts'
import { alignUp } from '../alignment.ts'
import { closeQuietly } from '../context.ts'
import {
  descriptionOf,
  headBytesOf,
  headIntact,
  type RecordHeader,
  readHeader,
  recordAlignment,
  recordHeaderBytes,
  totalBytesOf,
} from './segment-record.ts'

const windowBytes = 1024 * 1024
const zeroWindow = Buffer.alloc(4096)

export interface WalkedRecord {
  offset: number
  totalBytes: number
  payloadBytes: number
  description: Buffer
  writtenMs: number
}

export class SegmentWalk {
  readonly #file: FileHandle
  readonly #segment: string
  readonly #window: Buffer = Buffer.allocUnsafe(windowBytes)
  #windowStart = 0
  #windowFilled = 0
  #nextOrdinal = 0
  #lossInGroup: number | undefined

  /**
   * Whether acknowledged records are lost. Missing records in the last group of a segment without a seal don't count: a crash
   * leaves such a group, and none of its records was acknowledged.
   */
  damaged = false
  sealed = false
  recordBytes = 0
  newestMs = 0
  /** The offset after the last byte that is not zero. */
  usedBytes = 0

  constructor(file: FileHandle, segment: string) {
    this.#file = file
    this.#segment = segment
  }

  async *records(): AsyncGenerator<WalkedRecord> {
    let offset = 0
    for (;;) {
      const fixed = await this.#bytesAt(offset, recordHeaderBytes)
      if (fixed.length < recordHeaderBytes) return
      const header = readHeader(fixed, this.#segment, offset)
      const head = header === undefined ? undefined : await this.#headAt(offset, header)
      if (header === undefined || head === undefined) {
        offset = await this.#skipUnreadable(offset)
        continue
      }
      this.#note(header)
      const totalBytes = totalBytesOf(header)
      if (header.kind === 'shard') {
        const { payloadBytes, writtenMs } = header
        yield { offset, totalBytes, payloadBytes, writtenMs, description: descriptionOf(head, header) }
      }
      offset += totalBytes
    }
  }

  async close(): Promise<void> {
    await closeQuietly(this.#file)
  }

  async #headAt(offset: number, header: RecordHeader): Promise<Buffer | undefined> {
    const headBytes = headBytesOf(header)
    if (headBytes > windowBytes) return undefined
    const head = await this.#bytesAt(offset, headBytes)
    return headIntact(head, header) ? head : undefined
  }

  #note(header: RecordHeader): void {
    const { ordinal, groupOrdinal } = header
    if (this.#lossInGroup !== undefined && groupOrdinal > this.#lossInGroup) this.damaged = true
    if (groupOrdinal > this.#nextOrdinal) this.damaged = true
    else if (ordinal > this.#nextOrdinal) this.#lossInGroup = groupOrdinal
    this.#nextOrdinal = ordinal + 1
    this.usedBytes = header.offset + totalBytesOf(header)
    this.newestMs = Math.max(this.newestMs, header.writtenMs)
    if (header.kind === 'shard') this.recordBytes += totalBytesOf(header)
    else this.sealed = true
  }

  /** The next offset where a record may start. */
  async #skipUnreadable(offset: number): Promise<number> {
    const bytes = await this.#bytesAt(offset, zeroWindow.length)
    if (bytes.equals(zeroWindow.subarray(0, bytes.length))) return offset + alignUp(bytes.length, recordAlignment)
    const unit = bytes.subarray(0, recordAlignment)
    if (!unit.equals(zeroWindow.subarray(0, unit.length))) this.usedBytes = offset + unit.length
    return offset + recordAlignment
  }

  /** `bytes` bytes at `offset`, fewer at the end of the file. Valid until the next call. */
  async #bytesAt(offset: number, bytes: number): Promise<Buffer> {
    const windowEnd = this.#windowStart + this.#windowFilled
    if (offset < this.#windowStart || offset + bytes > windowEnd) {
      this.#windowFilled = await this.#file.read(this.#window, offset)
      this.#windowStart = offset
    }
    const from = offset - this.#windowStart
    return this.#window.subarray(from, Math.min(from + bytes, this.#windowFilled))
  }
}

export interface Seal {
  recordBytes: number
  newestMs: number
}

/** The seal at the end of a segment that was closed properly: one small read instead of a walk. */
export async function readSeal(file: FileHandle, segment: string): Promise<Seal | undefined> {
  const offset = (await file.size()) - recordHeaderBytes
  if (offset < 0) return undefined
  const bytes = Buffer.allocUnsafe(recordHeaderBytes)
  if ((await file.read(bytes, offset)) < bytes.length) return undefined
  const header = readHeader(bytes, segment, offset)
  if (header?.kind !== 'seal' || !headIntact(bytes, header)) return undefined
  return { recordBytes: header.payloadBytes, newestMs: header.writtenMs }
}
