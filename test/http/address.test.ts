import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encode, encodeKey, presign } from '../support/signer.ts'
import { echoOperations } from './echo-operations.ts'
import { type Fixture, key, startFixture, wireBytes } from './fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture(echoOperations, { domains: ['s3.test', 'test', 's3.localhost'] })
})
afterAll(() => fixture.close())

async function addressed(path: string, host = fixture.host): Promise<unknown> {
  const { code, body } = await fixture.send({ path, host })
  return code === '' ? JSON.parse(body.toString()) : code
}

describe('the bucket comes from the Host', () => {
  it.each([
    ['photos.s3.test', '/a/b', 'photos', 'a/b'],
    ['photos.s3.test:9000', '/a', 'photos', 'a'],
    ['PHOTOS.S3.Test', '/a', 'photos', 'a'],
    ['my.photos.s3.test', '/a', 'my.photos', 'a'],
    ['photos.localhost:9000', '/a', 'photos', 'a'],
    ['photos.s3.localhost', '/a', 'photos', 'a'],
    ['s3.localhost', '/photos/a', 'photos', 'a'],
    ['s3.test', '/photos/a', 'photos', 'a'],
    ['photos.test', '/a', 'photos', 'a'],
    ['localhost', '/photos/a', 'photos', 'a'],
    ['192.168.0.1:9000', '/photos/a', 'photos', 'a'],
    ['[::1]:9000', '/photos/a', 'photos', 'a'],
    ['[::1]', '/photos/a', 'photos', 'a'],
    ['nottest', '/photos/a', 'photos', 'a'],
    ['elsewhere.example', '/photos/a', 'photos', 'a'],
  ])('%s%s', async (host, path, bucket, objectKey) => {
    expect(await addressed(path, host)).toEqual({ bucket, key: objectKey })
  })

  it('an empty name before a domain is no bucket', async () => {
    expect(await addressed('/a', '.s3.test')).toBe('InvalidBucketName')
    expect(await addressed('//a')).toBe('InvalidBucketName')
  })
})

describe('the key is the path, decoded once and otherwise verbatim', () => {
  it.each([
    ['/b/a/../c', 'a/../c'],
    ['/b/./a', './a'],
    ['/b//a//', '/a//'],
    ['/b/%2e%2e%2fx', '../x'],
    ['/b/%252F', '%2F'],
    ['/b/a%2Fb', 'a/b'],
    ['/b/a+b', 'a+b'],
    ['/b/a%20b', 'a b'],
    ['/b/%00', '\u0000'],
    ['/b/a%0d%0ab', 'a\r\nb'],
    ['/b/%5C..%5C', '\\..\\'],
    ['/b/\\..\\', '\\..\\'],
    ['/b/%F0%9F%98%80', '😀'],
    ['/b%2Fa', 'a'],
  ])('%s', async (path, objectKey) => {
    expect(await addressed(path)).toEqual({ bucket: 'b', key: objectKey })
  })

  it.each(['/b/%', '/b/%4', '/b/%zz', '/b/%C0%AF', '/b/%ED%A0%80', '/b/%FF', '/b/a%E2%82'])(
    '%s is no URI',
    async (path) => {
      expect(await addressed(path)).toBe('InvalidURI')
    },
  )

  it('500 hostile keys arrive as they were meant', async () => {
    const piece = fc.constantFrom(
      '..',
      '.',
      '/',
      '//',
      '\\',
      '%',
      '%2e',
      '%2F',
      '+',
      ' ',
      '\u0000',
      '\n',
      '?',
      '#',
      '&',
      '=',
      '"',
      '<',
      ';',
      '\u2028',
      '\uffff',
      '😀',
      'é',
      'a',
    )
    const anyKey = fc.oneof(
      fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join('')),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
    )
    const keys = fc.sample(anyKey, { numRuns: 500, seed: 20_240_607 })
    const answers = await Promise.all(keys.map((name) => addressed(`/b/${encodeKey(name)}`)))
    expect(answers).toEqual(keys.map((name) => ({ bucket: 'b', key: name })))
  })

  it('of 1,024 bytes is allowed, and of one more is too long', async () => {
    const longest = `${'é'.repeat(511)}ab`
    expect(await addressed(`/b/${encodeKey(longest)}`)).toEqual({ bucket: 'b', key: longest })
    expect(await addressed(`/b/${encodeKey(`${longest}c`)}`)).toBe('KeyTooLongError')
  })
})

describe('the target may be a whole URL', () => {
  const get = (target: string, host: string): Promise<string> => {
    const signed = presign({ method: 'GET', host, path: '/b/k' }, { key })
    const query = signed.target.slice(signed.target.indexOf('?'))
    const bytes = wireBytes({
      ...signed,
      target: target + query,
      headers: [...signed.headers, ['Connection', 'close']],
    })
    return fixture.raw(bytes)
  }

  it('of the host that the Host header names', async () => {
    expect(await get('http://example.com:9000/b/k', 'example.com:9000')).toContain('"key":"k"')
  })

  it('but not of another', async () => {
    expect(await get('http://evil.com/b/k', 'example.com')).toContain('<Code>BadRequest</Code>')
  })
})

describe('parameters', () => {
  const prefixOf = async (rawQuery: string): Promise<string> => {
    const { body, code } = await fixture.sendSigned(await signedWith(rawQuery))
    return code === '' ? (/<Say>(.*)<\/Say>/s.exec(body.toString())?.[1] ?? '') : code
  }
  const signedWith = async (rawQuery: string) => {
    const signed = presign({ method: 'GET', host: fixture.host, path: '/b', query: parsed(rawQuery) }, { key })
    const [path, query = ''] = signed.target.split('?')
    const signature = query.split('&').filter((pair) => pair.startsWith('X-Amz-'))
    return { ...signed, target: `${path}?${[rawQuery, ...signature].join('&')}` }
  }
  // What any form decoder makes of it, and so what clients sign.
  const parsed = (rawQuery: string): [string, string][] => [...new URLSearchParams(rawQuery)]

  it.each([
    ['prefix=a+b', 'a b'],
    ['prefix=a%2Bb', 'a+b'],
    ['prefix=a%20b', 'a b'],
    ['prefix=a=b', 'a=b'],
    ['prefix=a%26b', 'a&amp;b'],
    ['prefix=', ''],
    ['%70refix=x', 'x'],
    ['prefix=%00', '&#x0;'],
    [`prefix=${encode('é😀')}`, 'é😀'],
    ['prefix=a&prefix=b', 'InvalidArgument'],
  ])('%s', async (rawQuery, expected) => {
    expect(await prefixOf(rawQuery)).toBe(expected)
  })

  it.each(['prefix=%', 'prefix=%zz'])('%s is no URI', async (rawQuery) => {
    const { code } = await fixture.sendSigned({ ...(await signedWith('prefix=a')), target: `/b?${rawQuery}` })
    expect(code).toBe('InvalidURI')
  })
})
