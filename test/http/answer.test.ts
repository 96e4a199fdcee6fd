import { once } from 'node:events'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lendingSource } from '../../src/byte-source.ts'
import { outHeader, outVendorPrefix, query } from '../../src/contract/fields.ts'
import { text } from '../../src/contract/values.ts'
import { S3Error } from '../../src/errors.ts'
import type { HttpBounds } from '../../src/http/connections/bounds.ts'
import { defineOperation } from '../../src/operations/context.ts'
import { type HeaderPair, presign, sign } from '../support/signer.ts'
import { bodyOperations, step, steps } from './body-operations.ts'
import { type Fixture, key, startFixture, wireBytes } from './fixture.ts'

/** What the operation below answers next. */
let hostile: { value: string; metadata: Record<string, string> } = { value: '', metadata: {} }

const answerHostile = defineOperation({
  name: 'AnswerHostile',
  method: 'GET',
  target: 'service',
  permission: 's3:ListAllMyBuckets',
  summary: '',
  input: {},
  output: { value: outHeader('Hostile'), metadata: outVendorPrefix('meta-') },
  errors: [],
  handle: async () => hostile,
})

const notModified = defineOperation({
  name: 'NotModified',
  method: 'GET',
  target: 'object',
  query: ['not-modified'],
  permission: 's3:GetObject',
  summary: '',
  input: {},
  output: {},
  errors: ['NotModified'],
  async handle() {
    throw new S3Error('NotModified', { headers: { ETag: '"abc"' }, vendorHeaders: { 'delete-marker': 'true' } })
  },
})

const headBroken = {
  ...notModified,
  name: 'HeadBroken',
  method: 'HEAD' as const,
  query: [],
  handle: async () => {
    throw new S3Error('NoSuchKey')
  },
}

const lentBytes = 65_536
let lentPieces = 0
let givenBack = 0

/** Its memory is another's as soon as it is given back. */
const lend = defineOperation({
  name: 'Lend',
  method: 'GET',
  target: 'object',
  query: ['lend'],
  permission: 's3:GetObject',
  summary: '',
  input: { fill: query('lend', text) },
  output: {},
  outputBody: { kind: 'stream' },
  errors: [],
  async handle(_context, { fill }) {
    lentPieces++
    const memory = Buffer.alloc(lentBytes, fill)
    const body = lendingSource(memory, () => {
      givenBack++
      memory.fill('another')
    })
    return { body }
  },
})

let fixture: Fixture
/** Short bounds are for what is to run into them: on a busy machine anything else may, too. */
const start = async (bounds: Partial<HttpBounds> = {}): Promise<void> => {
  await fixture?.close()
  fixture = await startFixture([...bodyOperations, answerHostile, notModified, headBroken, lend], { bounds })
}
beforeEach(() => start())
afterEach(() => fixture.close())

describe('streams', () => {
  const get = (query: HeaderPair[]) => sign({ method: 'GET', host: fixture.host, path: '/b/k', query }, { key })

  it.each([0, 1, 65_536, 65_537, 5_000_000])('of %i bytes are sent with their length', async (size) => {
    const { headers, body } = await fixture.sendSigned(get([['size', String(size)]]))
    expect([headers['content-length'], body.length]).toEqual([String(size), size])
  })

  it('that fail before the first byte are answered with an error', async () => {
    const answer = await fixture.sendSigned(
      get([
        ['size', '5000000'],
        ['fail-after', '0'],
      ]),
    )
    expect([answer.status, answer.code]).toEqual([500, 'InternalError'])
  })

  it('that fail later cut the connection: the client must see that the data is not complete', async () => {
    const query: HeaderPair[] = [
      ['size', '5000000'],
      ['fail-after', '1000000'],
    ]
    const socket = fixture.connect()
    let received = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      received += chunk
    })
    const ended = new Promise((resolve) => socket.on('error', resolve).on('close', resolve))
    const logged = fixture.logged(({ operation }) => operation === 'Download')
    socket.write(wireBytes(get(query)))
    const line = await logged
    expect(line).toMatchObject({ code: 'InternalError', status: 200 })
    expect(line.error).toMatchObject({ message: 'the disk is gone' })
    // At once, and not when the server tires of an idle connection: others have many answers meanwhile.
    const others = (async () => {
      for (let i = 0; i < 50; i++) await fixture.sendSigned(get([['size', '1']]))
      return 'others were answered first'
    })()
    expect(await Promise.race([ended, others])).not.toBe('others were answered first')
    expect(received).toContain('Content-Length: 5000000')
    expect(received.length).toBeLessThan(5_000_000)
  })

  it('that are shorter than they said cut the connection', async () => {
    await expect(fixture.sendSigned(get([['short', '']]))).rejects.toThrow()
    const line = await fixture.logged(({ operation }) => operation === 'Short')
    expect(line.error).toMatchObject({ message: 'a stored body ended before its size was reached' })
  })

  it('stop reading when the client leaves', async () => {
    const socket = fixture.connect()
    const failed = step('source failed')
    socket.write(wireBytes(get([['size', '1000000000']])))
    await once(socket, 'data')
    socket.destroy()
    expect(await failed).toMatchObject({ name: 'ClientGone' })
    const line = await fixture.logged(({ operation }) => operation === 'Download')
    expect(line).toMatchObject({ code: 'ClientGone' })
    expect(line.error).toBeUndefined()
  })

  it('wait for a client that reads slowly, and give up on one that stops', async () => {
    await start({ idleBodyTimeoutMs: 300 })
    const socket = fixture.connect()
    let sent = 0
    const count = (bytes: number): void => {
      sent = bytes
    }
    steps.on('sent', count)
    const failed = step('source failed')
    socket.write(wireBytes(get([['size', '1000000000']])))
    await once(socket, 'readable')
    await failed
    expect(sent).toBeLessThan(100_000_000)
    steps.off('sent', count)
    socket.destroy()
  })
})

