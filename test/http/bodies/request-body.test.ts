import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { crc32 } from '@node-rs/crc32'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { S3Error } from '../../../src/errors.ts'
import { type HeaderPair, sha256, sign, signStreaming } from '../../support/signer.ts'
import { bodyOperations, step, steps } from '../body-operations.ts'
import { echoOperations } from '../echo-operations.ts'
import { type Fixture, key, startFixture, wireBytes } from '../fixture.ts'

const idleBodyTimeoutMs = 1000
let fixture: Fixture
/** Its clients are cut soon. Only for those that are to be: on a busy machine others may stall as long. */
let impatient: Fixture
beforeAll(async () => {
  const others = bodyOperations.filter(({ name }) => name !== 'Download' && name !== 'Broken')
  fixture = await startFixture([...echoOperations, ...others])
  impatient = await startFixture([...echoOperations, ...others], { bounds: { idleBodyTimeoutMs } })
})
afterAll(async () => {
  await fixture.close()
  await impatient.close()
})

const put = { method: 'PUT', path: '/b/k' } as const
const base64Crc32 = (data: string): string => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(data))
  return bytes.toString('base64')
}

describe.each(['x-amz-', 'x-store-'] as const)('data in the %s dialect', (prefix) => {
  const request = () => ({ ...put, host: fixture.host })

  it.each([0, 1, 70_000, 3_000_000])('of %i bytes arrives as sent', async (size) => {
    const body = Buffer.alloc(size, 'ab')
    const { headers, body: echoed } = await fixture.send({ ...put, body }, { prefix })
    expect(headers['echo-size']).toBe(String(size))
    expect(echoed.equals(body)).toBe(true)
  })

  it.each(['signed', 'signed-trailer', 'unsigned-trailer'] as const)('in %s chunks is decoded', async (mode) => {
    const chunks = ['a'.repeat(9000), 'b'.repeat(8192), 'c']
    const data = chunks.join('')
    const trailers: HeaderPair[] = mode === 'signed' ? [] : [[`${prefix}checksum-crc32`, base64Crc32(data)]]
    const signed = signStreaming(request(), { key, prefix, mode, chunks, trailers })
    const { headers, body } = await fixture.sendSigned(signed)
    expect(body.toString()).toBe(data)
    expect(headers['echo-size']).toBe(String(data.length))
    if (mode !== 'signed') expect(headers[`${prefix}checksum-crc32`]).toBe(base64Crc32(data))
  })

  it('in chunks over chunked transfer is decoded', async () => {
    const signed = signStreaming(request(), { key, prefix, mode: 'signed', chunks: ['x'.repeat(10_000)] })
    const headers = signed.headers.filter(([name]) => name !== 'Content-Length')
    const { body } = await fixture.sendSigned({ ...signed, headers: [...headers, ['Transfer-Encoding', 'chunked']] })
    expect(body.toString()).toBe('x'.repeat(10_000))
  })

  it('in chunks without data is an empty object', async () => {
    const trailers: HeaderPair[] = [[`${prefix}checksum-crc32`, base64Crc32('')]]
    const signed = signStreaming(request(), { key, prefix, mode: 'unsigned-trailer', chunks: [], trailers })
    const { headers } = await fixture.sendSigned(signed)
    expect([headers['echo-size'], headers[`${prefix}checksum-crc32`]]).toEqual(['0', 'AAAAAA=='])
  })

  it('that is not what was signed is refused', async () => {
    const wrong = await fixture.send({ ...put, body: 'data' }, { prefix, payloadHash: sha256('other') })
    expect(wrong.code).toBe('XAmzContentSHA256Mismatch')
    const signed = signStreaming(request(), { key, prefix, mode: 'signed', chunks: ['data'] })
    signed.body[signed.body.indexOf('data')] = 0x44
    expect((await fixture.sendSigned(signed)).code).toBe('SignatureDoesNotMatch')
  })
})

it.each<[string, (head: string, body: string) => string[], number]>([
  ['with its head', (head, body) => [head + body], 1],
  ['after its head', (head, body) => [head, body], 1],
  ['in pieces', (head, body) => [head + body.slice(0, 3), body.slice(3, 9), body.slice(9)], 1],
  ['with the next request behind it', (head, body) => [head + body + head + body], 2],
])('a small body that comes %s arrives as sent', async (_, piecesOf, answers) => {
  const body = 'sixteen bytes of'
  const request = wireBytes(
    sign({ ...put, path: '/b/arrives', query: [['later', '']], host: fixture.host, body }, { key }),
  ).toString('latin1')
  const socket = fixture.connect()
  let received = ''
  const done = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      received += chunk
      if (received.split(body).length > answers) resolve()
    })
  })
  for (const piece of piecesOf(request.slice(0, -body.length), body)) {
    await new Promise((resolve) => socket.write(piece, resolve))
  }
  await done
  socket.destroy()
  expect(received.match(/HTTP\/1.1 200/g)).toHaveLength(answers)
  const { bytesIn } = await fixture.logged(({ path }) => path === '/b/arrives')
  expect(bytesIn).toBe(body.length)
})

