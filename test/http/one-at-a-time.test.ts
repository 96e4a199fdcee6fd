import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { query } from '../../src/contract/fields.ts'
import { text } from '../../src/contract/values.ts'
import { defineOperation } from '../../src/operations/context.ts'
import { type HeaderPair, type SignedRequest, sign, signStreaming } from '../support/signer.ts'
import { bodyOperations, step, steps } from './body-operations.ts'
import { type Fixture, type FixtureOptions, key, otherKey, startFixture, wireBytes } from './fixture.ts'

let begun: string[] = []
let underWay = 0
let mostUnderWay = 0
const stored = new Map<string, string>()

/** Stores its body under one name, after as many turns as it says. */
const put = defineOperation({
  name: 'Put',
  method: 'PUT',
  target: 'object',
  query: ['turns'],
  permission: 's3:PutObject',
  summary: '',
  input: { turns: query('turns', text) },
  inputBody: { kind: 'stream' },
  output: {},
  errors: [],
  async handle(_context, { body, turns }) {
    begun.push(String(turns))
    mostUnderWay = Math.max(mostUnderWay, ++underWay)
    const bytes = await body.read()
    for (let turn = 0; turn < Number(turns); turn++) await new Promise((resolve) => setImmediate(resolve))
    stored.set('name', bytes.toString())
    underWay--
    return {}
  },
})

let fixture: Fixture
const start = async (options: FixtureOptions = {}): Promise<void> => {
  begun = []
  underWay = 0
  mostUnderWay = 0
  fixture = await startFixture([...bodyOperations, put], options)
}
afterEach(() => fixture.close())

const unsigned = { key, payloadHash: 'UNSIGNED-PAYLOAD' } as const
const signed = (method: string, query: HeaderPair[], body = '', signedBy = key) =>
  wireBytes(sign({ method, host: fixture.host, path: '/b/k', query, body }, { ...unsigned, key: signedBy }))
const get = (size: number, signedBy = key): Buffer => signed('GET', [['size', String(size)]], '', signedBy)
const last = (): Buffer => Buffer.from(get(3).toString('latin1').replace('\r\n', '\r\nConnection: close\r\n'), 'latin1')
const statuses = (received: string): string[] =>
  [...received.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status = '']) => status)
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.on('error', () => {}).once('close', () => resolve()))
const slowly = { method: 'POST', path: '/b/k', query: [['slow', '']] as HeaderPair[] }

