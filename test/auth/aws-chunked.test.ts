/** Bodies in the aws-chunked encoding: what decodes, and what is refused with which code. */
import { describe, expect, it } from 'vitest'
import { AwsChunkedDecoder, parseTrailerNames } from '../../src/auth/aws-chunked.ts'
import { limits } from '../../src/limits.ts'
import {
  amz,
  chunks,
  crc,
  crcName,
  data,
  decode,
  decoderFor,
  modes,
  signedBody,
  signedTrailerBody,
  signedUpload,
} from './chunked-upload.ts'
import { codeOf, refusal } from './refusal.ts'
import { encodeSignedChunks, encodeUnsignedChunks } from './signer.ts'

describe.each(modes)('%s', (_, body, options, trailers) => {
  it.each([1, 2, 3, 89, 8192, Number.MAX_SAFE_INTEGER])('decode when they come %d bytes at a time', (pieces) => {
    expect(decode(body, { ...options, pieces })).toEqual({ data, trailers })
  })

  it('are views of what was pushed, not copies', () => {
    for (const piece of decoderFor(options).push(body)) expect(piece.buffer).toBe(body.buffer)
  })

  it.each([1, 3, 4, 20, 100, 9000])('are incomplete without their last %d bytes', (missing) => {
    expect(codeOf(() => decode(body.subarray(0, -missing), options))).toBe('IncompleteBody')
  })

  it('are refused when nothing came', () => {
    expect(codeOf(() => decode('', options))).toBe('IncompleteBody')
  })

  it('are refused when more follows', () => {
    expect(['MalformedTrailerError', 'IncompleteBody']).toContain(
      codeOf(() => decode(Buffer.concat([body, Buffer.from('x')]), options)),
    )
    const decoder = decoderFor(options)
    decoder.push(body)
    decoder.finish()
    expect(codeOf(() => decoder.push(Buffer.from('\r\n')))).toBe('IncompleteBody')
  })

  it.each([
    [data.length - 1, 'IncompleteBody'],
    [data.length + 1, 'IncompleteBody'],
    [0, 'IncompleteBody'],
  ])('are refused when %d bytes were announced', (decodedLength, code) => {
    expect(codeOf(() => decode(body, { ...options, decodedLength }))).toBe(code)
  })

  it('hold an empty body too', () => {
    const empty = options.signed
      ? encodeSignedChunks([], amz.seed, options.trailerNames && { prefix: 'x-amz-', entries: crc })
      : encodeUnsignedChunks([], crc)
    expect(decode(empty, { ...options, decodedLength: 0 }).data).toHaveLength(0)
  })

  it('stay refused once refused', () => {
    const decoder = decoderFor(options)
    expect(codeOf(() => decoder.push(Buffer.from('zz\r\n')))).toBe('IncompleteBody')
    expect(codeOf(() => decoder.push(body))).toBe('IncompleteBody')
    expect(codeOf(() => decoder.finish())).toBe('IncompleteBody')
  })
})

