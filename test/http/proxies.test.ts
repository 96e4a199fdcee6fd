/** Behind proxies: what a request says of its client, and under which Hosts its signature may be made. */
import { afterEach, describe, expect, it } from 'vitest'
import { bytesSource } from '../../src/byte-source.ts'
import { defineOperation } from '../../src/operations/context.ts'
import {
  type HeaderPair,
  presign,
  type RequestToSign,
  type SignedRequest,
  sign,
  signStreaming,
} from '../support/signer.ts'
import { presignVersion2, signVersion2 } from '../support/signer-version2.ts'
import { putObject } from './echo-operations.ts'
import { type Fixture, type FixtureOptions, key, startFixture } from './fixture.ts'

/** Answers what an operation is told of who asks, and for what. */
const getObject = defineOperation({
  name: 'GetObject',
  method: 'GET',
  target: 'object',
  permission: [],
  authentication: 'anonymous allowed',
  summary: '',
  input: {},
  output: {},
  outputBody: { kind: 'stream' },
  errors: [],
  handle: async ({ bucket, key: objectKey, resourceUrl: url, customerKeysMayTravel: keys, conditionValue }) => {
    const told = {
      path: `${bucket}/${objectKey}`,
      url,
      keys,
      from: conditionValue('aws:SourceIp'),
      secure: conditionValue('aws:SecureTransport'),
    }
    return { body: bytesSource(Buffer.from(JSON.stringify(told))) }
  },
})

let fixture: Fixture
const start = async (options: FixtureOptions): Promise<void> => {
  fixture = await startFixture([getObject, putObject], options)
}
afterEach(() => fixture.close())

const path = '/b/k'

/** As a proxy passes it on: with headers of its own, and the Host that it likes. */
function passedOn(signed: SignedRequest, headers: readonly HeaderPair[], host?: string): SignedRequest {
  const kept = signed.headers.filter(([name]) => host === undefined || name.toLowerCase() !== 'host')
  return { ...signed, headers: [...(host === undefined ? [] : [['Host', host] as HeaderPair]), ...kept, ...headers] }
}

async function told(signed: SignedRequest): Promise<unknown> {
  const { code, body } = await fixture.sendSigned(signed)
  return code === '' ? JSON.parse(body.toString()) : code
}

const signedFor = (host: string, request: Partial<RequestToSign> = {}): SignedRequest =>
  sign({ method: 'GET', path, host, ...request }, { key })
const unsigned = (host: string): SignedRequest => ({
  method: 'GET',
  target: path,
  headers: [['Host', host]],
  body: Buffer.alloc(0),
})

const byProxy: HeaderPair[] = [
  ['X-Forwarded-For', '192.0.2.66, 198.51.100.7'],
  ['X-Forwarded-Proto', 'https'],
]

describe('who asks', () => {
  it('is whom a trusted proxy names, for conditions, for the log and for URLs', async () => {
    await start({ trustedProxies: ['127.0.0.0/8'] })
    expect(await told(passedOn(signedFor('s3.test'), byProxy))).toEqual({
      path: 'b/k',
      url: 'https://s3.test/b/k',
      keys: true,
      from: '198.51.100.7',
      secure: 'true',
    })
    expect(fixture.logs).toMatchObject([{ remote: '198.51.100.7' }])
  })

  it('is the peer where it is not trusted, whatever it says', async () => {
    await start({ trustedProxies: ['10.0.0.0/8'] })
    expect(await told(passedOn(signedFor('s3.test'), [...byProxy, ['X-Forwarded-Host', 'b.s3.test']]))).toEqual({
      path: 'b/k',
      url: 'http://s3.test/b/k',
      keys: true,
      from: '127.0.0.1',
      secure: 'false',
    })
    expect(fixture.logs).toMatchObject([{ remote: '127.0.0.1' }])
  })

  it('is the peer where nobody can read what a trusted proxy says', async () => {
    await start({ trustedProxies: ['127.0.0.1'] })
    expect(await told(passedOn(signedFor('s3.test'), [['X-Forwarded-For', 'unknown']]))).toMatchObject({
      from: '127.0.0.1',
      secure: 'false',
    })
  })

  it('sent its keys in the open where it came to the proxy without TLS', async () => {
    await start({ trustedProxies: ['127.0.0.1'] })
    const plain = passedOn(signedFor('s3.test'), [['X-Forwarded-Proto', 'http']])
    expect(await told(plain)).toMatchObject({ keys: false, secure: 'false' })
  })

  it('may send them all the same where the operator says so', async () => {
    await start({ trustedProxies: ['127.0.0.1'], allowCustomerKeysOverHttp: true })
    const plain = passedOn(signedFor('s3.test'), [['X-Forwarded-Proto', 'http']])
    expect(await told(plain)).toMatchObject({ keys: true })
  })
})

