/** Checksums on PutObject, in every place where a client may send one. Values come from implementations of the tests' own. */
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { type Algorithm, algorithms, referenceChecksum, referenceDigest } from '../support/wire-checksums.ts'
import type { Ask, ChunkedPayload, Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'

const text = 'The checksum of this text is known.'
const header = (algorithm: Algorithm): string => `checksum-${algorithm.toLowerCase()}`

/** How a checksum travels; what else may be wrong with it is the same for all. */
const ways: readonly [way: string, send: (checksums: Record<string, string>) => Partial<Ask>][] = [
  ['as a header', (vendor) => ({ vendor, body: text })],
  ['as a header beside an unsigned body', (vendor) => ({ vendor, body: text, payload: 'unsigned' })],
  ['in a presigned URL', (vendor) => ({ vendor, body: text, presigned: true })],
  ['as a trailer of signed chunks', (trailers) => ({ payload: trailing('signed-trailer', trailers) })],
  ['as a trailer of unsigned chunks', (trailers) => ({ payload: trailing('unsigned-trailer', trailers) })],
  ['as a header before signed chunks', (vendor) => ({ vendor, payload: { mode: 'signed', chunks: [text] } })],
]

const trailing = (mode: ChunkedPayload['mode'], trailers: Record<string, string>): ChunkedPayload => ({
  mode,
  chunks: [text],
  trailers,
})

const isStored =
  (algorithm: Algorithm) =>
  async (wire: Wire): Promise<void> => {
    const { body, headers } = await wire.must({ method: 'GET', key: 'a', vendor: { 'checksum-mode': 'ENABLED' } })
    expect(body.toString()).toBe(text)
    expect(headers.get(wire.style.prefix + header(algorithm))).toBe(referenceChecksum(algorithm, text))
    expect(headers.get('content-encoding')).toBeUndefined()
  }
const isNotThere = async (wire: Wire): Promise<void> => {
  expect((await wire.ask({ method: 'HEAD', key: 'a' })).status).toBe(404)
}

const rows: Row[] = algorithms.flatMap((algorithm) =>
  ways.flatMap(([way, send]): Row[] => {
    const ask = (value: string): Ask => ({ method: 'PUT', key: 'a', ...send({ [header(algorithm)]: value }) })
    const right = referenceChecksum(algorithm, text)
    const digest = referenceDigest(algorithm, Buffer.from(text))
    return [
      {
        it: `accepts the right ${algorithm} ${way}, answers it and keeps it`,
        status: 200,
        ask: ask(right),
        vendor: { [header(algorithm)]: right, 'checksum-type': 'FULL_OBJECT' },
        afterwards: isStored(algorithm),
      },
      {
        it: `refuses a wrong ${algorithm} ${way}`,
        ...refusal('BadDigest', {}),
        ask: ask(referenceChecksum(algorithm, 'another text')),
        afterwards: isNotThere,
      },
      ...[
        ['a shorter digest', digest.subarray(1).toString('base64')],
        ['a longer digest', Buffer.concat([digest, digest.subarray(0, 1)]).toString('base64')],
        ['hex', digest.toString('hex')],
      ].map(
        ([what, value = '']): Row => ({
          it: `refuses ${what} for ${algorithm} ${way}`,
          ...refusal('InvalidRequest', {}),
          ask: ask(value),
          afterwards: isNotThere,
        }),
      ),
    ]
  }),
)

const crc32 = referenceChecksum('CRC32', text)
const sha1 = referenceChecksum('SHA1', text)
const put = (more: Partial<Ask>): Ask => ({ method: 'PUT', key: 'a', ...more })

const together: Row[] = [
  ...ways.map(
    ([way, send]): Row => ({
      it: `refuses two checksums ${way}, although both are right`,
      ...refusal('InvalidRequest', {}),
      ask: put(send({ 'checksum-crc32': crc32, 'checksum-sha1': sha1 })),
      afterwards: isNotThere,
    }),
  ),
  {
    it: 'refuses one as a header and another as a trailer',
    ...refusal('InvalidRequest', {}),
    ask: put({ vendor: { 'checksum-sha1': sha1 }, payload: trailing('unsigned-trailer', { 'checksum-crc32': crc32 }) }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses one as a header and the same as a trailer',
    ...refusal('InvalidRequest', {}),
    ask: put({
      vendor: { 'checksum-crc32': crc32 },
      payload: trailing('unsigned-trailer', { 'checksum-crc32': crc32 }),
    }),
    afterwards: isNotThere,
  },
  ...algorithms.map(
    (algorithm): Row => ({
      it: `accepts sdk-checksum-algorithm beside ${algorithm}`,
      status: 200,
      ask: put({
        body: text,
        vendor: { 'sdk-checksum-algorithm': algorithm, [header(algorithm)]: referenceChecksum(algorithm, text) },
      }),
      vendor: { [header(algorithm)]: referenceChecksum(algorithm, text), 'checksum-type': 'FULL_OBJECT' },
    }),
  ),
  {
    it: 'refuses sdk-checksum-algorithm that announces another',
    ...refusal('InvalidRequest', {}),
    ask: put({ body: text, vendor: { 'sdk-checksum-algorithm': 'CRC32', 'checksum-sha1': sha1 } }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses sdk-checksum-algorithm without a checksum, as the promised check would be dropped',
    ...refusal('InvalidRequest', {}),
    ask: put({ body: text, vendor: { 'sdk-checksum-algorithm': 'CRC32' } }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses sdk-checksum-algorithm that it does not know',
    ...refusal('InvalidRequest', {}),
    ask: put({ body: text, vendor: { 'sdk-checksum-algorithm': 'MD4' } }),
    afterwards: isNotThere,
  },
  {
    it: 'takes the checksum of nothing in a presigned URL for none, which is how an SDK signs before it has the body',
    status: 200,
    ask: put({
      body: text,
      presigned: true,
      vendor: { 'checksum-crc32': 'AAAAAA==', 'sdk-checksum-algorithm': 'CRC32' },
    }),
    vendor: {},
  },
  {
    it: 'refuses the checksum of nothing as a header',
    ...refusal('BadDigest', {}),
    ask: put({ body: text, vendor: { 'checksum-crc32': 'AAAAAA==' } }),
    afterwards: isNotThere,
  },
]

const throughSdk: Row[] = algorithms
  .filter((algorithm) => algorithm !== 'CRC64NVME')
  .flatMap((algorithm): Row[] => {
    const element = `Checksum${algorithm}`
    const input = { Bucket: 'wire', Key: 'a', Body: text }
    const value = referenceChecksum(algorithm, text)
    const ask = (sent: string) => put({ body: text, vendor: { [header(algorithm)]: sent } })
    return [
      {
        it: `agrees with the SDK on ${algorithm}`,
        status: 200,
        ask: ask(value),
        vendor: { [header(algorithm)]: value, 'checksum-type': 'FULL_OBJECT' },
        sdk: sdk(
          PutObjectCommand,
          { ...input, ChecksumAlgorithm: algorithm },
          { [element]: value, ChecksumType: 'FULL_OBJECT' },
        ),
      },
      {
        it: `refuses a wrong ${algorithm} of the SDK`,
        ...refusal('BadDigest'),
        ask: ask(referenceChecksum(algorithm, 'x')),
        sdk: sdk(PutObjectCommand, { ...input, [element]: referenceChecksum(algorithm, 'x') }),
      },
    ]
  })

wireTests('PutObject', [...rows, ...together, ...throughSdk])
