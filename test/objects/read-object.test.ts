/** Reading objects that are made of parts. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Backend } from '../../src/commits/backend.ts'
import { limits } from '../../src/limits.ts'
import { openObject } from '../../src/objects/read-object.ts'
import { ShardMissing } from '../../src/stores/shard-store.ts'
import { patternBytes } from '../support/seeded.ts'
import { begin, complete, read, scope, sendPart, storeWithBucket } from './fixture.ts'

const big = patternBytes(1, limits.partBytesMin)

describe('an object of parts', () => {
  it('gives any range, whatever the parts', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const data = [patternBytes(1, limits.partBytesMin), patternBytes(2, limits.partBytesMin), patternBytes(3, 1000)]
    const parts = await Promise.all(data.map((bytes, i) => sendPart(made, upload, i + 1, bytes)))
    await complete(made, upload, parts)
    const whole = Buffer.concat(data)
    const border = fc.constantFrom(0, limits.partBytesMin, 2 * limits.partBytesMin, whole.length)
    const at = fc
      .oneof(
        fc.nat(whole.length),
        fc.tuple(border, fc.integer({ min: -2, max: 2 })).map(([near, by]) => near + by),
      )
      .map((offset) => Math.min(whole.length, Math.max(0, offset)))
    await fc.assert(
      fc.asyncProperty(at, at, async (a, b) => {
        const [start, end] = [Math.min(a, b), Math.max(a, b)]
        expect((await read(made, 'key', [start, end])).equals(whole.subarray(start, end))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('whose later part moves between being looked up and opened is read to its end', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const parts = [await sendPart(made, upload, 1, big), await sendPart(made, upload, 2, 'end')]
    await complete(made, upload, parts)
    const { blobs } = made.backend
    let opened = 0
    const backend: Backend = {
      ...made.backend,
      blobs: {
        ...blobs,
        read: (manifest, range) =>
          ++opened === 2 ? Promise.reject(new ShardMissing('moved')) : blobs.read(manifest, range),
      },
    }
    const { body } = await openObject(backend, scope, { key: 'key' }, ({ size }) => ({
      range: { start: 0, end: size },
    }))
    expect((await body.read()).equals(Buffer.concat([big, Buffer.from('end')]))).toBe(true)
    expect(opened).toBe(3)
  })

  it('that is cancelled while its next part is being opened gives no more', async () => {
    const made = await storeWithBucket()
    const upload = await begin(made, 'key')
    const parts = [await sendPart(made, upload, 1, big), await sendPart(made, upload, 2, 'end')]
    await complete(made, upload, parts)
    const { blobs } = made.backend
    let opened = 0
    const backend: Backend = {
      ...made.backend,
      blobs: {
        ...blobs,
        read: (manifest, range) => {
          if (++opened === 2) body.cancel()
          return blobs.read(manifest, range)
        },
      },
    }
    const { body } = await openObject(backend, scope, { key: 'key' }, ({ size }) => ({
      range: { start: 0, end: size },
    }))
    let given = 0
    const drained = body.drain((chunk) => {
      given += chunk.length
    })
    await expect(drained).rejects.toThrow('cancelled')
    expect(given).toBe(big.length)
  })
})