describe('requests on one connection', () => {
  it('are served one at a time, in order: of two writes the second stays', async () => {
    await start()
    for (let round = 0; round < 20; round++) {
      const first = signed('PUT', [['turns', '5']], `first ${round}`)
      const second = signed('PUT', [['turns', '0']], `second ${round}`)
      expect(statuses(await fixture.raw(Buffer.concat([first, second, last()])))).toEqual(['200', '200', '200'])
      expect(stored.get('name')).toBe(`second ${round}`)
    }
    expect(mostUnderWay).toBe(1)
  })

  it('are served one at a time when a body comes in pieces, each while the one before is being served', async () => {
    await start()
    const requests = [3, 0, 7, 1].map((turns) => signed('PUT', [['turns', String(turns)]], `body ${turns}`))
    const bytes = Buffer.concat([...requests, last()])
    const socket = fixture.connect()
    let received = ''
    socket.setEncoding('latin1').on('data', (some: string) => {
      received += some
    })
    for (let at = 0; at < bytes.length; at += 97) {
      socket.write(bytes.subarray(at, at + 97))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await closed(socket)
    expect(statuses(received)).toEqual(['200', '200', '200', '200', '200'])
    expect([begun, mostUnderWay, stored.get('name')]).toEqual([['3', '0', '7', '1'], 1, 'body 1'])
  })

  it('are bounded in number: after the last that is kept the connection ends', async () => {
    await start({ bounds: { pipelinedRequestsMax: 4 } })
    const puts = Array.from({ length: 20 }, (_, i) => signed('PUT', [['turns', '0']], `body ${i}`))
    const received = await fixture.raw(Buffer.concat([signed('PUT', [['turns', '2']], 'body'), ...puts]))
    expect(statuses(received)).toEqual(['200', '200', '200', '200', '200'])
    expect(received.match(/Connection: close/g)).toHaveLength(1)
    expect(begun).toHaveLength(5)
  })

  it('do not make the server read on while they wait', async () => {
    await start()
    const socket = fixture.connect()
    const working = step('working')
    socket.write(Buffer.concat([signed('POST', slowly.query), get(3)]))
    await working
    let flushed = 0
    const more = Buffer.concat(Array<Buffer>(1000).fill(get(3)))
    const write = (): void => {
      if (socket.writableLength === 0) flushed++
      if (flushed < 200 && !socket.destroyed) socket.write(more, write)
    }
    write()
    await expect.poll(() => socket.writableLength).toBeGreaterThan(0)
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(flushed).toBeLessThan(100)
    socket.destroy()
    steps.emit('done', 'well')
  })
})

describe('a client that takes its answer', () => {
  const bounds = { idleBodyTimeoutMs: 200, clientBytesPerSecondMin: 100_000_000 }

  it('not at all is cut, also with requests behind it and while it sends more', async () => {
    await start({ bounds })
    const socket = fixture.connect().pause()
    const end = closed(socket)
    socket.write(Buffer.concat([get(500_000_000), get(500_000_000), get(3).subarray(0, 20)]))
    const trickle = setInterval(() => socket.write('x'), 20)
    const line = await fixture.logged(({ operation }) => operation === 'Download')
    expect(line).toMatchObject({ code: 'ClientGone', status: 200 })
    clearInterval(trickle)
    socket.resume()
    await end
    expect(fixture.logs).toHaveLength(1)
  })

  it('too slowly is cut, though it takes something all the time', async () => {
    await start({ bounds })
    const socket = fixture.connect().pause()
    socket.write(get(500_000_000))
    const sip = setInterval(() => socket.read(64 * 1024), 20)
    expect(await fixture.logged(({ operation }) => operation === 'Download')).toMatchObject({ code: 'ClientGone' })
    clearInterval(sip)
    socket.destroy()
  })

  it('slowly lives on where no least rate is set', async () => {
    const idleBodyTimeoutMs = 2500
    await start({ bounds: { idleBodyTimeoutMs, clientBytesPerSecondMin: 0 } })
    const socket = fixture.connect().pause()
    socket.write(get(500_000_000))
    const untilMs = performance.now() + 1.5 * idleBodyTimeoutMs
    while (performance.now() < untilMs) {
      socket.read()
      await new Promise((resolve) => setTimeout(resolve, 3))
    }
    expect(fixture.logs).toEqual([])
    socket.destroy()
  })
})

describe('a client that sends its body', () => {
  const bounds = { idleBodyTimeoutMs: 1000, clientBytesPerSecondMin: 10_000 }
  const sendAt = async (bytesPerSecond: number): Promise<string> => {
    await start({ bounds })
    const head = signed('PUT', [['turns', '0']], 'x').toString('latin1')
    const socket = fixture.connect()
    socket.write(head.slice(0, -1).replace('Content-Length: 1\r\n', 'Content-Length: 100000\r\n'))
    // By the time that has passed, because on a busy machine timers come late.
    const beganMs = performance.now()
    let sentBytes = 0
    const drip = setInterval(() => {
      const dueBytes = Math.ceil((bytesPerSecond * (performance.now() - beganMs)) / 1000)
      socket.write(Buffer.alloc(dueBytes - sentBytes))
      sentBytes = dueBytes
    }, 10)
    const [answer] = await once(socket, 'data')
    clearInterval(drip)
    socket.on('error', () => {}).destroy()
    return String(answer)
  }

  it('too slowly is told so, though something comes all the time', async () => {
    expect(await sendAt(3_000)).toMatch(/^HTTP\/1.1 400 .*<Code>RequestTimeout</s)
  })

  it('slowly, but fast enough, is served', async () => {
    expect(await sendAt(50_000)).toMatch(/^HTTP\/1.1 200 /)
  })
})

describe('one account at its share', () => {
  it('of requests is told to slow down, while another is served', async () => {
    await start({ bounds: { requestsInFlightMax: 4 } })
    for (const _ of [1, 2]) {
      const working = step('working')
      void fixture.send(slowly)
      await working
    }
    const refused = await fixture.send({ path: '/b/k', query: [['size', '3']] })
    expect([refused.status, refused.code, refused.headers['retry-after']]).toEqual([503, 'SlowDown', '1'])
    const served = await fixture.send({ path: '/b/k', query: [['size', '3']] }, { key: otherKey })
    expect(served.status).toBe(200)
    steps.emit('done', 'well')
    await expect.poll(async () => (await fixture.send({ path: '/b/k', query: [['size', '3']] })).status).toBe(200)
  })

  it('of memory is told to slow down, while another is served', async () => {
    await start({ bounds: { clientBytesMax: 1_000_000 } })
    const sockets = Array.from({ length: 3 }, () => fixture.connect().pause())
    for (const socket of sockets) socket.write(get(100_000_000))
    const ask = async (signedBy = key): Promise<number> =>
      (await fixture.send({ path: '/b/k', query: [['size', '3']] }, { key: signedBy })).status
    await expect.poll(() => ask()).toBe(503)
    expect(await ask(otherKey)).toBe(200)
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => ask()).toBe(200)
  })

  it('of memory sends no body that would have to be held', async () => {
    await start({ bounds: { clientBytesMax: 1_000_000 } })
    const head = (size: number): Buffer =>
      Buffer.from(
        signed('PUT', [['turns', '0']], 'x')
          .toString('latin1')
          .replace('Content-Length: 1\r\n', `Content-Length: ${size}\r\n`),
        'latin1',
      )
    const sockets = [fixture.connect(), fixture.connect()]
    for (const socket of sockets) {
      socket.write(head(300_000))
      await expect.poll(() => begun.length).toBe(sockets.indexOf(socket) + 1)
    }
    const refused = fixture.connect()
    refused.write(Buffer.concat([head(300_000), Buffer.alloc(10)]))
    expect(String(await once(refused, 'data'))).toMatch(/^HTTP\/1.1 503 .*<Code>SlowDown</s)
    for (const socket of [...sockets, refused]) socket.destroy()
  })

  it('of memory sends no body in chunks that would have to be held, also where nothing says how long it is on the wire', async () => {
    await start({ bounds: { clientBytesMax: 1_000_000 } })
    const asked: SignedRequest = signStreaming(
      { method: 'PUT', host: fixture.host, path: '/b/k', query: [['turns', '0']] },
      { key, mode: 'unsigned-trailer', chunks: [], decodedLength: '300000' },
    )
    const headers = asked.headers.filter(([name]) => name !== 'Content-Length')
    const head = wireBytes({
      ...asked,
      headers: [...headers, ['Transfer-Encoding', 'chunked']],
      body: Buffer.from('4\r\n1\r\nx\r\n'),
    })
    const sockets = [fixture.connect(), fixture.connect()]
    for (const socket of sockets) {
      socket.write(head)
      await expect.poll(() => begun.length).toBe(sockets.indexOf(socket) + 1)
    }
    const refused = fixture.connect()
    refused.write(head)
    expect(String(await once(refused, 'data'))).toMatch(/^HTTP\/1.1 503 .*<Code>SlowDown</s)
    for (const socket of [...sockets, refused]) socket.destroy()
  })

  it('of memory is told to slow down, also where an answer waits for the end of a body that nobody reads', async () => {
    await start({ bounds: { clientBytesMax: 60_000_000, lingerMs: 60_000 } })
    const asked = signed('POST', slowly.query)
      .toString('latin1')
      .replace('Content-Length: 0', 'Content-Length: 5000000')
    const socket = fixture.connect().pause()
    const working = step('working')
    socket.write(Buffer.from(asked, 'latin1'))
    await working
    steps.emit('done', 'x'.repeat(40_000_000))
    const ask = async (signedBy = key): Promise<number> =>
      (await fixture.send({ path: '/b/k', query: [['size', '3']] }, { key: signedBy })).status
    await expect.poll(() => ask()).toBe(503)
    expect(await ask(otherKey)).toBe(200)
    socket.destroy()
    await expect.poll(() => ask()).toBe(200)
  })

  it('of connections is told to slow down, and the connection ends', async () => {
    await start({ bounds: { connectionsMax: 6 } })
    const working = [0, 1, 2].map(() => fixture.connect())
    for (const socket of working) {
      const begins = step('working')
      socket.write(signed('POST', slowly.query))
      await begins
    }
    const received = await fixture.raw(get(3))
    expect(received).toMatch(/^HTTP\/1.1 503 .*Connection: close.*<Code>SlowDown</s)
    expect((await fixture.send({ path: '/b/k', query: [['size', '3']] }, { key: otherKey })).status).toBe(200)
    for (const socket of working) socket.destroy()
    steps.emit('done', 'well')
  })
})

