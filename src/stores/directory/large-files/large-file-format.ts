/** The bytes of a large shard's own file (ADR 0003): payload from 0, zeros to a page, then a footer that ends the file. Pure. */
import { crc32c } from '@node-rs/crc32'
import { alignUp, pageBytes } from '../alignment.ts'
import { type BlockChecksum, type BlockChecksums, checksumTableBytes } from '../block-checksums.ts'
import type { FileAddress } from '../shard-ids.ts'

const magic = 0x666c4648 // 'HFlf'
const version = 2
const blockChecksums: Readonly<Record<number, BlockChecksum>> = { 1: 'crc32c', [version]: 'crc32' }
const trailerBytes = 96
const checksumAt = trailerBytes - 4
const usualDescriptionBytes = 2048

/** Ends the name of a file that is not complete yet. */
export const partialSuffix = '.part'

export interface Footer extends BlockChecksums {
  payloadBytes: number
  writtenMs: number
  description: Buffer
}

export type FileName = Pick<FileAddress, 'batch' | 'file'>

/**
 * Description, block checksums, zeros, trailer. The trailer names its own file, and its checksum covers the whole footer.
 * File = payload padded to a page + footer, and both are whole pages.
 */
export function buildFooter(name: FileName, footer: Omit<Footer, 'blockChecksum'>): Buffer {
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
  if (trailer.readUInt32LE(0) !== magic || blockChecksumOf(trailer) === undefined) return 'the file has no trailer'
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
  const blockChecksum = blockChecksumOf(trailer)
  if (blockChecksum === undefined) return 'the footer is of a later version'
  const payloadBytes = trailer.readUIntLE(8, 6)
  const blockBytes = trailer.readUInt32LE(20)
  const tableAt = trailer.readUInt32LE(16)
  return {
    payloadBytes,
    blockBytes,
    blockChecksum,
    writtenMs: trailer.readUIntLE(24, 6),
    description: Buffer.from(bytes.subarray(0, tableAt)),
    table: Buffer.from(bytes.subarray(tableAt, tableAt + checksumTableBytes(payloadBytes, blockBytes))),
  }
}

function blockChecksumOf(trailer: Buffer): BlockChecksum | undefined {
  return blockChecksums[trailer.readUInt32LE(4)]
}
