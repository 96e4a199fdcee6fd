/** The file format of a backup: a head, optionally the key ring, the pieces of the metadata, and an end that describes the pieces. Each has a checksum. */
import { link, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { z } from 'zod'
import { randomId, systemClock } from '../../clock.ts'
import { syncDirectory, unfinishedSuffix } from '../../instance/atomic-file.ts'
import { limits } from '../../limits.ts'
import type { PiecesEnd } from '../../records/records.ts'
import { SnapshotDamaged } from '../../records/snapshot-pieces.ts'

const markText = 'holdfast backup\n'
const mark = Buffer.from(markText)
const format = 1
const kinds = { head: 1, keys: 2, piece: 3, end: 4 } as const
type Kind = keyof typeof kinds
/** A frame's head: its kind (one byte), the content's length, and the CRC-32 of both and the content. The content follows. */
const headBytes = 9

const headSchema = z.object({ format: z.number(), createdMs: z.number(), version: z.string() })
const endSchema = z.object({ pieces: z.number(), entries: z.number(), sha256: z.string() })

export interface BackupHead {
  createdMs: number
  /** Version of the program that made the backup. */
  version: string
}

export interface Backup extends BackupHead {
  /** The key ring as text. Absent: the backup leaves it out. */
  keys: string | undefined
  end: PiecesEnd
  /** All pieces, in order. Throws `SnapshotDamaged`. */
  pieces(): AsyncGenerator<Buffer>
}

/** Writes a file that exists whole and durable, or not at all, and never replaces another. Only its owner may read it. */
export async function writeBackup(
  path: string,
  head: BackupHead,
  keys: string | undefined,
  pieces: AsyncGenerator<Buffer, PiecesEnd>,
): Promise<PiecesEnd> {
  const unfinished = `${path}.${randomId(systemClock)}${unfinishedSuffix}`
  const file = await open(unfinished, 'wx', 0o600).catch((error: Error) => {
    // Nobody has heard of the other name.
    throw Object.assign(error, { path })
  })
  try {
    try {
      await file.writeFile(mark)
      await file.writeFile(frame('head', JSON.stringify({ format, ...head })))
      if (keys !== undefined) await file.writeFile(frame('keys', keys))
      let next = await pieces.next()
      for (; next.done !== true; next = await pieces.next()) await file.writeFile(frame('piece', next.value))
      await file.writeFile(frame('end', JSON.stringify(next.value)))
      await file.sync()
      await giveName(unfinished, path)
      return next.value
    } finally {
      await file.close()
    }
  } finally {
    await rm(unfinished, { force: true })
    await syncDirectory(dirname(path))
  }
}

/** Unlike a rename alone, fails when another process has made a file of that name meanwhile. */
async function giveName(unfinished: string, path: string): Promise<void> {
  try {
    await link(unfinished, path)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && lacksLinks.has(error.code))) throw error
    // The rename replaces what this process has made there. A crash in between leaves an empty file, which is no backup.
    await (await open(path, 'wx', 0o600)).close()
    await rename(unfinished, path).catch(async (failure: unknown) => {
      await rm(path, { force: true })
      throw failure
    })
  }
}

/** What file systems without hard links answer, such as those of USB sticks and of some shares. */
const lacksLinks: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EINVAL'])

function frame(kind: Kind, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content)
  const head = Buffer.alloc(headBytes)
  head[0] = kinds[kind]
  head.writeUInt32BE(bytes.length, 1)
  head.writeUInt32BE(crc32(bytes, crc32(head.subarray(0, 5))), 5)
  return Buffer.concat([head, bytes])
}

/** Reads the file once, and verifies everything except the content of the pieces. Throws `SnapshotDamaged`. */
export async function openBackup(path: string): Promise<Backup> {
  let head: BackupHead | undefined
  let keys: string | undefined
  let end: PiecesEnd | undefined
  for await (const { kind, content } of framesOf(path)) {
    if (end !== undefined) throw new SnapshotDamaged(`${path} goes on behind its end`)
    if (kind === kinds.head) head = headOf(path, content)
    else if (kind === kinds.keys) keys = content.toString()
    else if (kind === kinds.end) end = endSchema.parse(JSON.parse(content.toString()))
  }
  if (head === undefined || end === undefined) throw new SnapshotDamaged(`${path} is cut off`)
  return { ...head, keys, end, pieces: () => piecesIn(path) }
}

function headOf(path: string, content: Buffer): BackupHead {
  const head = headSchema.parse(JSON.parse(content.toString()))
  if (head.format === format) return head
  throw new SnapshotDamaged(`${path} has format ${head.format}; this version knows ${format}`)
}

async function* piecesIn(path: string): AsyncGenerator<Buffer> {
  for await (const { kind, content } of framesOf(path)) if (kind === kinds.piece) yield content
}

async function* framesOf(path: string): AsyncGenerator<{ kind: number; content: Buffer }> {
  const file = await open(path, 'r')
  const exactly = async (bytes: number): Promise<Buffer> => {
    const buffer = Buffer.allocUnsafe(bytes)
    for (let read = 0; read < bytes; ) {
      const { bytesRead } = await file.read(buffer, read, bytes - read)
      if (bytesRead === 0) throw new SnapshotDamaged(`${path} is cut off`)
      read += bytesRead
    }
    return buffer
  }
  try {
    const { size } = await file.stat()
    if (size < mark.length || !(await exactly(mark.length)).equals(mark)) {
      throw new SnapshotDamaged(`${path} is no backup of Holdfast's`)
    }
    for (let at = mark.length; at < size; ) {
      const head = await exactly(headBytes)
      const bytes = head.readUInt32BE(1)
      if (bytes > frameBytesMax) throw new SnapshotDamaged(`${path} has a wrong length at byte ${at}`)
      const content = await exactly(bytes)
      if (crc32(content, crc32(head.subarray(0, 5))) !== head.readUInt32BE(5)) {
        throw new SnapshotDamaged(`${path} has a wrong checksum at byte ${at}`)
      }
      yield { kind: head[0] ?? 0, content }
      at += headBytes + bytes
    }
  } finally {
    await file.close()
  }
}

/** A piece exceeds its size by at most one entry, because entries are never split. Packing makes nothing much larger. */
const frameBytesMax = 2 * (limits.snapshotPieceBytes + limits.kvValueBytesMax)
