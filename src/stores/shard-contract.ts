/** Assertions that every store makes about its arguments. A failure is a bug of the caller, never a client's fault. */
import { limits } from '../limits.ts'
import type { ShardRange } from './shard-store.ts'

export function checkRange({ start, end }: ShardRange, payloadBytes: number): void {
  if (start >= 0 && start <= end && end <= payloadBytes) return
  throw new RangeError(`bytes ${start} to ${end} of a shard with ${payloadBytes}`)
}

export function checkedDescription(description: Buffer): Buffer {
  if (description.length <= limits.shardDescriptionBytesMax) return description
  throw new RangeError(`a description of ${description.length} bytes`)
}
