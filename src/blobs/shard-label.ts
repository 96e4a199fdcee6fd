/** The label that a shard of an erasure code stores before its blob's description, so that the blob can be found and reassembled from shards alone. */
import { type Clock, randomId } from '../clock.ts'
import type { Coding } from './manifest.ts'

export interface ShardLabel extends Coding {
  /** Unique to the blob, and the same in all of its shards. */
  blobId: string
  index: number
}

/** No description of a whole blob begins like this. */
const mark = 0x01
const numbersAt = 17
const labelBytes = numbersAt + 13

/** Labels each shard of a blob. */
export function labelling(coding: Coding, clock: Clock): (index: number, description: Buffer) => Buffer {
  const blobId = randomId(clock)
  return (index, description) => labelled({ ...coding, blobId, index }, description)
}

export function labelled({ blobId, index, data, parity, unitBytes, size }: ShardLabel, description: Buffer): Buffer {
  const label = Buffer.alloc(labelBytes)
  label[0] = mark
  label.write(blobId, 1, 'hex')
  label.set([index, data, parity], numbersAt)
  label.writeUInt32BE(unitBytes, numbersAt + 3)
  label.writeUIntBE(size, numbersAt + 7, 6)
  return Buffer.concat([label, description])
}

/** `label`: absent when the shard is a whole copy. `description`: the blob's. */
export function readLabel(bytes: Buffer): { label: ShardLabel | undefined; description: Buffer } {
  if (bytes[0] !== mark || bytes.length < labelBytes) return { label: undefined, description: bytes }
  const [index = 0, data = 0, parity = 0] = bytes.subarray(numbersAt)
  return {
    label: {
      blobId: bytes.toString('hex', 1, numbersAt),
      index,
      data,
      parity,
      unitBytes: bytes.readUInt32BE(numbersAt + 3),
      size: bytes.readUIntBE(numbersAt + 7, 6),
    },
    description: bytes.subarray(labelBytes),
  }
}
