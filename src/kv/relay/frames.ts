/**
 * How commits, and what became of them, are written between two processes of one program: frames of entries, as bytes. A frame is the length of what follows
 * it in bytes, 4 of them; numbers are little-endian. Knows no sockets.
 */
import { numberOfVersion, versionOfNumber } from '../entry-version.ts'
import type { Check, Commit, Key, Put } from '../kv.ts'

/** A commit, with the number by which its sender knows it. */
export interface SentCommit {
  id: number
  commit: Commit
}

/** What became of a commit. */
export type Outcome = { id: number; kind: 'applied' | 'refused' } | { id: number; kind: 'unavailable'; message: string }

const lengthBytes = 4
const checkKinds = { version: 0, absent: 1, empty: 2 } as const
const outcomeKinds = ['applied', 'refused', 'unavailable'] as const

export function packCommits(commits: readonly SentCommit[]): Buffer {
  let bytes = lengthBytes
  for (const { commit } of commits) bytes += commitBytes(commit)
  const writer = new FrameWriter(bytes)
  for (const sent of commits) writeCommit(writer, sent)
  return writer.frame()
}

/** The frame that `packCommits` made, without its length. The keys and values are views of it. */
export function unpackCommits(frame: Buffer): SentCommit[] {
  const reader = new FrameReader(frame)
  const commits: SentCommit[] = []
  while (reader.hasMore()) commits.push(readCommit(reader))
  return commits
}

export function packOutcomes(outcomes: readonly Outcome[]): Buffer {
  const messages = outcomes.map((outcome) => ('message' in outcome ? Buffer.from(outcome.message) : undefined))
  const bytes = messages.reduce(
    (sum, message) => sum + 5 + (message === undefined ? 0 : 4 + message.length),
    lengthBytes,
  )
  const writer = new FrameWriter(bytes)
  for (const [i, { id, kind }] of outcomes.entries()) {
    writer.u32(id)
    writer.u8(outcomeKinds.indexOf(kind))
    const message = messages[i]
    if (message !== undefined) writer.bytes(message)
  }
  return writer.frame()
}

export function unpackOutcomes(frame: Buffer): Outcome[] {
  const reader = new FrameReader(frame)
  const outcomes: Outcome[] = []
  while (reader.hasMore()) {
    const id = reader.u32()
    const kind = outcomeKinds[reader.u8()]
    if (kind === undefined) throw new Error('an outcome of a commit that this program does not know')
    outcomes.push(kind === 'unavailable' ? { id, kind, message: reader.bytes().toString() } : { id, kind })
  }
  return outcomes
}

function commitBytes({ checks = [], puts = [], deletes = [] }: Commit): number {
  let bytes = 4 + 1 + 3 * 4
  for (const check of checks) {
    if ('emptyFrom' in check) bytes += 1 + 8 + check.emptyFrom.length + check.emptyTo.length
    else bytes += 1 + 4 + check.key.length + ('version' in check ? 8 : 0)
  }
  for (const { key, value } of puts) bytes += 8 + key.length + value.length
  for (const key of deletes) bytes += 4 + key.length
  return bytes
}

function writeCommit(
  writer: FrameWriter,
  { id, commit: { checks = [], puts = [], deletes = [], grows } }: SentCommit,
): void {
  writer.u32(id)
  writer.u8(grows === true ? 1 : 0)
  writer.u32(checks.length)
  for (const check of checks) writeCheck(writer, check)
  writer.u32(puts.length)
  for (const { key, value } of puts) {
    writer.bytes(key)
    writer.bytes(value)
  }
  writer.u32(deletes.length)
  for (const key of deletes) writer.bytes(key)
}

function readCommit(reader: FrameReader): SentCommit {
  const id = reader.u32()
  const grows = reader.u8() === 1
  const checks = reader.list<Check>(() => readCheck(reader))
  const puts = reader.list<Put>(() => ({ key: reader.bytes(), value: reader.bytes() }))
  const deletes = reader.list<Key>(() => reader.bytes())
  return { id, commit: { checks, puts, deletes, grows } }
}

function writeCheck(writer: FrameWriter, check: Check): void {
  if ('version' in check) {
    writer.u8(checkKinds.version)
    writer.bytes(check.key)
    writer.f64(numberOfVersion(check.version))
  } else if ('absent' in check) {
    writer.u8(checkKinds.absent)
    writer.bytes(check.key)
  } else {
    writer.u8(checkKinds.empty)
    writer.bytes(check.emptyFrom)
    writer.bytes(check.emptyTo)
  }
}

function readCheck(reader: FrameReader): Check {
  const kind = reader.u8()
  const key = reader.bytes()
  if (kind === checkKinds.version) return { key, version: versionOfNumber(reader.f64()) }
  if (kind === checkKinds.absent) return { key, absent: true }
  return { emptyFrom: key, emptyTo: reader.bytes() }
}

class FrameWriter {
  readonly #to: Buffer
  #at = lengthBytes

  constructor(bytes: number) {
    this.#to = Buffer.allocUnsafe(bytes)
    this.#to.writeUInt32LE(bytes - lengthBytes, 0)
  }

  u8(value: number): void {
    this.#to[this.#at++] = value
  }

  u32(value: number): void {
    this.#at = this.#to.writeUInt32LE(value, this.#at)
  }

  f64(value: number): void {
    this.#at = this.#to.writeDoubleLE(value, this.#at)
  }

  bytes(value: Buffer): void {
    this.u32(value.length)
    this.#to.set(value, this.#at)
    this.#at += value.length
  }

  frame(): Buffer {
    return this.#to
  }
}

class FrameReader {
  readonly #from: Buffer
  #at = 0

  constructor(from: Buffer) {
    this.#from = from
  }

  hasMore(): boolean {
    return this.#at < this.#from.length
  }

  u8(): number {
    return this.#from[this.#at++] ?? 0
  }

  u32(): number {
    const value = this.#from.readUInt32LE(this.#at)
    this.#at += 4
    return value
  }

  f64(): number {
    const value = this.#from.readDoubleLE(this.#at)
    this.#at += 8
    return value
  }

  bytes(): Buffer {
    const end = this.u32() + this.#at
    if (end > this.#from.length) throw new Error('a frame that ends too early')
    const value = this.#from.subarray(this.#at, end)
    this.#at = end
    return value
  }

  list<T>(read: () => T): T[] {
    const items: T[] = []
    for (let left = this.u32(); left > 0; left--) items.push(read())
    return items
  }
}

/** Cuts what arrives into frames, without their lengths. */
export class FrameSplitter {
  #rest: Buffer[] = []
  #restBytes = 0

  /** The frames that are whole with this chunk. They are views of it, where they lie within it. */
  split(chunk: Buffer): Buffer[] {
    this.#rest.push(chunk)
    this.#restBytes += chunk.length
    if (this.#restBytes < this.#wanted()) return []
    let from = this.#rest.length === 1 ? chunk : Buffer.concat(this.#rest)
    const frames: Buffer[] = []
    for (;;) {
      const end = endOfFrame(from)
      if (end === undefined || end > from.length) break
      frames.push(from.subarray(lengthBytes, end))
      from = from.subarray(end)
    }
    this.#rest = from.length === 0 ? [] : [from]
    this.#restBytes = from.length
    return frames
  }

  /** How many bytes the next frame needs, as far as that is known. */
  #wanted(): number {
    const [first] = this.#rest
    return first === undefined ? lengthBytes : (endOfFrame(first) ?? lengthBytes)
  }
}

function endOfFrame(from: Buffer): number | undefined {
  return from.length < lengthBytes ? undefined : lengthBytes + from.readUInt32LE(0)
}
