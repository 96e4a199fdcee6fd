/** Copies into shared memory give the same bytes wherever source and target begin. */
import { describe, expect, it } from 'vitest'
import { copyToShared } from '../src/shared-copy.ts'
import { patternBytes } from './support/seeded.ts'

const sizes = [0, 1, 1023, 1024, 65_536, 65_537, 200_003]
const offsets = [0, 1, 3, 7, 8, 13]

describe.each(sizes)('a copy of %i bytes', (bytes) => {
  it.each(offsets)('from offset %i is whole and touches nothing beside it', (sourceOffset) => {
    for (const targetOffset of offsets) {
      const memory = Buffer.alloc(sourceOffset + bytes + 16)
      patternBytes(bytes, bytes).copy(memory, sourceOffset)
      const target = Buffer.from(new SharedArrayBuffer(targetOffset + bytes + 16))
      target.fill(0xee)
      const source = memory.subarray(sourceOffset)
      expect(copyToShared(source, target, targetOffset, 0, bytes)).toBe(bytes)
      expect(target.subarray(targetOffset, targetOffset + bytes).equals(patternBytes(bytes, bytes))).toBe(true)
      const around = Buffer.concat([target.subarray(0, targetOffset), target.subarray(targetOffset + bytes)])
      expect(around.every((byte) => byte === 0xee)).toBe(true)
    }
  })
})