describe('a proxy that changes the Host', () => {
  const inner = 'inner:9000'

  it('breaks signatures as long as the server knows no other name', async () => {
    await start({})
    expect(await told(passedOn(signedFor('s3.example.com'), [], inner))).toBe('SignatureDoesNotMatch')
  })

  it.each([
    ['headers', () => signedFor('s3.example.com')],
    ['URLs', () => presign({ method: 'GET', host: 's3.example.com', path }, { key })],
    ['the name with a port', () => signedFor('other.example:8443')],
  ])('leaves signatures that are made for a public endpoint good: %s', async (_, signed) => {
    await start({ publicEndpoints: ['https://s3.example.com', 'https://other.example:8443'] })
    expect(await told(passedOn(signed(), [], inner))).toMatchObject({
      path: 'b/k',
      url: 'https://s3.example.com/b/k',
    })
  })

  it('leaves signatures of chunks good', async () => {
    await start({ publicEndpoints: ['https://s3.example.com'] })
    const streamed = signStreaming(
      { method: 'PUT', host: 's3.example.com', path },
      { key, mode: 'signed', chunks: ['chunk'] },
    )
    expect((await fixture.sendSigned(passedOn(streamed, [], inner))).body.toString()).toBe('chunk')
  })

  it('leaves signatures for the Host that it sends good', async () => {
    await start({ publicEndpoints: ['https://s3.example.com'] })
    expect(await told(signedFor(inner))).toMatchObject({ path: 'b/k', url: 'https://s3.example.com/b/k' })
  })

  it('does not make a signature for any other Host good', async () => {
    await start({ publicEndpoints: ['https://s3.example.com'] })
    expect(await told(passedOn(signedFor('evil.example.com'), [], inner))).toBe('SignatureDoesNotMatch')
    expect(await told(passedOn(signedFor('b.s3.example.com', { path: '/k' }), [], inner))).toBe('SignatureDoesNotMatch')
  })

  it('can not give a signature for one bucket to another', async () => {
    await start({ publicEndpoints: ['https://s3.test'], domains: ['s3.test'] })
    const signed = signedFor('s3.test', { path: '/b/k' })
    // Addressed by Host, the same path would mean the bucket `a` and the key `b/k`.
    expect(await told(passedOn(signed, [], 'a.s3.test'))).toBe('SignatureDoesNotMatch')
    expect(await told(passedOn(signedFor('a.s3.test'), [], 's3.test'))).toBe('SignatureDoesNotMatch')
    expect(await told(passedOn(signedFor('a.s3.test'), [], 'b.s3.test'))).toBe('SignatureDoesNotMatch')
  })

  it('may keep the bucket in it', async () => {
    await start({ publicEndpoints: ['https://s3.test'], domains: ['s3.test', 'inner'] })
    expect(await told(passedOn(signedFor('photos.s3.test', { path: '/k' }), [], 'photos.inner:9000'))).toMatchObject({
      path: 'photos/k',
      url: 'https://photos.s3.test/k',
    })
  })

  it.each([
    ['version 4', () => signedFor('photos.s3.test', { path: '/k' })],
    [
      'version 2 in the URL',
      () =>
        presignVersion2(
          { method: 'GET', host: 'photos.s3.test', path: '/k' },
          { key, expires: Math.floor(Date.now() / 1000) + 60, hostBucket: 'photos' },
        ),
    ],
    [
      'version 2 in the header',
      () =>
        signVersion2(
          { method: 'GET', host: 'photos.s3.test', path: '/k' },
          { key, hostBucket: 'photos', nowMs: Date.now() },
        ),
    ],
  ])('may say in a header of its own which it was: %s', async (_, signed) => {
    await start({ trustedProxies: ['127.0.0.1'], domains: ['s3.test'], sigv2: 'all' })
    const passed = passedOn(signed(), [['X-Forwarded-Host', 'photos.s3.test']], inner)
    expect(await told(passed)).toMatchObject({ path: 'photos/k', url: 'http://photos.s3.test/k' })
  })

  it('is not believed to have changed it where it is not trusted', async () => {
    await start({ trustedProxies: ['10.0.0.1'], domains: ['s3.test'] })
    const passed = passedOn(
      signedFor('photos.s3.test', { path: '/k' }),
      [['X-Forwarded-Host', 'photos.s3.test']],
      inner,
    )
    expect(await told(passed)).toBe('SignatureDoesNotMatch')
  })

  it('that passes on what a client says of it does not get the client another bucket', async () => {
    await start({ trustedProxies: ['127.0.0.1'], domains: ['s3.test'] })
    const passed = passedOn(signedFor('a.s3.test', { path: '/k' }), [['X-Forwarded-Host', 'b.s3.test']])
    expect(await told(passed)).toBe('SignatureDoesNotMatch')
  })

  it('changes nothing for a request without a signature', async () => {
    await start({ publicEndpoints: ['https://s3.test'], domains: ['s3.test'] })
    expect(await told(unsigned('photos.s3.test'))).toMatchObject({ path: 'photos/b/k' })
    expect(await told(unsigned('inner'))).toMatchObject({ path: 'b/k' })
  })
})
