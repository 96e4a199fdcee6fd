/** The signatures that AWS publishes for S3, down to each chunk and trailer, accepted as they stand. */
import { describe, expect, it } from 'vitest'
import { AwsChunkedDecoder } from '../../src/auth/aws-chunked.ts'
import { openCredentials } from '../../src/auth/credentials.ts'
import { type SignedRequest, type Verified, verify } from '../../src/auth/verify.ts'
import { createDigest } from '../../src/checksums/checksums.ts'
import { emptySha256, exampleAccounts, exampleTime, type Headers } from './signer.ts'

const credentials = openCredentials(exampleAccounts)

function accept(method: string, rawPath: string, rawQuery: string, headers: Headers): Verified {
  const names = headers.map(([name]) => name.toLowerCase())
  const request: SignedRequest = { method, rawPath, rawQuery, rawHeaders: headers.flat(), names, prefix: 'x-amz-' }
  return verify(request, credentials, exampleTime)
}

const authorization = (signedHeaders: string, signature: string) =>
  [
    'Authorization',
    `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=${signedHeaders},Signature=${signature}`,
  ] as const

const host = ['Host', 'examplebucket.s3.amazonaws.com'] as const
const date = ['x-amz-date', '20130524T000000Z'] as const
const emptyBody = ['x-amz-content-sha256', emptySha256] as const

// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
describe('a single chunk, signed in the header', () => {
  it('GET Object with a range', () => {
    const verified = accept('GET', '/test.txt', '', [
      host,
      authorization(
        'host;range;x-amz-content-sha256;x-amz-date',
        'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
      ),
      ['Range', 'bytes=0-9'],
      emptyBody,
      date,
    ])
    expect(verified).toEqual({
      principal: { accountId: 'main', displayName: 'Main', accessKeyId: 'AKIAIOSFODNN7EXAMPLE' },
      presigned: false,
      payload: { kind: 'sha256', hex: emptySha256 },
    })
  })

  it('PUT Object, its key sent encoded or not', () => {
    const hex = '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072'
    for (const path of ['/test%24file.text', '/test$file.text']) {
      const verified = accept('PUT', path, '', [
        host,
        ['Date', 'Fri, 24 May 2013 00:00:00 GMT'],
        date,
        authorization(
          'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
          '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
        ),
        ['x-amz-storage-class', 'REDUCED_REDUNDANCY'],
        ['x-amz-content-sha256', hex],
      ])
      expect(verified.payload).toEqual({ kind: 'sha256', hex })
    }
  })

  it.each([
    ['GET Bucket lifecycle', 'lifecycle', 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
    [
      'GET Bucket (list objects)',
      'max-keys=2&prefix=J',
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
  ])('%s', (_, query, signature) => {
    const headers = [host, date, emptyBody, authorization('host;x-amz-content-sha256;x-amz-date', signature)]
    expect(accept('GET', '/', query, headers).principal.accountId).toBe('main')
  })
})

// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
it('a presigned GET', () => {
  const query =
    'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404'
  expect(accept('GET', '/test.txt', query, [host])).toMatchObject({ presigned: true, payload: { kind: 'unsigned' } })
})

const data = Buffer.alloc(66_560, 'a')

function chunk(size: number, signature: string): Buffer {
  return Buffer.concat([
    Buffer.from(`${size.toString(16)};chunk-signature=${signature}\r\n`),
    data.subarray(0, size),
    Buffer.from(size === 0 ? '' : '\r\n'),
  ])
}

function decode({ payload }: Verified, body: Buffer, trailerNames: string[] | undefined): AwsChunkedDecoder {
  if (payload.kind !== 'aws-chunked') throw new Error(`unexpected payload: ${payload.kind}`)
  expect(payload.trailer).toBe(trailerNames !== undefined)
  const { signatures } = payload
  const decoder = new AwsChunkedDecoder({ decodedLength: data.length, signatures, trailerNames, prefix: 'x-amz-' })
  expect(Buffer.concat(decoder.push(body)).equals(data)).toBe(true)
  decoder.finish()
  return decoder
}

const chunkedHost = ['Host', 's3.amazonaws.com'] as const
const chunkedHeaders: Headers = [
  chunkedHost,
  date,
  ['x-amz-storage-class', 'REDUCED_REDUNDANCY'],
  ['Content-Encoding', 'aws-chunked'],
  ['x-amz-decoded-content-length', '66560'],
]

// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
it('a PUT in signed chunks', () => {
  const verified = accept('PUT', '/examplebucket/chunkObject.txt', '', [
    ...chunkedHeaders,
    ['Content-Length', '66824'],
    ['x-amz-content-sha256', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'],
    authorization(
      'content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class',
      '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
    ),
  ])
  const body = Buffer.concat([
    chunk(65_536, 'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648'),
    chunk(1024, '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497'),
    chunk(0, 'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9'),
    Buffer.from('\r\n'),
  ])
  expect(body).toHaveLength(66_824)
  decode(verified, body, undefined)
})

// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
it('a PUT in signed chunks with a signed trailer', () => {
  const verified = accept('PUT', '/examplebucket/chunkObject.txt', '', [
    ...chunkedHeaders,
    ['x-amz-trailer', 'x-amz-checksum-crc32c'],
    ['x-amz-content-sha256', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER'],
    authorization(
      'content-encoding;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class;x-amz-trailer',
      '106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e',
    ),
  ])
  const trailer =
    'x-amz-checksum-crc32c:sOO8/Q==\r\nx-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n'
  const body = Buffer.concat([
    chunk(65_536, 'b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2'),
    chunk(1024, '1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7'),
    chunk(0, '2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992'),
    Buffer.from(trailer),
  ])
  const decoder = decode(verified, body, ['x-amz-checksum-crc32c'])
  const crc = createDigest('CRC32C')
  crc.update(data)
  expect([...decoder.trailers]).toEqual([['x-amz-checksum-crc32c', crc.digest().toString('base64')]])
})
