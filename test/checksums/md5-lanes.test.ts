/** MD5s that are computed together, against those of the runtime. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { initialState, lanes, type Md5Kernel, md5Kernel, openKernel } from '../../src/checksums/md5-kernel.ts'
import { LaneMd5 } from '../../src/checksums/md5-lanes.ts'
import { assembled, blockBytes, type Md5Program } from '../../src/checksums/md5-program.ts'
import { known } from '../../src/known.ts'
import { patternBytes } from '../support/seeded.ts'

const reference = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex')
const opened = (): LaneMd5 => known(LaneMd5.open())

const sizes = fc.oneof(
  fc.constantFrom(0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 65_535, 65_536, 65_537, 131_072),
  fc.integer({ min: 0, max: 200_000 }),
)

describe('MD5s together', () => {
  it('are those of the messages, however their pieces come together', () => {
    fc.assert(
      fc.property(fc.array(fc.array(sizes, { maxLength: 5 }), { minLength: 1, maxLength: 14 }), (messages) => {
        const begun = messages.map((pieces, seed) => {
          const bytes = pieces.map((size, i) => patternBytes(seed * 31 + i, size))
          return { md5: opened(), left: [...bytes], whole: Buffer.concat(bytes) }
        })
        while (begun.some(({ left }) => left.length > 0)) {
          const turn = begun.flatMap(({ md5, left }) => {
            const bytes = left.shift()
            return bytes === undefined ? [] : [{ md5, bytes }]
          })
          LaneMd5.updateTogether(turn)
        }
        for (const { md5, whole } of begun) expect(md5.digest().toString('hex')).toBe(reference(whole))
      }),
      { numRuns: 150 },
    )
  })

  it('count more bits than fit into 32 bits', () => {
    const piece = patternBytes(1, 64 * 1024 * 1024)
    const [md5, other] = [opened(), createHash('md5')]
    for (let i = 0; i < 9; i++) {
      md5.update(piece)
      other.update(piece)
    }
    expect(md5.digest().toString('hex')).toBe(other.digest('hex'))
  })

  it('are divided among programs that are right, where others are wrong or are not to be had', () => {
    const messages = Array.from({ length: lanes }, (_, i) => patternBytes(i, 2 * blockBytes))
    const states = (kernel: Md5Kernel): Uint32Array[] => {
      const found = messages.map(initialState)
      kernel.take(found, messages, 2)
      return found
    }
    const right = states(known(md5Kernel()))
    const unable = (count: number): Md5Program => {
      if (count > 4) throw new Error('no such instruction')
      return assembled(count)
    }
    expect(states(known(openKernel(unable)))).toEqual(right)
    for (let wrong = 0; wrong < lanes; wrong++) {
      expect(states(known(openKernel((count) => (count === 1 ? assembled(count) : broken(count, wrong)))))).toEqual(
        right,
      )
    }
  })

  it('are computed by the runtime where not even one can be computed otherwise', () => {
    expect(openKernel((count) => broken(count, 0))).toBeUndefined()
    expect(
      openKernel(() => {
        throw new Error('no WebAssembly')
      }),
    ).toBeUndefined()
  })
})

/** A program that computes one bit of one message wrongly, if it has that many. */
function broken(count: number, wrong: number): Md5Program {
  const program = assembled(count)
  return {
    ...program,
    run(states, blocks) {
      program.run(states, blocks)
      const state = states[wrong]
      if (state !== undefined) state[3] = known(state[3]) ^ 1
    },
  }
}
