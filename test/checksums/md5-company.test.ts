/** MD5s of whole bodies that wait for each other, against those of the runtime. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { md5InCompany } from '../../src/checksums/md5-company.ts'
import { patternBytes } from '../support/seeded.ts'

const reference = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex')

const sizes = fc.oneof(
  fc.constantFrom(0, 1, 55, 56, 64, 4096, 32_767, 32_768, 65_536, 262_144),
  fc.integer({ min: 0, max: 100_000 }),
)

describe('MD5s of small bodies', () => {
  it('are those of the bodies, however many have come in a turn', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sizes, { minLength: 1, maxLength: 30 }), async (turn) => {
        const bodies = turn.map((size, seed) => patternBytes(seed, size))
        const md5s = await Promise.all(bodies.map(md5InCompany))
        expect(md5s.map((md5) => md5.toString('hex'))).toEqual(bodies.map(reference))
      }),
      { numRuns: 60 },
    )
  })

  it('are computed turn by turn, also of bodies that come while others are answered', async () => {
    const bodies = Array.from({ length: 9 }, (_, seed) => patternBytes(seed, 5_000 + seed))
    const afterwards: Promise<Buffer>[] = []
    const first = bodies.slice(0, 5).map(async (bytes, i) => {
      const md5 = await md5InCompany(bytes)
      const next = bodies[5 + i]
      if (next !== undefined) afterwards.push(md5InCompany(next))
      return md5
    })
    const md5s = [...(await Promise.all(first)), ...(await Promise.all(afterwards))]
    expect(md5s.map((md5) => md5.toString('hex'))).toEqual(bodies.map(reference))
  })
})
