/** CRC32C of each fixed-size block of a payload, as both file formats keep it. Pure. */
import { crc32c } from '@node-rs/crc32'

const checksumBytes = 4

export function checksumTableBytes(payloadBytes: number, blockBytes: number): number {
  return Math.ceil(payloadBytes / blockBytes) * checksumBytes
}

/** Writes the checksums of `payload` into `table`, starting at `firstBlock`. */
export function writeChecksums(payload: Buffer, blockBytes: number, table: Buffer, firstBlock = 0): void {
  let at = firstBlock * checksumBytes
  for (let start = 0; start < payload.length; start += blockBytes) {
    at = table.writeUInt32LE(crc32c(blockOf(payload, start, blockBytes)), at)
  }
}

/** The first block of `payload` that does not match `table`, counted from the shard's start; `undefined` when all match. */
export function damagedBlock(payload: Buffer, blockBytes: number, table: Buffer, firstBlock = 0): number | undefined {
  let block = firstBlock
  for (let start = 0; start < payload.length; start += blockBytes) {
    if (table.readUInt32LE(block * checksumBytes) !== crc32c(blockOf(payload, start, blockBytes))) return block
    block++
  }
  return undefined
}

/** Small payloads are a single block, and need no view of it. */
function blockOf(payload: Buffer, start: number, blockBytes: number): Buffer {
  return payload.length <= blockBytes ? payload : payload.subarray(start, start + blockBytes)
}
