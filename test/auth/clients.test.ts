/** Requests as real clients sign them: the AWS SDK by header, presigned and with trailers; minio-js presigned. */
import { Readable } from 'node:stream'
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { Client as MinioClient } from 'minio'
import { describe, expect, it } from 'vitest'
import { AwsChunkedDecoder, parseTrailerNames } from '../../src/auth/aws-chunked.ts'
import { openCredentials } from '../../src/auth/credentials.ts'
import { type SignedRequest, verify } from '../../src/auth/verify.ts'
import { createDigest } from '../../src/checksums/checksums.ts'
import { exampleAccounts, exampleKey } from './signer.ts'

interface SdkRequest {
  method: string
  path: string
  query: Record<string, string | null>
  headers: Record<string, string>
  body: unknown
}

const credentials = openCredentials(exampleAccounts)
const accept = (request: SignedRequest) => verify(request, credentials, Date.now())

let sent: SdkRequest | undefined
const handler = {
  handle: async (request: SdkRequest) => {
    sent = request
    return { response: { statusCode: 200, headers: {}, body: Readable.from([]) } }
  },
}
const client = new S3Client({
  region: 'eu-south-9',
  endpoint: 'http://s3.localhost:9000',
  forcePathStyle: true,
  credentials: exampleKey,
  requestHandler: handler,
})

const keys = ['plain.txt', 'a b+c/ä𝄞.txt', "!*'()~@:,;=&$%.txt", '//double/./and/../dots/', '100%25', '?query#hash']

/** As the client's HTTP library would write it. */
function asWritten({ method, path, query, headers }: SdkRequest): SignedRequest {
  const rawQuery = Object.entries(query).map(([name, value]) =>
    value === null ? encodeURIComponent(name) : `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  )
  const names = Object.keys(headers)
  return {
    method,
    rawPath: path,
    rawQuery: rawQuery.join('&'),
    rawHeaders: Object.entries(headers).flat(),
    names: names.map((name) => name.toLowerCase()),
    prefix: 'x-amz-',
  }
}

async function sentBy(send: () => Promise<unknown>): Promise<SdkRequest> {
  sent = undefined
  // The empty answer satisfies no deserializer; only the request matters.
  await send().catch(() => undefined)
  if (sent === undefined) throw new Error('the client sent nothing')
  return sent
}

/** Split by hand: the URL class would resolve `.` and `..`, which are parts of keys. */
function fromUrl(method: string, url: string): SignedRequest {
  const [, host = '', rawPath = '', rawQuery = ''] = /^http:\/\/([^/]+)([^?]*)\?(.*)$/.exec(url) ?? []
  return { method, rawPath, rawQuery, rawHeaders: ['Host', host], names: ['host'], prefix: 'x-amz-' }
}

describe('the AWS SDK for JavaScript', () => {
  it.each(keys)('signs a PUT and a GET of "%s"', async (Key) => {
    const put = await sentBy(() =>
      client.send(new PutObjectCommand({ Bucket: 'b', Key, Body: 'hello', Metadata: { a: 'one  two' } })),
    )
    expect(accept(asWritten(put)).payload).toMatchObject({ kind: 'sha256' })
    const get = await sentBy(() => client.send(new GetObjectCommand({ Bucket: 'b', Key, Range: 'bytes=0-1' })))
    expect(accept(asWritten(get)).principal.accountId).toBe('main')
  })

  it('signs a list with every kind of query value', async () => {
    const input = { Bucket: 'b', Prefix: 'a b+/ä', Delimiter: '/', StartAfter: '&=%', MaxKeys: 5 }
    expect(accept(asWritten(await sentBy(() => client.send(new ListObjectsV2Command(input))))).presigned).toBe(false)
  })

  it.each(keys)('presigns a GET and a PUT of "%s"', async (Key) => {
    const get = await getSignedUrl(
      client,
      new GetObjectCommand({ Bucket: 'b', Key, ResponseContentType: 'a/b; c="d"' }),
    )
    expect(accept(fromUrl('GET', get))).toMatchObject({ presigned: true, payload: { kind: 'unsigned' } })
    const put = await getSignedUrl(client, new PutObjectCommand({ Bucket: 'b', Key, Metadata: { a: 'b' } }), {
      expiresIn: 60,
    })
    expect(accept(fromUrl('PUT', put)).principal.accessKeyId).toBe(exampleKey.accessKeyId)
  })

  it('sends a stream in chunks with a trailer', async () => {
    const Body = Readable.from([Buffer.from('hello'), Buffer.from(' '), Buffer.from('world')])
    const put = await sentBy(() =>
      client.send(new PutObjectCommand({ Bucket: 'b', Key: 'k', Body, ContentLength: 11 })),
    )
    expect(accept(asWritten(put)).payload).toEqual({ kind: 'aws-chunked', signatures: undefined, trailer: true })
    const decoder = new AwsChunkedDecoder({
      decodedLength: Number(put.headers['x-amz-decoded-content-length']),
      signatures: undefined,
      trailerNames: parseTrailerNames(put.headers['x-amz-trailer']),
      prefix: 'x-amz-',
    })
    const data: Buffer[] = []
    for await (const chunk of put.body as Readable) data.push(...decoder.push(Buffer.from(chunk)))
    decoder.finish()
    const crc = createDigest('CRC32')
    crc.update(Buffer.from('hello world'))
    expect(Buffer.concat(data).toString()).toBe('hello world')
    expect([...decoder.trailers]).toEqual([['x-amz-checksum-crc32', crc.digest().toString('base64')]])
  })
})

describe('minio-js', () => {
  const minio = new MinioClient({
    endPoint: 's3.localhost',
    port: 9000,
    useSSL: false,
    accessKey: exampleKey.accessKeyId,
    secretKey: exampleKey.secretAccessKey,
    region: 'us-east-1',
  })

  it.each(keys)('presigns a GET of "%s"', async (key) => {
    const url = await minio.presignedGetObject('bucket', key, 600, { 'response-content-type': 'a/b; c' })
    expect(accept(fromUrl('GET', url)).presigned).toBe(true)
  })
})
