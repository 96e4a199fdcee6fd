/** Bodies are held to what was signed of them. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { awsChunkedSource, sha256Source } from '../../src/auth/payload.ts'
import { type ByteSource, bytesSource } from '../../src/byte-source.ts'
import { chunks, crcName, data, decoderFor, signedBody, unsignedBody } from './chunked-upload.ts'

const hex = createHash('sha256').update(data).digest('hex')

/** A source that gives `bytes` in pieces, and says whether it was cancelled. */
function inPieces(bytes: Buffer, size: number): ByteSource & { cancelled: boolean } {
  return {
    ...bytesSource(bytes),
    cancelled: false,
    drain: async (sink) => {
      for (let at = 0; at < bytes.length; at += size) await sink(bytes.subarray(at, at + size))
    },
    cancel() {
      this.cancelled = true
    },
  }
}

async function drained(source: ByteSource): Promise<Buffer> {
  const seen: Buffer[] = []
  await source.drain((chunk) => {
    seen.push(Buffer.from(chunk))
  })
  return Buffer.concat(seen)
}

describe('a body with a signed hash', () => {
  it('is given out when it has that hash', async () => {
    const source = () => sha256Source(inPieces(data, 999), hex)
    expect(source().size).toBe(data.length)
    expect(await drained(source())).toEqual(data)
    expect(await source().read()).toEqual(data)
  })

  it('is refused at its end when it has another', async () => {
    const changed = Buffer.from(data)
    changed[changed.length - 1] = 0
    const mismatch = { code: 'XAmzContentSHA256Mismatch', details: { ClientComputedContentSHA256: hex } }
    await expect(drained(sha256Source(inPieces(changed, 999), hex))).rejects.toMatchObject(mismatch)
    await expect(sha256Source(bytesSource(changed), hex).read()).rejects.toMatchObject(mismatch)
  })

  it('is refused when it is shorter, or empty', async () => {
    for (const bytes of [data.subarray(1), Buffer.alloc(0)]) {
      await expect(drained(sha256Source(bytesSource(bytes), hex))).rejects.toMatchObject({
        code: 'XAmzContentSHA256Mismatch',
      })
    }
  })
})

describe('a body in chunks', () => {
  const signed = () => decoderFor({ signed: true })

  it.each([1, 7, 100, 8192, 100_000])('is given out as data when it comes %d bytes at a time', async (size) => {
    expect(await drained(awsChunkedSource(inPieces(signedBody, size), signed()))).toEqual(data)
  })

  it('is read as data, and knows its trailers then', async () => {
    const decoder = decoderFor({ signed: false, trailerNames: [crcName] })
    const source = awsChunkedSource(bytesSource(unsignedBody), decoder)
    expect(source.size).toBe(data.length)
    expect(await source.read()).toEqual(data)
    expect(decoder.trailers.get(crcName)).toBe('DUoRhQ==')
  })

  it('waits for its sink before each further chunk', async () => {
    let busy = false
    const sizes: number[] = []
    await awsChunkedSource(bytesSource(signedBody), signed()).drain(async (chunk) => {
      expect(busy).toBe(false)
      busy = true
      await Promise.resolve()
      busy = false
      sizes.push(chunk.length)
    })
    expect(sizes).toEqual(chunks.map((chunk) => chunk.length))
  })

  it('rejects when it ends early, when it is forged, and when its sink throws', async () => {
    const forged = Buffer.from(signedBody)
    forged[200] = (forged[200] ?? 0) ^ 1
    const cases = [
      [signedBody.subarray(0, -1), 'IncompleteBody'],
      [forged, 'SignatureDoesNotMatch'],
    ] as const
    for (const [body, code] of cases) {
      await expect(drained(awsChunkedSource(inPieces(body, 500), signed()))).rejects.toMatchObject({ code })
      await expect(awsChunkedSource(bytesSource(body), signed()).read()).rejects.toMatchObject({ code })
    }
    const source = awsChunkedSource(bytesSource(signedBody), signed())
    await expect(source.drain(() => Promise.reject(new Error('disk full')))).rejects.toThrow('disk full')
  })

  it('cancels what it reads from', () => {
    const encoded = inPieces(signedBody, 10)
    awsChunkedSource(encoded, signed()).cancel()
    expect(encoded.cancelled).toBe(true)
  })
})