describe('memory that is lent to an answer', () => {
  const get = (fill: string) =>
    wireBytes(sign({ method: 'GET', host: fixture.host, path: '/b/k', query: [['lend', fill]] }, { key }))
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  beforeEach(() => {
    lentPieces = 0
    givenBack = 0
  })

  it('is given back only when the answer has left, however late the client reads', async () => {
    const socket = fixture.connect()
    socket.pause()
    // Nothing is read until an answer finds no room in the buffers of the connection.
    let asked = 0
    for (; asked < 400 && givenBack === asked; asked++) {
      socket.write(get(String(asked % 10)))
      while (lentPieces === asked) await turn()
      for (let i = 0; i < 10 && givenBack === asked; i++) await turn()
    }
    socket.write(get('x').toString('latin1').replace('\r\n', '\r\nConnection: close\r\n'), 'latin1')
    const received: Buffer[] = []
    socket.on('data', (chunk: Buffer) => received.push(chunk))
    socket.resume()
    await once(socket, 'close')
    const all = Buffer.concat(received).toString('latin1')
    for (let i = 0, at = 0; i < asked; i++, at += lentBytes) {
      at = all.indexOf('\r\n\r\n', at) + 4
      expect(all.slice(at, at + lentBytes) === String(i % 10).repeat(lentBytes), `answer ${i}`).toBe(true)
    }
    expect(givenBack).toBe(asked + 1)
  })

  it('is given back when the client leaves before it has its answer', async () => {
    const socket = fixture.connect()
    socket.pause()
    // The buffers of the connection are full when an answer stays. How much they hold, the system decides anew each time.
    for (let turns = 0; turns < 50; turns = givenBack < lentPieces ? turns + 1 : 0) {
      if (givenBack === lentPieces) socket.write(get('x'))
      await turn()
    }
    socket.destroy()
    await expect.poll(() => givenBack).toBe(lentPieces)
  })
})

describe('slow operations', () => {
  const post = () => fixture.send({ method: 'POST', path: '/b/k', query: [['slow', '']] })

  it('that are quick answer as any other', async () => {
    const working = step('working')
    const answer = post()
    await working
    steps.emit('done', 'well')
    const { headers, body } = await answer
    expect(headers['content-length']).toBeDefined()
    expect(body.toString()).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<SlowResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Say>well</Say></SlowResult>',
    )
  })

  it('that fail quickly have a status of their own', async () => {
    const working = step('working')
    const answer = post()
    await working
    steps.emit('done', new S3Error('InvalidPart'))
    expect((await answer).status).toBe(400)
  })

  it.each([
    ['result', 'well', '<SlowResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Say>well</Say></SlowResult>'],
    ['error', new S3Error('InvalidPart'), '<Error><Code>InvalidPart</Code>'],
  ])('send white space until the %s is known', async (_what, outcome, element) => {
    await start({ slowAnswerAfterMs: 20, slowAnswerEveryMs: 10 })
    const socket = fixture.connect()
    socket.setEncoding('latin1')
    let received = ''
    const enough = new Promise<void>((resolve) => {
      socket.on('data', (text: string) => {
        received += text
        if (/(?:1\r\n \r\n){3}/.test(received)) resolve()
      })
    })
    socket.write(wireBytes(sign({ method: 'POST', host: fixture.host, path: '/b/k', query: [['slow', '']] }, { key })))
    await enough
    expect(received).toMatch(/^HTTP\/1.1 200 .*<\?xml version="1.0" encoding="UTF-8"\?>\n/s)
    steps.emit('done', outcome)
    while (!received.endsWith('0\r\n\r\n')) await once(socket, 'data')
    expect(received).toContain(element)
    const line = await fixture.logged(({ operation }) => operation === 'Slow')
    expect(line).toMatchObject({ status: 200, code: outcome instanceof S3Error ? 'InvalidPart' : '' })
    socket.destroy()
  })
})

