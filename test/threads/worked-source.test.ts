import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ByteSource } from '../../src/byte-source.ts'
import { plainBytes, SegmentDamaged, sealedBytes } from '../../src/encryption/segments.ts'
import type { WorkOrder } from '../../src/threads/byte-work.ts'
import { noThreads, type Threads } from '../../src/threads/threads.ts'
import { checkedSource, type WorkedSource, workedSource } from '../../src/threads/worked-source.ts'
import { workerThreads } from '../../src/threads/worker-threads.ts'
import { patternBytes } from '../support/seeded.ts'
import { drainSlowly, inPieces, KiB, key, md5, openedBy, sealedBy, sealedPart } from './bodies.ts'

const engines = [
  ['worker threads', () => workerThreads(2)],
  ['no threads', noThreads],
] as const

describe.each(engines)('with %s', (_, open) => {
  let threads: Threads
  beforeAll(() => {
    threads = open()
  })
  afterAll(() => threads.close())
  afterEach(() => expect(threads.chunks.taken).toBe(0))

  const sealing = (source: ByteSource): WorkedSource =>
    workedSource(threads, source, { digests: ['MD5', 'SHA256'], cipher: { kind: 'seal', key, size: source.size } })
  const digesting = (source: ByteSource): WorkedSource => workedSource(threads, source, { digests: ['MD5'] })

  test('digests and seals whatever pieces the body comes in', async () => {
    const sizes = fc.oneof(fc.constantFrom(0, 1, 8 * plainBytes, 16 * plainBytes), fc.nat(20 * plainBytes))
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1000, max: 900 * KiB }), async (size, bytesMax) => {
        const plain = patternBytes(size, size)
        const source = sealing(inPieces(plain, { seed: size, bytesMax }))
        const sealed = await drainSlowly(source)
        expect(sealed.equals(await sealedBy(plain))).toBe(true)
        expect(source.size).toBe(sealed.length)
        expect(source.digests()[0]?.toString('hex')).toBe(md5(plain))
        expect(source.digests()[1]).toHaveLength(32)
      }),
      { numRuns: 20 },
    )
  })

  test('opens any range, from shared memory in place and from other memory', async () => {
    const size = 40 * plainBytes + 77
    const plain = patternBytes(3, size)
    const sealed = await sealedBy(plain)
    const pieces = fc.record({ bytesMax: fc.constantFrom(70_000, sealedBytes, 1024 * KiB), shared: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.nat(size - 1), fc.nat(size - 1), pieces, async (a, b, options) => {
        const range = { start: Math.min(a, b), end: Math.max(a, b) + 1 }
        const body = inPieces(Buffer.from(sealedPart(sealed, range, size)), options)
        const source = workedSource(threads, body, { digests: [], cipher: { kind: 'open', key, size, range } })
        const whole = await drainSlowly(source)
        expect(whole.equals(plain.subarray(range.start, range.end))).toBe(true)
        expect(whole.equals(await openedBy(sealed, range, size))).toBe(true)
        expect(source.size).toBe(whole.length)
      }),
      { numRuns: 20 },
    )
  })

  test('several bodies at once, read whole', async () => {
    const bodies = Array.from({ length: 6 }, (_, seed) => patternBytes(seed, 1_000_000 + seed))
    const sources = bodies.map((body, seed) => digesting(inPieces(body, { seed, bytesMax: 64 * KiB })))
    const whole = await Promise.all(sources.map((source) => source.read()))
    expect(whole.every((bytes, i) => bytes.equals(bodies[i] ?? Buffer.alloc(0)))).toBe(true)
    expect(sources.map((source) => source.digests()[0]?.toString('hex'))).toEqual(bodies.map(md5))
  })

  test('a body that is held to its SHA-256 gives only the digests that were asked for, and rejects at its end', async () => {
    const bytes = patternBytes(9, 1_500_000)
    const sha256 = createHash('sha256').update(bytes).digest()
    const claimed = (check: (sha256: Buffer) => void, digests: WorkOrder['digests']) =>
      checkedSource(threads, { source: inPieces(bytes, { bytesMax: 64 * KiB }), check }, { digests })
    for (const digests of [['MD5'], ['MD5', 'SHA256']] as const) {
      const checked: Buffer[] = []
      const source = claimed((computed) => checked.push(computed), digests)
      expect((await drainSlowly(source)).equals(bytes)).toBe(true)
      expect(checked).toEqual([sha256])
      expect(source.digests().map((digest) => digest.length)).toEqual(digests.map((name) => (name === 'MD5' ? 16 : 32)))
      const refuse = (): never => {
        throw new Error('another SHA-256')
      }
      await expect(drainSlowly(claimed(refuse, digests))).rejects.toThrow('another SHA-256')
      await expect(claimed(refuse, digests).read()).rejects.toThrow('another SHA-256')
    }
  })

  const body = patternBytes(5, 5_000_000)

  test('digests are unknown before the end', async () => {
    const source = digesting(inPieces(body, { bytesMax: 64 * KiB }))
    expect(() => source.digests()).toThrow('before all bytes were read')
  })

  test('rejects as its sink does, which gets nothing more', async () => {
    let calls = 0
    const source = digesting(inPieces(body, { bytesMax: 64 * KiB }))
    const draining = source.drain(async () => {
      if (++calls === 2) throw new Error('no room')
    })
    await expect(draining).rejects.toThrow('no room')
    expect(calls).toBe(2)
  })

  test('rejects as its body does, and not before a sink under way is done', async () => {
    let inSink = 0
    const source = sealing(inPieces(body, { bytesMax: 64 * KiB, failAfter: 3_000_000 }))
    const draining = source.drain(async () => {
      inSink++
      await new Promise((resolve) => setImmediate(resolve))
      inSink--
    })
    await expect(draining).rejects.toThrow('the client is gone')
    expect(inSink).toBe(0)
  })

  test('damage rejects as SegmentDamaged, and nothing of that segment was given', async () => {
    const plain = patternBytes(6, 40 * plainBytes)
    const sealed = await sealedBy(plain)
    sealed[20 * sealedBytes + 9] = (sealed[20 * sealedBytes + 9] ?? 0) ^ 1
    for (const shared of [true, false]) {
      const range = { start: 0, end: plain.length }
      const cipher = { kind: 'open', key, size: plain.length, range } as const
      const source = workedSource(threads, inPieces(sealed, { bytesMax: sealedBytes, shared }), { digests: [], cipher })
      let given = 0
      const draining = source.drain((chunk) => {
        given += chunk.length
      })
      await expect(draining).rejects.toThrow(new SegmentDamaged(20))
      expect(given).toBeLessThanOrEqual(20 * plainBytes)
    }
  })

  test('a slow sink keeps few chunks from others', async () => {
    let most = 0
    const source = sealing(inPieces(body, { bytesMax: 64 * KiB }))
    await source.drain(async () => {
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
      most = Math.max(most, threads.chunks.taken)
    })
    expect(most).toBeLessThanOrEqual(3)
  })
})

test('a body whose threads are closed is let go of', async () => {
  const threads = workerThreads(1)
  await threads.close()
  let cancelled = false
  const body: ByteSource = {
    ...inPieces(Buffer.alloc(10), { bytesMax: 10 }),
    cancel: () => {
      cancelled = true
    },
  }
  await expect(workedSource(threads, body, { digests: [] }).read()).rejects.toThrow('closed')
  expect(cancelled).toBe(true)
})
