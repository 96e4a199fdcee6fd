/** Which checksum is asked of incoming data, from headers, trailers and what the client announced; and how one is answered. */
import { describe, expect, it } from 'vitest'
import { bytesSource } from '../../../src/byte-source.ts'
import { checksumAlgorithms } from '../../../src/checksums/checksums.ts'
import type { RequestBody } from '../../../src/contract/fields.ts'
import {
  type ChecksumInputs,
  checkDigestForm,
  checksumElements,
  checksumOutputs,
  incomingData,
  listedChecksum,
  objectChecksumHeader,
} from '../../../src/operations/objects/data-digests.ts'
import { outcomeOf } from '../../objects/fixture.ts'
import { type Algorithm, algorithms, referenceChecksum } from '../../support/wire-checksums.ts'

function body(trailers: Record<string, string | undefined> = {}, text = 'hello'): RequestBody {
  return {
    ...bytesSource(Buffer.from(text)),
    trailerNames: Object.keys(trailers),
    trailer: (name) => trailers[name],
  }
}

/** Of no bytes, by algorithm. */
const ofNothing = Object.fromEntries(algorithms.map((name) => [name, referenceChecksum(name, '')])) as Record<
  Algorithm,
  string
>
const inputName = {
  CRC32: 'checksumCrc32',
  CRC32C: 'checksumCrc32c',
  CRC64NVME: 'checksumCrc64nvme',
  MD5: 'checksumMd5',
  SHA1: 'checksumSha1',
  SHA256: 'checksumSha256',
  SHA512: 'checksumSha512',
  XXHASH128: 'checksumXxhash128',
  XXHASH3: 'checksumXxhash3',
  XXHASH64: 'checksumXxhash64',
} as const

interface Row {
  what: string
  input?: ChecksumInputs
  trailers?: Record<string, string | undefined>
  presigned?: boolean
  text?: string
  /** Algorithm and value demanded, `nothing`, or the error's code. */
  expected: string
}

const crc = 'NhCmhg=='
const rows: Row[] = [
  { what: 'nothing said', expected: 'nothing' },
  { what: 'a header', input: { checksumCrc32: crc }, expected: `CRC32 ${crc}` },
  { what: 'a trailer', trailers: { 'checksum-crc32': crc }, expected: `CRC32 ${crc}` },
  { what: 'a trailer that does not come', trailers: { 'checksum-crc32': undefined }, expected: 'CRC32 undefined' },
  { what: 'a trailer of something else', trailers: { 'meta-x': 'y' }, expected: 'nothing' },
  {
    what: 'a header and a trailer',
    input: { checksumCrc32: crc },
    trailers: { 'checksum-sha1': 'x' },
    expected: 'InvalidRequest',
  },
  {
    what: 'one as header and as trailer',
    input: { checksumCrc32: crc },
    trailers: { 'checksum-crc32': crc },
    expected: 'InvalidRequest',
  },
  { what: 'two headers', input: { checksumCrc32: crc, checksumSha1: ofNothing.SHA1 }, expected: 'InvalidRequest' },
  { what: 'two trailers', trailers: { 'checksum-crc32': crc, 'checksum-crc32c': crc }, expected: 'InvalidRequest' },
  {
    what: 'a header that is announced',
    input: { checksumCrc32: crc, sdkChecksumAlgorithm: 'CRC32' },
    expected: `CRC32 ${crc}`,
  },
  {
    what: 'a trailer that is announced',
    input: { sdkChecksumAlgorithm: 'CRC32' },
    trailers: { 'checksum-crc32': crc },
    expected: `CRC32 ${crc}`,
  },
  {
    what: 'a header that is announced as another',
    input: { checksumCrc32: crc, sdkChecksumAlgorithm: 'SHA1' },
    expected: 'InvalidRequest',
  },
  { what: 'an announcement and nothing', input: { sdkChecksumAlgorithm: 'CRC32' }, expected: 'InvalidRequest' },
  { what: 'a header that is no base64', input: { checksumCrc32: 'nonsense' }, expected: 'InvalidRequest' },
  { what: 'a header of another length', input: { checksumCrc32: ofNothing.SHA1 }, expected: 'InvalidRequest' },
  { what: 'an empty header', input: { checksumCrc32: '' }, expected: 'InvalidRequest' },
  {
    what: 'the sum of nothing in a presigned URL',
    input: { checksumCrc32: ofNothing.CRC32 },
    presigned: true,
    expected: 'nothing',
  },
  {
    what: 'the sum of nothing in headers',
    input: { checksumCrc32: ofNothing.CRC32 },
    expected: `CRC32 ${ofNothing.CRC32}`,
  },
  {
    what: 'the sum of nothing, presigned, of nothing',
    input: { checksumCrc32: ofNothing.CRC32 },
    presigned: true,
    text: '',
    expected: `CRC32 ${ofNothing.CRC32}`,
  },
  { what: 'another sum in a presigned URL', input: { checksumCrc32: crc }, presigned: true, expected: `CRC32 ${crc}` },
  {
    what: 'a broken sum in a presigned URL',
    input: { checksumCrc32: 'AAAA' },
    presigned: true,
    expected: 'InvalidRequest',
  },
]