describe('one peer without account', () => {
  it('that takes its share of connections loses the idle ones first, and others get in', async () => {
    await start({ bounds: { connectionsMax: 8 } })
    const unfinished = Array.from({ length: 4 }, () => fixture.connect())
    for (const socket of unfinished) {
      socket.on('error', () => {}).write('GET /b/k HTTP/1.1\r\n')
      await once(socket, 'connect')
    }
    const first = unfinished[0] ?? fixture.connect()
    const gone = closed(first.resume())
    expect((await fixture.send({ path: '/b/k', query: [['size', '3']] })).status).toBe(200)
    await gone
    expect(unfinished.filter(({ destroyed }) => destroyed).length).toBeLessThan(4)
    for (const socket of unfinished) socket.destroy()
  })

  it('that sends many bad signatures waits for each answer, and nobody else does', async () => {
    await start({ bounds: { refusalCostMs: 1000, refusalForgivenMs: 3000, refusalDelayMsMax: 60_000 } })
    const wrong = get(3, { ...key, secretAccessKey: 'wrong' })
    const socket = fixture.connect()
    socket.write(Buffer.concat(Array<Buffer>(20).fill(wrong)))
    let received = ''
    socket.setEncoding('latin1').on('data', (some: string) => {
      received += some
    })
    await expect.poll(() => statuses(received).length).toBeGreaterThanOrEqual(3)
    for (let i = 0; i < 20; i++) expect((await fixture.send({ path: '/b/k', query: [['size', '3']] })).status).toBe(200)
    expect(statuses(received).length).toBeLessThan(6)
    socket.destroy()
  })

  describe('that connects anew after each bad signature', () => {
    const bounds = {
      refusalCostMs: 60_000,
      refusalForgivenMs: 180_000,
      refusalDelayMsMax: 60_000,
      drainOnShutdownMs: 50,
    }
    const wrong = (): Buffer => get(3, { ...key, secretAccessKey: 'wrong' })
    const refuse = async (): Promise<void> => {
      const socket = fixture.connect()
      socket.write(wrong())
      expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1.1 403 /)
      socket.destroy()
    }

    it('waits for the answer all the same, and nobody else does', async () => {
      await start({ bounds })
      for (let i = 0; i < 3; i++) await refuse()
      let answered = false
      const socket = fixture.connect()
      socket.on('data', () => {
        answered = true
      })
      socket.write(wrong())
      for (let i = 0; i < 20; i++)
        expect((await fixture.send({ path: '/b/k', query: [['size', '3']] })).status).toBe(200)
      expect(answered).toBe(false)
      socket.destroy()
    })

    it('without waiting for the answer keeps the places that it had', async () => {
      await start({ bounds: { ...bounds, connectionsMax: 8 } })
      for (let i = 0; i < 3; i++) await refuse()
      for (let i = 0; i < 4; i++) {
        const socket = fixture.connect().on('error', () => {})
        socket.write(wrong())
        await expect.poll(() => socket.writableLength).toBe(0)
        await new Promise<void>((resolve) => socket.end(resolve))
        socket.destroy()
      }
      // No answer of any kind: there is no place to answer from.
      await expect.poll(() => fixture.raw(last()).catch(() => '')).toBe('')
    })
  })
})