describe('the length of data must be announced', () => {
  it('by nothing at all: 411', async () => {
    const signed = sign({ ...put, host: fixture.host, body: '' }, { key })
    const headers = signed.headers.filter(([name]) => name !== 'Content-Length')
    const answer = await fixture.raw(wireBytes({ ...signed, headers: [...headers, ['Connection', 'close']] }))
    expect(answer).toMatch(/^HTTP\/1.1 411 .*<Code>MissingContentLength<\/Code>/s)
  })

  it('by chunked transfer alone: 411', async () => {
    const signed = sign({ ...put, host: fixture.host, body: 'data' }, { key })
    const headers = signed.headers.filter(([name]) => name !== 'Content-Length')
    const answer = await fixture.sendSigned({ ...signed, headers: [...headers, ['Transfer-Encoding', 'chunked']] })
    expect([answer.status, answer.code]).toEqual([411, 'MissingContentLength'])
  })

  it.each(['', '-1', '1e3', '0x10'])('as a decoded length of "%s": 400', async (decodedLength) => {
    const signed = signStreaming({ ...put, host: fixture.host }, { key, mode: 'signed', chunks: ['a'], decodedLength })
    expect((await fixture.sendSigned(signed)).code).toBe('InvalidArgument')
  })
})

describe('a body that ends early', () => {
  const start = (at = fixture): Socket => {
    const signed = sign(
      { ...put, host: at.host, query: [['watch', '']], body: 'x'.repeat(1000) },
      { key, payloadHash: 'UNSIGNED-PAYLOAD' },
    )
    const socket = at.connect()
    socket.on('error', () => {})
    socket.write(wireBytes({ ...signed, body: Buffer.from('part of it') }))
    return socket
  }

  it.each(['closed', 'reset'])('because the client %s the connection rejects the drain at once', async (how) => {
    const failed = step('failed')
    const socket = start()
    await step('chunk')
    if (how === 'reset') socket.resetAndDestroy()
    else socket.destroy()
    const error = await failed
    expect(error).toBeInstanceOf(S3Error)
    expect(error).toMatchObject({ code: 'IncompleteBody' })
  })

  it('because the client closed its side is answered with IncompleteBody', async () => {
    const socket = start()
    await step('chunk')
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.end()
    await new Promise((resolve) => socket.on('close', resolve))
    expect(answer).toMatch(/^HTTP\/1.1 400 .*<Code>IncompleteBody<\/Code>/s)
  })

  it('because the client stalls is answered with RequestTimeout, and the connection ends', async () => {
    const socket = start(impatient)
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    await new Promise((resolve) => socket.on('close', resolve))
    expect(answer).toMatch(/^HTTP\/1.1 400 .*Connection: close.*<Code>RequestTimeout<\/Code>/s)
  })
})

it('time in which the server keeps the client waiting is no stall', async () => {
  const body = Buffer.alloc(300_000)
  const answer = impatient.send({ ...put, query: [['hold', '']], body }, { payloadHash: 'UNSIGNED-PAYLOAD' })
  await step('taken')
  // Longer than it takes until a stalled client is cut.
  await new Promise((resolve) => setTimeout(resolve, 1.5 * idleBodyTimeoutMs))
  steps.emit('release')
  expect((await answer).status).toBe(200)
})

it.each([10, 300_000])('a body of %i bytes is not over before the sink is done with its last chunk', async (size) => {
  let answered = false
  const waiting = step('waiting')
  const query: HeaderPair[] = [
    ['hold', ''],
    ['late', ''],
  ]
  const answer = fixture
    .send({ ...put, query, body: Buffer.alloc(size) }, { payloadHash: 'UNSIGNED-PAYLOAD' })
    .finally(() => {
      answered = true
    })
  await waiting
  // Meanwhile all of the body arrives: only then Node announces its end while the sink still works.
  await new Promise((resolve) => setTimeout(resolve, 50))
  const taken = step('taken')
  steps.emit('read')
  await taken
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(answered).toBe(false)
  steps.emit('release')
  expect((await answer).status).toBe(200)
})

it('a sink that is busy stops the client from sending', async () => {
  const size = 64 * 1024 * 1024
  const signed = sign({ ...put, host: fixture.host, query: [['hold', '']] }, { key, payloadHash: 'UNSIGNED-PAYLOAD' })
  const headers: HeaderPair[] = [
    ...signed.headers.filter(([name]) => name !== 'Content-Length'),
    ['Content-Length', String(size)],
  ]
  const socket = fixture.connect()
  socket.on('error', () => {})
  socket.write(wireBytes({ ...signed, headers }))
  const chunk = Buffer.alloc(1024 * 1024)
  let accepted = 0
  const pump = (): void => {
    while (accepted < size) {
      accepted += chunk.length
      if (!socket.write(chunk)) return void socket.once('drain', pump)
    }
  }
  pump()
  await step('taken')
  await new Promise((resolve) => setTimeout(resolve, 100))
  const before = accepted
  expect(before).toBeLessThan(size / 2)
  steps.emit('release')
  await new Promise((resolve) => socket.once('data', resolve))
  expect(accepted).toBe(size)
  socket.destroy()
})

