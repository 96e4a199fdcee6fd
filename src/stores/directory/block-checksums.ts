/** The checksum of each fixed-size block of a payload, as both file formats keep them. Pure. */
import { crc32, crc32c } from '@node-rs/crc32'

/** Payloads are written with CRC-32, which takes half the time here. Earlier versions wrote CRC32C (ADR 0061). */
export type BlockChecksum = 'crc32' | 'crc32c'

const functions = { crc32, crc32c }
const checksumBytes = 4

/** The checksums of all blocks of a payload, as they were written. */
export interface BlockChecksums {
  blockBytes: number
  blockChecksum: BlockChecksum
  table: Buffer
}

export function checksumTableBytes(payloadBytes: number, blockBytes: number): number {
  return Math.ceil(payloadBytes / blockBytes) * checksumBytes
}

/** Writes the checksums of `payload`, which are CRC-32, into `table`, starting at `firstBlock`. */
export function writeChecksums(payload: Buffer, blockBytes: number, table: Buffer, firstBlock = 0): void {
  let at = firstBlock * checksumBytes
  for (let start = 0; start < payload.length; start += blockBytes) {
    at = table.writeUInt32LE(crc32(blockOf(payload, start, blockBytes)), at)
  }
}

/** The first block of `payload` that does not match its checksum, counted from the shard's start; `undefined` when all match. */
export function damagedBlock(
  payload: Buffer,
  { blockBytes, blockChecksum, table }: BlockChecksums,
  firstBlock = 0,
): number | undefined {
  const checksum = functions[blockChecksum]
  let block = firstBlock
  for (let start = 0; start < payload.length; start += blockBytes) {
    if (table.readUInt32LE(block * checksumBytes) !== checksum(blockOf(payload, start, blockBytes))) return block
    block++
  }
  return undefined
}

/** Small payloads are a single block, and need no view of it. */
function blockOf(payload: Buffer, start: number, blockBytes: number): Buffer {
  return payload.length <= blockBytes ? payload : payload.subarray(start, start + blockBytes)
}