describe('incoming data with', () => {
  it.each(rows)('$what: $expected', ({ input = {}, trailers, presigned = false, text, expected }) => {
    const decide = () => incomingData(body(trailers, text), input, presigned)
    const code = outcomeOf(decide)
    if (code !== 'ok') return expect(code).toBe(expected)
    const { checksum } = decide()
    expect(checksum === undefined ? 'nothing' : `${checksum.algorithm} ${checksum.expected()}`).toBe(expected)
  })

  it('an MD5 carries it on', () => {
    expect(incomingData(body(), { contentMd5: 'XUFAKrxLKna5cZ2REBfFkg==' }, false).contentMd5).toBe(
      'XUFAKrxLKna5cZ2REBfFkg==',
    )
  })

  it('a trailer asks for it only when it is wanted: it follows the data', () => {
    const trailers: Record<string, string | undefined> = { 'checksum-crc32': undefined }
    const { checksum } = incomingData(body(trailers), {}, false)
    trailers['checksum-crc32'] = crc
    expect(checksum?.expected()).toBe(crc)
  })
})

describe.each(checksumAlgorithms)('%s', (algorithm) => {
  const value = ofNothing[algorithm]
  const name = inputName[algorithm]

  it('is taken from its own header and trailer', () => {
    expect(objectChecksumHeader({ [name]: value })).toEqual({ algorithm, value })
    const trailer = `checksum-${algorithm.toLowerCase()}`
    expect(incomingData(body({ [trailer]: value }), {}, false).checksum?.algorithm).toBe(algorithm)
  })

  it('of nothing, signed into a URL that then brings data, is taken as none', () => {
    expect(incomingData(body(), { [name]: value }, true).checksum).toBeUndefined()
  })

  it.each([
    ['its own form', value, 'ok'],
    ['no padding', value.replaceAll('=', ''), 'InvalidRequest'],
    ['a space', ` ${value}`, 'InvalidRequest'],
    ['two sums', value + value, 'InvalidRequest'],
    ['a part count', `${value}-1`, 'InvalidRequest'],
  ])('has %s', (_what, sent, expected) => {
    expect(outcomeOf(() => checkDigestForm({ algorithm, value: sent }))).toBe(expected)
  })

  it.each([
    ['the number of parts behind it', `${value}-12`, 'ok'],
    ['two numbers behind it', `${value}-1-2`, 'InvalidRequest'],
    ['something else behind it', `${value}-x`, 'InvalidRequest'],
    ['no padding', value.replaceAll('=', ''), 'InvalidRequest'],
  ])('of an object of parts has %s', (_what, sent, expected) => {
    expect(outcomeOf(() => objectChecksumHeader({ [name]: sent }))).toBe(expected)
  })

  it('is answered in its own header and element, and read from that element', () => {
    const element = `Checksum${algorithm}`
    const checksum = { algorithm, value, type: 'FULL_OBJECT' as const }
    expect(checksumOutputs(checksum)).toEqual({ [name]: value, checksumType: 'FULL_OBJECT' })
    expect(checksumElements(checksum)).toEqual({ [element]: value, ChecksumType: 'FULL_OBJECT' })
    expect(listedChecksum({ [element]: value })).toEqual({ algorithm, value })
  })
})

it('no checksum is answered by no field', () => {
  expect(checksumOutputs(undefined)).toEqual({})
  expect(checksumElements(undefined)).toEqual({})
  expect(listedChecksum({})).toBeUndefined()
  expect(objectChecksumHeader({})).toBeUndefined()
})
