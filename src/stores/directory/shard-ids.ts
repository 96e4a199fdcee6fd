/** Shard ids of a directory store. They say where the bytes lie, so that no index is needed to find them. Pure. */
import { type ShardId, ShardMissing } from '../shard-store.ts'

/** A record in a segment: one positional read of `bytes` bytes at `offset`. */
export interface RecordAddress {
  kind: 'record'
  segment: string
  offset: number
  bytes: number
}

/** A file of its own; `bytes` is its length with the footer. */
export interface FileAddress {
  kind: 'file'
  batch: string
  file: string
  bytes: number
}

const recordId = /^s\.([0-9a-f]{32})\.([0-9a-z]{1,8})\.([0-9a-z]{1,5})$/
const fileId = /^f\.([0-9a-f]{32})\.([0-9a-f]{32})\.([0-9a-z]{1,10})$/

export function formatRecordId(segment: string, offset: number, bytes: number): ShardId {
  return `s.${segment}.${offset.toString(36)}.${bytes.toString(36)}`
}

export function formatFileId(batch: string, file: string, bytes: number): ShardId {
  return `f.${batch}.${file}.${bytes.toString(36)}`
}

/** Where the shard lies. An id that this store cannot have made names no shard: `ShardMissing`. */
export function parseShardId(id: ShardId): RecordAddress | FileAddress {
  const record = recordId.exec(id)
  if (record !== null) {
    const [, segment = '', offset = '', bytes = ''] = record
    return { kind: 'record', segment, offset: Number.parseInt(offset, 36), bytes: Number.parseInt(bytes, 36) }
  }
  const [match, batch = '', file = '', bytes = ''] = fileId.exec(id) ?? []
  if (match === undefined) throw new ShardMissing(id)
  return { kind: 'file', batch, file, bytes: Number.parseInt(bytes, 36) }
}