describe('errors', () => {
  it('that nobody foresaw say nothing of themselves', async () => {
    const answer = await fixture.send({ path: '/b' })
    expect([answer.status, answer.code]).toEqual([500, 'InternalError'])
    expect(answer.body.toString()).not.toContain('canary')
    const line = await fixture.logged(({ operation }) => operation === 'Broken')
    expect(line.error).toMatchObject({ message: 'canary-of-an-inner-error' })
  })

  it('of HEAD have a status and no body', async () => {
    const answer = await fixture.send({ method: 'HEAD', path: '/b/k' })
    expect([answer.status, answer.body.length]).toEqual([404, 0])
  })

  it('of 304 carry their headers and no body', async () => {
    const { status, headers, body } = await fixture.send({ path: '/b/k', query: [['not-modified', '']] })
    expect([status, headers.etag, headers['x-amz-delete-marker'], body.length]).toEqual([304, '"abc"', 'true', 0])
    expect(headers['content-type']).toBeUndefined()
  })

  it('that quote what the client sent quote it as text', async () => {
    const path = '/b/%3C%2FResource%3E%3CCode%3E%00%0A'
    const { body } = await fixture.send({ method: 'DELETE', path, query: [['slow', '']] })
    expect(body.toString()).toContain('<Resource>/b/&lt;/Resource&gt;&lt;Code&gt;&#x0;&#xa;</Resource>')
  })
})

describe('header values', () => {
  it('of every byte are sent as they are, or without what no header can hold', async () => {
    for (let byte = 0; byte < 256; byte++) {
      const character = String.fromCharCode(byte)
      hostile = { value: `a${character}b`, metadata: { name: character, [`${character}x`]: 'v' } }
      const { status, headers } = await fixture.send({ path: '/' })
      const allowed = byte === 9 || (byte >= 32 && byte !== 127)
      expect([byte, status, headers.hostile]).toEqual([byte, 200, allowed ? `a${character}b` : 'ab'])
      expect(headers.injected).toBeUndefined()
    }
  })

  it('of any text never break the answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (value) => {
        hostile = { value, metadata: { a: value } }
        const { status, rawHeaders } = await fixture.send({ path: '/' })
        expect(status).toBe(200)
        expect(rawHeaders.filter((_, i) => i % 2 === 0)).toContain('Hostile')
      }),
      { numRuns: 200 },
    )
  })

  it('beyond Latin-1 are sent as UTF-8', async () => {
    hostile = { value: '日本', metadata: {} }
    const { headers } = await fixture.send({ path: '/' })
    expect(Buffer.from(String(headers.hostile), 'latin1').toString()).toBe('日本')
  })
})

describe('the log', () => {
  it('has one line a request, without what could be used to repeat it', async () => {
    const signed = presign({ method: 'GET', host: fixture.host, path: '/b/k%20', query: [['size', '9']] }, { key })
    await fixture.sendSigned(signed)
    const line = await fixture.logged(({ operation }) => operation === 'Download')
    expect(line).toMatchObject({
      operation: 'Download',
      method: 'GET',
      path: '/b/k%20',
      status: 200,
      code: '',
      bytesIn: 0,
      bytesOut: 9,
      remote: '127.0.0.1',
      accessKeyId: key.accessKeyId,
    })
    expect(fixture.logs).toHaveLength(1)
    expect(JSON.stringify(fixture.logs)).not.toMatch(/Signature|X-Amz|secret/i)
  })

  it('says nothing of an access key that was not verified', async () => {
    await fixture.send({ path: '/b/k', query: [['size', '9']] }, { key: { ...key, secretAccessKey: 'wrong' } })
    expect(fixture.logs).toMatchObject([{ code: 'SignatureDoesNotMatch', accessKeyId: '', operation: '' }])
  })
})