describe('a request that has no body', () => {
  // The SDK for JavaScript sends the checksum of nothing with a GET when it is configured to compute checksums only where they are required.
  it.each<[string, HeaderPair[], string]>([
    ['no digest', [], ''],
    ['the checksum of nothing', [['x-amz-checksum-crc32', base64Crc32('')]], ''],
    [
      'the name of its algorithm besides',
      [
        ['x-amz-checksum-crc32', base64Crc32('')],
        ['x-amz-sdk-checksum-algorithm', 'CRC32'],
      ],
      '',
    ],
    ['the checksum of something', [['x-amz-checksum-crc32', base64Crc32('x')]], 'BadDigest'],
    ['a malformed checksum', [['x-amz-checksum-sha256', 'AAAA']], 'InvalidRequest'],
    ['the Content-MD5 of something', [['Content-MD5', createHash('md5').update('x').digest('base64')]], 'BadDigest'],
  ])('with %s', async (_what, headers, code) => {
    expect((await fixture.send({ method: 'GET', path: '/b/k', headers })).code).toBe(code)
  })
})

describe('XML bodies', () => {
  const remove = '<Delete><Object><Key>a</Key></Object></Delete>'
  const md5 = (text: string): string => createHash('md5').update(text).digest('base64')
  const post = (body: string | Buffer, headers: HeaderPair[]) =>
    fixture.send({ method: 'POST', path: '/b', query: [['delete', '']], body, headers })

  it.each<[string, HeaderPair[], string]>([
    ['Content-MD5', [['Content-MD5', md5(remove)]], ''],
    ['a checksum', [['x-amz-checksum-crc32', base64Crc32(remove)]], ''],
    [
      'a checksum and its algorithm',
      [
        ['x-amz-checksum-crc32', base64Crc32(remove)],
        ['x-amz-sdk-checksum-algorithm', 'CRC32'],
      ],
      '',
    ],
    ['no digest where one is required', [], 'InvalidRequest'],
    ['a wrong Content-MD5', [['Content-MD5', md5('x')]], 'BadDigest'],
    ['a malformed Content-MD5', [['Content-MD5', 'x']], 'InvalidDigest'],
    ['a wrong checksum', [['x-amz-checksum-crc32', base64Crc32('x')]], 'BadDigest'],
    ['a malformed checksum', [['x-amz-checksum-sha256', 'AAAA']], 'InvalidRequest'],
    [
      'an algorithm without its checksum',
      [
        ['Content-MD5', md5(remove)],
        ['x-amz-sdk-checksum-algorithm', 'CRC32'],
      ],
      'InvalidRequest',
    ],
  ])('with %s: %s', async (_what, headers, code) => {
    expect((await post(remove, headers)).code).toBe(code)
  })

  it('with a checksum in a trailer', async () => {
    const request = { method: 'POST', host: fixture.host, path: '/b', query: [['delete', '']] as HeaderPair[] }
    const send = (checksum: string) =>
      fixture.sendSigned(
        signStreaming(request, {
          key,
          mode: 'unsigned-trailer',
          chunks: [remove],
          trailers: [['x-amz-checksum-crc32', checksum]],
        }),
      )
    expect((await send(base64Crc32(remove))).code).toBe('')
    expect((await send(base64Crc32('x'))).code).toBe('BadDigest')
  })

  it('that are missing', async () => {
    expect((await post('', [['Content-MD5', md5('')]])).code).toBe('MissingRequestBodyError')
    const optional = await fixture.send({ method: 'PUT', path: '/b' })
    expect([optional.status, optional.headers.location]).toEqual([200, '/b'])
  })

  it('that are too large', async () => {
    const body = Buffer.alloc(65_537, ' ')
    expect((await post(body, [['Content-MD5', md5(body.toString())]])).code).toBe('MaxMessageLengthExceeded')
  })

  it('that are not what was signed', async () => {
    const answer = await fixture.send(
      { method: 'PUT', path: '/b', body: '<CreateBucketConfiguration/>' },
      { payloadHash: sha256('') },
    )
    expect(answer.code).toBe('XAmzContentSHA256Mismatch')
  })

  it.each(['<a', '<Other/>', '<CreateBucketConfiguration><X/></CreateBucketConfiguration>'])(
    'that are malformed: %s',
    async (body) => {
      expect((await fixture.send({ method: 'PUT', path: '/b', body })).code).toBe('MalformedXML')
    },
  )
})