describe('chunks', () => {
  const unsigned = (body: string, decodedLength: number) =>
    decode(body, { signed: false, decodedLength, trailerNames: [] })

  it('of the spec’s own dialect sign their trailers under its prefix', () => {
    const { seed, signatures } = signedUpload('x-store-', true)
    const name = 'x-store-checksum-crc32'
    const body = encodeSignedChunks(chunks, seed, { prefix: 'x-store-', entries: [[name, 'DUoRhQ==']] })
    const decoder = new AwsChunkedDecoder({
      decodedLength: data.length,
      signatures: signatures(),
      trailerNames: [name],
      prefix: 'x-store-',
    })
    expect(Buffer.concat(decoder.push(body))).toEqual(data)
    decoder.finish()
    expect([...decoder.trailers]).toEqual([[name, 'DUoRhQ==']])
  })

  it('may have sizes in capitals and with leading zeros, and be of any size when unsigned', () => {
    expect(unsigned('00A\r\n0123456789\r\n1\r\nx\r\n0\r\n\r\n', 11).data.toString()).toBe('0123456789x')
  })

  it.each([
    ['no size', '\r\n'],
    ['a negative size', '-1\r\n'],
    ['a size with a sign', '+1\r\nx\r\n'],
    ['a size in another notation', '0x1\r\nx\r\n'],
    ['a size with spaces', ' 1\r\nx\r\n'],
    ['a bare line feed', '1\nx\n0\n\n'],
    ['a size beyond what was announced', 'ffffffffffffffff\r\n'],
    ['a size beyond 64 bits', '10000000000000001\r\n'],
    ['data without a line end', '1\r\nxy\r\n'],
    ['data with half a line end', '1\r\nx\n'],
    ['a signature where none was declared', '1;chunk-signature=00\r\nx\r\n'],
    ['a header without end', 'a'.repeat(limits.awsChunkHeaderBytesMax + 1)],
  ])('with %s are IncompleteBody', (_, body) => {
    expect(codeOf(() => unsigned(body, 1))).toBe('IncompleteBody')
  })

  it('that are signed must not be small, but for the last', () => {
    const small = encodeSignedChunks([data.subarray(0, 8191), data.subarray(8191)], amz.seed)
    expect(codeOf(() => decode(small, { signed: true }))).toBe('InvalidChunkSizeError')
  })

  it.each([
    ['no signature', (text: string) => text.replace(/;chunk-signature=[0-9a-f]+/, ''), 'IncompleteBody'],
    [
      'an empty signature',
      (text: string) => text.replace(/signature=[0-9a-f]+/, 'signature='),
      'SignatureDoesNotMatch',
    ],
    [
      'a signature in capitals',
      (text: string) => text.replace(/signature=[0-9a-f]+/, (s) => `signature=${s.slice(10).toUpperCase()}`),
      'SignatureDoesNotMatch',
    ],
    [
      'the last digit of a signature changed',
      (text: string) =>
        text.replace(/(signature=[0-9a-f]{63})(.)/, (_, head, digit) => head + (digit === '0' ? '1' : '0')),
      'SignatureDoesNotMatch',
    ],
    ['another extension', (text: string) => text.replace(';chunk-signature', ';chunk-sig'), 'IncompleteBody'],
    ['two extensions', (text: string) => text.replace(';chunk-signature', ';a=b;chunk-signature'), 'IncompleteBody'],
  ])('that are signed, with %s, are refused', (_, change, code) => {
    const body = Buffer.from(change(signedBody.toString('latin1')), 'latin1')
    expect(codeOf(() => decode(body, { signed: true }))).toBe(code)
  })

  it('cannot change places, be left out or come twice', () => {
    const [a, b, c] = [0, 1, 2].map((i) => {
      const header = 4 + ';chunk-signature='.length + 64 + 2
      const at = i * (header + 8192 + 2)
      return signedBody.subarray(at, i === 2 ? signedBody.indexOf('\r\n0;') + 2 : at + header + 8192 + 2)
    }) as [Buffer, Buffer, Buffer]
    const end = signedBody.subarray(signedBody.indexOf('\r\n0;') + 2)
    expect(decode(Buffer.concat([a, b, c, end]), { signed: true }).data).toEqual(data)
    for (const [order, decodedLength] of [
      [[b, a, c, end], data.length],
      [[a, c, end], data.length - 8192],
      [[a, a, c, end], data.length],
      [[a, b, end], 16_384],
      [[end], 0],
    ] as const) {
      expect(codeOf(() => decode(Buffer.concat(order), { signed: true, decodedLength }))).toBe('SignatureDoesNotMatch')
    }
  })

  it('cannot be those of another request', () => {
    const other = signedUpload('x-store-', true)
    const body = encodeSignedChunks(chunks, other.seed)
    expect(codeOf(() => decode(body, { signed: true }))).toBe('SignatureDoesNotMatch')
  })
})

