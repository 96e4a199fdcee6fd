/** Splits the metadata into pieces of bounded size, for backups and snapshots on stores, and loads it back. Knows nothing about where pieces are kept. */
import { createHash, type Hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzip, constants as zlib } from 'node:zlib'
import type { Entry, Key, Kv, Put, Snapshot } from '../kv/kv.ts'
import { keyAfter } from '../kv/ordered-key.ts'
import { limits } from '../limits.ts'
import type { PiecesEnd } from './records.ts'

/** Thrown when pieces are not those that were written. */
export class SnapshotDamaged extends Error {
  constructor(why: string) {
    super(`the snapshot is damaged: ${why}`)
    this.name = 'SnapshotDamaged'
  }
}

const deflated = promisify(gzip)
const inflated = promisify(gunzip)

const pageEntries = 500
const lastKey = Buffer.from([0xff])
const headBytes = 6

/** Yields every entry in order of keys, packed into pieces. Returns the totals that the pieces must have. */
export async function* piecesOf(snapshot: Snapshot): AsyncGenerator<Buffer, PiecesEnd> {
  const tally = new PiecesTally()
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let start: Key = Buffer.alloc(0)
  const piece = async (): Promise<Buffer> => {
    const packed = await deflated(Buffer.concat(waiting), { level: zlib.Z_BEST_SPEED })
    tally.add(packed, waiting.length)
    waiting = []
    waitingBytes = 0
    return packed
  }
  for (;;) {
    const page = await snapshot.range({ start, end: lastKey, limit: pageEntries })
    for (const entry of page) {
      const packed = packEntry(entry)
      waiting.push(packed)
      waitingBytes += packed.length
      if (waitingBytes >= limits.snapshotPieceBytes) yield await piece()
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageEntries) break
    start = keyAfter(last.key)
  }
  if (waiting.length > 0) yield await piece()
  return tally.end()
}

/** Counts and hashes pieces, in order. */
export class PiecesTally {
  readonly #hash: Hash = createHash('sha256')
  #pieces = 0
  #entries = 0

  add(piece: Buffer, entries: number): void {
    this.#hash.update(piece)
    this.#pieces += 1
    this.#entries += entries
  }

  end(): PiecesEnd {
    return { pieces: this.#pieces, entries: this.#entries, sha256: this.#hash.copy().digest('hex') }
  }
}

/** Throws `SnapshotDamaged` unless the tallied pieces match the totals in `end`. */
export function requireWhole(tally: PiecesTally, end: PiecesEnd): void {
  const found = tally.end()
  if (found.pieces !== end.pieces) throw new SnapshotDamaged(`it has ${found.pieces} pieces in place of ${end.pieces}`)
  if (found.entries !== end.entries || found.sha256 !== end.sha256) throw new SnapshotDamaged('its checksum is wrong')
}

function packEntry({ key, value }: Entry): Buffer {
  const packed = Buffer.allocUnsafe(headBytes + key.length + value.length)
  packed.writeUInt16BE(key.length, 0)
  packed.writeUInt32BE(value.length, 2)
  packed.set(key, headBytes)
  packed.set(value, headBytes + key.length)
  return packed
}

/** Throws `SnapshotDamaged`. */
export async function entriesOfPiece(piece: Buffer): Promise<Put[]> {
  const bytes = await inflated(piece).catch((cause: Error) => {
    throw new SnapshotDamaged(cause.message)
  })
  const entries: Put[] = []
  for (let at = 0; at < bytes.length; ) {
    if (at + headBytes > bytes.length) throw new SnapshotDamaged('a piece ends inside an entry')
    const keyAt = at + headBytes
    const valueAt = keyAt + bytes.readUInt16BE(at)
    const end = valueAt + bytes.readUInt32BE(at + 2)
    if (end > bytes.length) throw new SnapshotDamaged('a piece ends inside an entry')
    entries.push({ key: bytes.subarray(keyAt, valueAt), value: bytes.subarray(valueAt, end) })
    at = end
  }
  return entries
}

/**
 * Commits the entries whose key `isWanted` accepts, in order. Throws `SnapshotDamaged` when the pieces do not match the totals in `end`; some entries are
 * committed by then.
 */
export async function loadPieces(
  kv: Kv,
  pieces: AsyncIterable<Buffer>,
  end: PiecesEnd,
  { isWanted, loaded }: { isWanted(key: Key): boolean; loaded(entries: number): void },
): Promise<void> {
  const tally = new PiecesTally()
  for await (const piece of pieces) {
    const entries = await entriesOfPiece(piece)
    tally.add(piece, entries.length)
    await kv.commit({ puts: entries.filter(({ key }) => isWanted(key)) })
    loaded(entries.length)
  }
  requireWhole(tally, end)
}
