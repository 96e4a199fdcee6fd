/** No forgery of an aws-chunked body gets past `finish`, and nothing a client sends is a bug. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { S3Error } from '../../src/errors.ts'
import { amz, crc, crcName, type DecodeOptions, data, decode, decoderFor, modes } from './chunked-upload.ts'
import { encodeSignedChunks } from './signer.ts'

describe('any aws-chunked body', () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 30 })

  it('decodes the same however the network cuts it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...modes), cuts, ([, body, options], sizes) => {
        const decoder = decoderFor(options)
        const out: Buffer[] = []
        for (let at = 0, i = 0; at < body.length; i++) {
          const size = sizes[i % sizes.length] ?? 1
          out.push(...decoder.push(body.subarray(at, at + size)))
          at += size
        }
        decoder.finish()
        return Buffer.concat(out).equals(data)
      }),
    )
  })

  /** What a mutation gave: the data when it was accepted. Anything but an S3Error fails the test. */
  function decodeMutated(body: Buffer, options: DecodeOptions): ReturnType<typeof decode> | undefined {
    try {
      return decode(body, options)
    } catch (error) {
      if (error instanceof S3Error && error.status < 500) return undefined
      throw error
    }
  }

  it('that is signed and has a byte changed anywhere is refused, or means the same', () => {
    const signedModes = modes.filter(([, , { signed }]) => signed)
    const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(fc.constantFrom(...signedModes), place, fc.nat(255), ([, body, options, trailers], where, byte) => {
        const mutated = Buffer.from(body)
        mutated[Math.floor(where * body.length)] = byte
        const decoded = decodeMutated(mutated, options)
        if (decoded !== undefined) expect(decoded).toEqual({ data, trailers })
      }),
      { numRuns: 1500 },
    )
  })

  it('of framing only is refused or right for a change of every single byte of it', () => {
    const body = encodeSignedChunks([Buffer.from('a')], amz.seed, { prefix: 'x-amz-', entries: crc })
    const meaning = { data: Buffer.from('a'), trailers: Object.fromEntries(crc) }
    const options = { signed: true, decodedLength: 1, trailerNames: [crcName] }
    for (let at = 0; at < body.length; at++) {
      for (const byte of [
        0x00,
        0x0a,
        0x0d,
        0x20,
        0x30,
        0x41,
        0x61,
        0xff,
        (body[at] ?? 0) ^ 0x20,
        (body[at] ?? 0) ^ 1,
      ]) {
        const mutated = Buffer.from(body)
        mutated[at] = byte
        const decoded = decodeMutated(mutated, options)
        if (decoded !== undefined) expect(decoded).toEqual(meaning)
      }
    }
  })

  it('of garbage never throws anything but a client’s error', () => {
    const token = fc.constantFrom('0', '1', 'a', '\r\n', '\n', ';', 'chunk-signature=', crcName, ':', 'x', '\r\n\r\n')
    fc.assert(
      fc.property(fc.array(token, { maxLength: 40 }), fc.constantFrom(...modes), (tokens, [, , options]) => {
        decodeMutated(Buffer.from(tokens.join('')), { ...options, decodedLength: 1 })
      }),
      { numRuns: 1000 },
    )
  })
})