describe('trailers', () => {
  const names = [crcName]
  const withTail = (tail: string) => `1\r\nx\r\n0\r\n${tail}`
  const unsigned = (tail: string, trailerNames: readonly string[] = names) =>
    decode(withTail(tail), { signed: false, decodedLength: 1, trailerNames }).trailers

  it.each([
    ['as the AWS SDKs write them', `${crcName}:DUoRhQ==\r\n\r\n`],
    ['as minio-go writes them', `${crcName}:DUoRhQ==\n\r\n\r\n`],
    ['with capitals and spaces', 'X-Amz-Checksum-CRC32: \tDUoRhQ== \r\n\r\n'],
  ])('are read %s', (_, tail) => {
    expect(unsigned(tail)).toEqual({ [crcName]: 'DUoRhQ==' })
  })

  it('that are signed are read as minio-go writes them', () => {
    const text = signedTrailerBody.toString('latin1').replace('==\r\n', '==\n\r\n')
    expect(decode(Buffer.from(text, 'latin1'), { signed: true, trailerNames: names }).data).toEqual(data)
  })

  it('may be none when none was announced', () => {
    expect(unsigned('\r\n', [])).toEqual({})
  })

  it.each([
    ['missing', '\r\n', names],
    ['one of two missing', `${crcName}:a\r\n\r\n`, [crcName, 'x-amz-other']],
    ['not announced', `${crcName}:a\r\nx-amz-other:b\r\n\r\n`, names],
    ['twice', `${crcName}:a\r\n${crcName}:a\r\n\r\n`, names],
    ['signed though not declared so', `${crcName}:a\r\nx-amz-trailer-signature:00\r\n\r\n`, names],
  ])('that are %s are MalformedTrailerError', (_, tail, trailerNames) => {
    expect(refusal(() => unsigned(tail, trailerNames))).toMatchObject({
      code: 'MalformedTrailerError',
      message:
        'The request contained trailing data that was not well-formed or did not conform to our published schema.',
    })
  })

  it.each([
    ['without colon', `${crcName}\r\n\r\n`],
    ['without name', `:a\r\n\r\n`],
    ['with a space in the name', `${crcName} :a\r\n\r\n`],
    ['folded', `${crcName}:a\r\n b\r\n\r\n`],
    ['with a carriage return inside', `${crcName}:a\rb\r\n\r\n`],
  ])('that are %s are IncompleteBody', (_, tail) => {
    expect(refusal(() => unsigned(tail, names))).toMatchObject({
      code: 'IncompleteBody',
      message: 'The request body terminated unexpectedly',
    })
  })

  it('may end without an empty line, as S3 takes them', () => {
    expect(unsigned(`${crcName}:a\r\n`)).toEqual({ [crcName]: 'a' })
    expect(unsigned('', [])).toEqual({})
    const signed = signedTrailerBody.subarray(0, -2)
    expect(decode(signed, { signed: true, trailerNames: names }).data).toEqual(data)
  })

  it.each([
    ['', 'MalformedTrailerError'],
    [`${crcName}:a`, 'IncompleteBody'],
    [`${crcName}:a\r`, 'IncompleteBody'],
    [`${crcName}:a\n`, 'IncompleteBody'],
    [`${crcName}:${'a'.repeat(limits.trailerBytesMax)}`, 'IncompleteBody'],
  ])('that do not end are refused', (tail, code) => {
    expect(codeOf(() => unsigned(tail))).toBe(code)
  })

  it.each([
    ['another value', (text: string) => text.replace('DUoRhQ==', 'DUoRhA=='), 'SignatureDoesNotMatch'],
    [
      'another signature',
      (text: string) => text.replace(/(trailer-signature:)[0-9a-f]{64}/, `$1${'0'.repeat(64)}`),
      'SignatureDoesNotMatch',
    ],
    [
      'the signature of a chunk',
      (text: string) => text.replace(/(trailer-signature:)[0-9a-f]{64}/, `$1${/=([0-9a-f]{64})/.exec(text)?.[1]}`),
      'SignatureDoesNotMatch',
    ],
    ['no signature', (text: string) => text.replace(/x-amz-trailer-signature:[0-9a-f]{64}\r\n/, ''), 'IncompleteBody'],
    [
      'two signatures',
      (text: string) => text.replace(/x-amz-trailer-signature:[0-9a-f]{64}\r\n/, '$&$&'),
      'MalformedTrailerError',
    ],
    [
      'the signature under the other prefix',
      (text: string) => text.replace('x-amz-trailer', 'x-store-trailer'),
      'MalformedTrailerError',
    ],
  ])('that are signed, with %s, are refused', (_, change, code) => {
    const body = Buffer.from(change(signedTrailerBody.toString('latin1')), 'latin1')
    expect(codeOf(() => decode(body, { signed: true, trailerNames: names }))).toBe(code)
  })

  it('are announced in a list of names', () => {
    expect(parseTrailerNames(' X-Amz-Checksum-CRC32 ,, x-b')).toEqual([crcName, 'x-b'])
    expect(parseTrailerNames(undefined)).toEqual([])
  })
})
