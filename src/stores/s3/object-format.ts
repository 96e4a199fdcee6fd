/**
 * The bytes and the names of a shard's object (ADR 0018): the payload in blocks, each followed by its checksum, then a footer. So any range takes one request, and the response
 * contains its own checksums. Every checksum also covers the name and the position, so that bytes of another object or another block never pass. Pure.
 */
import { crc32c } from '@node-rs/crc32'
import type { ShardId } from '../shard-store.ts'

/** Part of format 1, so it cannot be tuned. */
export const blockBytes = 64 * 1024
const checksumBytes = 4
export const frameBytes = blockBytes + checksumBytes

const magic = 0x316f4648 // 'HFo1'
export const trailerBytes = 20

export interface ShardName {
  batch: string
  shard: string
  payloadBytes: number
}

export const shardsPrefix = 'shards/'

const idPattern = /^o\.([0-9a-f]{32})\.([0-9a-f]{32})\.([0-9a-z]{1,10})$/
const keyPattern = /^shards\/([0-9a-f]{32})\/([0-9a-f]{32})\.([0-9a-z]{1,10})$/

export function batchPrefix(batch: string): string {
  return `${shardsPrefix}${batch}/`
}

export function shardKey({ batch, shard, payloadBytes }: ShardName): string {
  return `${batchPrefix(batch)}${shard}.${payloadBytes.toString(36)}`
}

export function shardId({ batch, shard, payloadBytes }: ShardName): ShardId {
  return `o.${batch}.${shard}.${payloadBytes.toString(36)}`
}

/** `undefined` when no store of this kind made the id. */
export function parseShardId(id: ShardId): ShardName | undefined {
  return nameOf(idPattern.exec(id))
}

/** `undefined` when the object is not a shard. */
export function parseShardKey(key: string): ShardName | undefined {
  return nameOf(keyPattern.exec(key))
}

function nameOf(match: RegExpExecArray | null): ShardName | undefined {
  const [, batch, shard, size] = match ?? []
  if (batch === undefined || shard === undefined || size === undefined) return undefined
  return { batch, shard, payloadBytes: Number.parseInt(size, 36) }
}

/** The object's length before its footer. For a multiple of `blockBytes`, also the offset of the block that begins there. */
export function framedBytes(payloadBytes: number): number {
  return payloadBytes + Math.ceil(payloadBytes / blockBytes) * checksumBytes
}

/** The start value of one shard's checksums. */
export function seedOf(name: ShardName): number {
  return crc32c(shardKey(name))
}

export function blockChecksum(block: Uint8Array, index: number, seed: number): number {
  const position = Buffer.alloc(checksumBytes)
  position.writeUInt32LE(index)
  return crc32c(block, crc32c(position, seed))
}

/** Description, then trailer: magic, size of the description, time, zeros, and a checksum of all of it. */
export function buildFooter(description: Buffer, writtenMs: number, seed: number): Buffer {
  const footer = Buffer.alloc(description.length + trailerBytes)
  description.copy(footer)
  const at = description.length
  footer.writeUInt32LE(magic, at)
  footer.writeUInt32LE(description.length, at + 4)
  footer.writeUIntLE(writtenMs, at + 8, 6)
  footer.writeUInt32LE(crc32c(footer.subarray(0, -checksumBytes), seed), footer.length - checksumBytes)
  return footer
}

/** The description; or why it cannot be trusted. */
export function readFooter(footer: Buffer, seed: number): { description: Buffer } | string {
  if (footer.length < trailerBytes) return 'the object is too short'
  const at = footer.length - trailerBytes
  if (footer.readUInt32LE(at) !== magic || footer.readUInt32LE(at + 4) !== at) return 'the object has no footer'
  if (footer.readUInt32LE(footer.length - checksumBytes) !== crc32c(footer.subarray(0, -checksumBytes), seed)) {
    return 'the footer is damaged'
  }
  return { description: footer.subarray(0, at) }
}
