/** Checksums on PutObject as SDKs announce and send them. What may be right or wrong with one, and where it travels: checksum-matrix.test.ts. */
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { type Algorithm, algorithms, md5Base64, md5Hex, referenceChecksum } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'

const text = 'The checksum of this text is known.'
const header = (algorithm: Algorithm): string => `checksum-${algorithm.toLowerCase()}`

const isNotThere = async (wire: Wire): Promise<void> => {
  expect((await wire.ask({ method: 'HEAD', key: 'a' })).status).toBe(404)
}

const crc32 = referenceChecksum('CRC32', text)
const put = (more: Partial<Ask>): Ask => ({ method: 'PUT', key: 'a', ...more })

const announced: Row[] = [
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
    it: 'refuses sdk-checksum-algorithm that it does not know',
    ...refusal('InvalidRequest', {}),
    ask: put({ body: text, vendor: { 'sdk-checksum-algorithm': 'MD4' } }),
    afterwards: isNotThere,
  },
  {
    it: 'takes Content-MD5 for an MD5 that is announced, as SDKs send it',
    status: 200,
    ask: put({ body: text, headers: { 'Content-MD5': md5Base64(text) }, vendor: { 'sdk-checksum-algorithm': 'MD5' } }),
    vendor: {},
    sdk: sdk(PutObjectCommand, { Bucket: 'wire', Key: 'a', Body: text, ChecksumAlgorithm: 'MD5' }),
  },
  {
    it: 'refuses an MD5 that is announced and not sent',
    ...refusal('InvalidRequest', {}),
    message:
      '{{prefix}}sdk-checksum-algorithm specified, but no corresponding {{prefix}}checksum-* or {{prefix}}trailer headers were found.',
    ask: put({ body: text, vendor: { 'sdk-checksum-algorithm': 'MD5' } }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses another checksum than the one that is announced',
    ...refusal('InvalidRequest', {}),
    message: 'Value for {{prefix}}sdk-checksum-algorithm header is invalid.',
    ask: put({ body: text, vendor: { 'sdk-checksum-algorithm': 'SHA1', [header('CRC32')]: crc32 } }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses a second checksum',
    ...refusal('InvalidRequest', {}),
    message: 'Expecting a single {{prefix}}checksum- header. Multiple checksum Types are not allowed.',
    ask: put({
      body: text,
      vendor: { [header('CRC32')]: crc32, [header('SHA1')]: referenceChecksum('SHA1', text) },
    }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses a header that holds no checksum',
    ...refusal('InvalidRequest', {}),
    message: 'Value for {{prefix}}checksum-crc32 header is invalid.',
    ask: put({ body: text, vendor: { [header('CRC32')]: 'BAD' } }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses a trailer that holds no checksum',
    ...refusal('InvalidRequest', {}),
    message: 'Value for {{prefix}}checksum-crc32 trailing header is invalid.',
    ask: put({
      payload: { mode: 'unsigned-trailer', chunks: [Buffer.from(text)], trailers: { 'checksum-crc32': 'BAD' } },
    }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses a wrong Content-MD5',
    ...refusal('BadDigest', { ExpectedDigest: md5Hex('another text'), CalculatedDigest: md5Base64(text) }),
    message: 'The Content-MD5 you specified did not match what we received.',
    ask: put({ body: text, headers: { 'Content-MD5': md5Base64('another text') } }),
    afterwards: isNotThere,
  },
  {
    it: 'refuses a Content-MD5 that is none',
    ...refusal('InvalidDigest', { 'Content-MD5': 'BAD' }),
    message: 'The Content-MD5 you specified was invalid.',
    ask: put({ body: text, headers: { 'Content-MD5': 'BAD' } }),
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
        // Of an MD5 the SDK makes Content-MD5, unless it is given the value.
        sdk: sdk(
          PutObjectCommand,
          { ...input, ...(algorithm === 'MD5' ? { [element]: value } : { ChecksumAlgorithm: algorithm }) },
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

wireTests('PutObject', [...announced, ...throughSdk])
