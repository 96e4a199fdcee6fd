/** The bytes of a large shard's own file (ADR 0003): payload from 0, zeros to a page, then a footer that ends the file. Pure. */
import { crc32c } from '@node-rs/crc32'
import { alignUp, pageBytes } from '../alignment.ts'
import { checksumTableBytes } from '../block-checksums.ts'
import type { FileAddress } from '../shard-ids.ts'

const magic = 0x666c4648 // 'HFlf'
const version = 1
const trailerBytes = 96
const checksumAt = trailerBytes - 4
const usualDescriptionBytes = 2048

/** Ends the name of a file that is not complete yet. */
export const partialSuffix = '.part'

export interface Footer {
  payloadBytes: number
  blockBytes: number
  writtenMs: number
  description: Buffer
  /** CRC32C of each block of the payload. */
  table: Buffer
}

export type FileName = Pick<FileAddress, 'batch' | 'file'>

/**
 * Description, block checksums, zeros, trailer. The trailer names its own file, and its checksum covers the whole footer.
 * File = payload padded to a page + footer, and both are whole pages.
 */
export function buildFooter(name: FileName, footer: Footer): Buffer {
  const { description, table } = footer
  const bytes = Buffer.alloc(alignUp(description.length + table.length + trailerBytes, pageBytes))
  description.copy(bytes, 0)
  table.copy(bytes, description.length)
  const trailer = bytes.subarray(bytes.length - trailerBytes)
  trailer.writeUInt32LE(magic, 0)
  trailer.writeUInt32LE(version, 4)
  trailer.writeUIntLE(footer.payloadBytes, 8, 6)
  trailer.writeUInt32LE(description.length, 16)
  trailer.writeUInt32LE(footer.blockBytes, 20)
  trailer.writeUIntLE(footer.writtenMs, 24, 6)
  trailer.write(name.batch, 32, 'hex')
  trailer.write(name.file, 48, 'hex')
  bytes.writeUInt32LE(crc32c(bytes.subarray(0, bytes.length - 4)), bytes.length - 4)
  return bytes
}

/** How much of the end of a file to read so that it includes the footer, unless the description is unusually long. */
export function usualFooterBytes(fileBytes: number, blockBytes: number): number {
  const table = checksumTableBytes(fileBytes, blockBytes)
  return Math.min(fileBytes, alignUp(table + usualDescriptionBytes + trailerBytes, pageBytes))
}

/** The size of the footer that ends in `tail`, which tells how much of the file to read; or why there is none. */
export function footerBytesOf(tail: Buffer, { batch, file, bytes }: FileAddress): number | string {
  if (tail.length < trailerBytes) return 'the file is too short'
  const trailer = tail.subarray(tail.length - trailerBytes)
  if (trailer.readUInt32LE(0) !== magic || trailer.readUInt32LE(4) !== version) return 'the file has no trailer'
  if (trailer.toString('hex', 32, 48) !== batch || trailer.toString('hex', 48, 64) !== file)
    return 'the file is another one'
  const payloadBytes = trailer.readUIntLE(8, 6)
  const blockBytes = trailer.readUInt32LE(20)
  if (blockBytes === 0) return 'the trailer is damaged'
  const table = checksumTableBytes(payloadBytes, blockBytes)
  const footerBytes = alignUp(trailer.readUInt32LE(16) + table + trailerBytes, pageBytes)
  return alignUp(payloadBytes, pageBytes) + footerBytes === bytes ? footerBytes : 'the trailer is damaged'
}

/** Parses the footer from exactly its bytes; or says why it cannot be trusted. */
export function readFooter(bytes: Buffer): Footer | string {
  const trailer = bytes.subarray(bytes.length - trailerBytes)
  if (trailer.readUInt32LE(checksumAt) !== crc32c(bytes.subarray(0, bytes.length - 4))) return 'the footer is damaged'
  const payloadBytes = trailer.readUIntLE(8, 6)
  const blockBytes = trailer.readUInt32LE(20)
  const tableAt = trailer.readUInt32LE(16)
  return {
    payloadBytes,
    blockBytes,
    writtenMs: trailer.readUIntLE(24, 6),
    description: Buffer.from(bytes.subarray(0, tableAt)),
    table: Buffer.from(bytes.subarray(tableAt, tableAt + checksumTableBytes(payloadBytes, blockBytes))),
  }
}
