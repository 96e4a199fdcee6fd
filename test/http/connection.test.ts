import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { type HeaderPair, type SignedRequest, sign } from '../support/signer.ts'
import { bodyOperations, step, steps } from './body-operations.ts'
import { type Fixture, type FixtureOptions, key, startFixture, wireBytes } from './fixture.ts'

let fixture: Fixture
const start = async (options: FixtureOptions = {}): Promise<void> => {
  fixture = await startFixture(bodyOperations, options)
}
afterEach(() => fixture.close())

const unsigned = { key, payloadHash: 'UNSIGNED-PAYLOAD' } as const
const get = (extra: HeaderPair[] = []): Buffer => {
  const signed = sign({ method: 'GET', host: fixture.host, path: '/b/k', query: [['size', '3']] }, unsigned)
  return wireBytes({ ...signed, headers: [...signed.headers, ...extra] })
}
const last = (): Buffer => get([['Connection', 'close']])

/** A PUT whose head announces `size` bytes. */
function putHead(name: string, size: number, extra: HeaderPair[] = []): SignedRequest {
  const signed = sign({ method: 'PUT', host: fixture.host, path: '/b/k', query: [[name, '']] }, unsigned)
  const headers = signed.headers.filter(([header]) => header !== 'Content-Length')
  return { ...signed, headers: [...headers, ['Content-Length', String(size)], ...extra] }
}

/** Long enough for what waits for nothing but the event loop. */
async function nextTurns(): Promise<void> {
  for (let i = 0; i < 20; i++) await nextTurn()
}

function collect(socket: Socket): { text(): string; ended: Promise<void> } {
  let received = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text
  })
  socket.on('error', () => {})
  return { text: () => received, ended: new Promise((resolve) => socket.once('close', () => resolve())) }
}

const statuses = (text: string): string[] => [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status ?? '')

it.each([
  ['refused', 'GET /b/k', '403'],
  ['refused as a preflight', 'OPTIONS /b/k', '400'],
  ['a health check', 'GET /minio/health/live', '200'],
])('a request without a body that is %s leaves the connection open', async (_what, line, status) => {
  await start()
  const request = Buffer.from(`${line} HTTP/1.1\r\nHost: a\r\n\r\n`)
  expect(statuses(await fixture.raw(Buffer.concat([request, request, last()])))).toEqual([status, status, '200'])
})

describe('an unread body', () => {
  it('that is small is dropped, and the connection serves the next request', async () => {
    await start()
    const signed = putHead('refuse', 1000)
    const answer = await fixture.raw(Buffer.concat([wireBytes(signed), Buffer.alloc(1000, 'x'), last()]))
    expect(statuses(answer)).toEqual(['404', '200'])
  })

  it('is never parsed as a request, even where it looks like one', async () => {
    await start({ bounds: { unreadBodyDrainBytesMax: 100 } })
    const smuggled = get()
    for (const size of [smuggled.length, 5000]) {
      const body = Buffer.concat([smuggled, Buffer.alloc(size - smuggled.length, '\n')])
      const answer = await fixture.raw(Buffer.concat([wireBytes(putHead('refuse', size)), body, last()]))
      expect(statuses(answer).filter((status) => status === '404')).toHaveLength(1)
      expect(statuses(answer).length).toBeLessThanOrEqual(2)
    }
    const served = fixture.logs.filter(({ operation }) => operation === 'Download')
    expect(served.length).toBeLessThanOrEqual(2)
  })

  it('that is large ends the connection, but not under a client that is still sending', async () => {
    await start({ bounds: { lingerMs: 5000 } })
    const socket = fixture.connect()
    const { text, ended } = collect(socket)
    const half = 4 * 1024 * 1024
    socket.write(Buffer.concat([wireBytes(putHead('refuse', 2 * half)), Buffer.alloc(half)]))
    await once(socket, 'data')
    const failure = await new Promise((resolve) => socket.write(Buffer.alloc(half), resolve))
    await ended
    expect(text()).toMatch(/^HTTP\/1.1 404 .*Connection: close.*<Code>NoSuchBucket<\/Code>/s)
    expect(failure ?? socket.errored).toBeNull()
  })

  it('that goes on for too long is cut', async () => {
    await start({ bounds: { lingerMs: 50 } })
    const socket = fixture.connect()
    const { text, ended } = collect(socket)
    const chunk = Buffer.alloc(1024 * 1024)
    const pump = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    }
    socket.on('drain', pump)
    socket.write(wireBytes(putHead('refuse', 1024 ** 4)))
    pump()
    await ended
    expect(text()).toMatch(/^HTTP\/1.1 404 /)
  })
})

describe('Expect: 100-continue', () => {
  const expects: HeaderPair[] = [['Expect', '100-continue']]

  it('is answered when the body is wanted', async () => {
    await start()
    const socket = fixture.connect()
    const { text } = collect(socket)
    socket.write(wireBytes(putHead('watch', 5, expects)))
    await once(socket, 'data')
    expect(text()).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    const drained = step('drained')
    socket.write('12345')
    await drained
    await once(socket, 'data')
    expect(statuses(text())).toEqual(['100', '200'])
    socket.destroy()
  })

  it.each([
    ['a refusal by the operation', 'refuse', [] as HeaderPair[], '404'],
    ['a wrong signature', 'watch', [['Host', 'elsewhere']] as HeaderPair[], '403'],
    ['an unsigned header', 'watch', [['x-amz-acl', 'private']] as HeaderPair[], '403'],
  ])('is not answered before %s, and the connection ends', async (_what, name, extra, status) => {
    await start()
    const signed = putHead(name, 5, expects)
    const replaced = signed.headers.filter(([header]) => !extra.some(([other]) => other === header))
    const answer = await fixture.raw(wireBytes({ ...signed, headers: [...replaced, ...extra] }))
    expect(statuses(answer)).toEqual([status])
    expect(answer).toContain('Connection: close')
  })

  it.each(['miracles', ''])('another expectation is ignored: "%s"', async (expectation) => {
    await start()
    const answer = await fixture.raw(
      get([
        ['Expect', expectation],
        ['Connection', 'close'],
      ]),
    )
    expect(answer).toMatch(/^HTTP\/1.1 200 /)
  })
})

describe('pipelined requests', () => {
  it('are answered in order', async () => {
    await start()
    const answer = await fixture.raw(Buffer.concat([get(), wireBytes(putHead('refuse', 0)), last()]))
    expect(statuses(answer)).toEqual(['200', '404', '200'])
  })

  it('before a CONNECT get their answers, and it gets none in their place', async () => {
    await start()
    const socket = fixture.connect()
    const { text, ended } = collect(socket)
    const working = step('working')
    const signed = sign({ method: 'POST', host: fixture.host, path: '/b/k', query: [['slow', '']] }, unsigned)
    socket.write(Buffer.concat([wireBytes(signed), Buffer.from('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')]))
    await working
    steps.emit('done', 'well')
    await ended
    expect(statuses(text())).toEqual(['200'])
    expect(text()).toContain('<Say>well</Say>')
  })

  it('before bytes that are no request still get their answers, and nothing else', async () => {
    await start()
    const socket = fixture.connect()
    const { text, ended } = collect(socket)
    const working = step('working')
    const signed = sign({ method: 'POST', host: fixture.host, path: '/b/k', query: [['slow', '']] }, unsigned)
    socket.write(Buffer.concat([wireBytes(signed), Buffer.from('NOT HTTP\r\n\r\n')]))
    await working
    steps.emit('done', 'well')
    await ended
    expect(statuses(text())).toEqual(['200'])
    expect(text()).toContain('<Say>well</Say>')
  })
})

describe('shutting down', () => {
  it('closes idle connections at once and lets running requests end', async () => {
    await start()
    const idle = fixture.connect()
    const fresh = fixture.connect()
    const busy = fixture.connect()
    const idleEnd = collect(idle)
    const freshEnd = collect(fresh)
    const busyEnd = collect(busy)
    idle.write(get())
    await once(idle, 'data')
    const working = step('working')
    busy.write(wireBytes(sign({ method: 'POST', host: fixture.host, path: '/b/k', query: [['slow', '']] }, unsigned)))
    await working
    const closed = fixture.close()
    await idleEnd.ended
    await freshEnd.ended
    steps.emit('done', 'well')
    await busyEnd.ended
    expect(busyEnd.text()).toMatch(/Connection: close.*<Say>well<\/Say>/s)
    await closed
    const refused = fixture.connect()
    await expect(once(refused, 'connect')).rejects.toThrow('ECONNREFUSED')
  })

  it('waits for requests whose clients are gone: what they work with is still there', async () => {
    await start()
    const gone = fixture.connect()
    const { ended } = collect(gone)
    const working = step('working')
    gone.write(wireBytes(sign({ method: 'POST', host: fixture.host, path: '/b/k', query: [['slow', '']] }, unsigned)))
    await working
    gone.destroy()
    await ended
    let isClosed = false
    const closed = fixture.close().then(() => {
      isClosed = true
    })
    await nextTurns()
    expect(isClosed).toBe(false)
    steps.emit('done', 'well')
    await closed
    expect(fixture.logs).toHaveLength(1)
  })

  it('cuts what takes too long', async () => {
    await start({ bounds: { drainOnShutdownMs: 50 } })
    const busy = fixture.connect()
    const { text, ended } = collect(busy)
    const working = step('working')
    busy.write(wireBytes(sign({ method: 'POST', host: fixture.host, path: '/b/k', query: [['slow', '']] }, unsigned)))
    await working
    await fixture.close()
    await ended
    expect(text()).toBe('')
    steps.emit('done', 'too late')
  })
})

describe('overload', () => {
  it('is answered with SlowDown and when to try again, and ends with the requests that caused it', async () => {
    await start({ bounds: { requestsInFlightMax: 1 } })
    const working = step('working')
    const running = fixture.send({ method: 'POST', path: '/b/k', query: [['slow', '']] })
    await working
    const refused = await fixture.send({ path: '/b/k', query: [['size', '3']] })
    expect([refused.status, refused.code, refused.headers['retry-after']]).toEqual([503, 'SlowDown', '1'])
    expect(await fixture.raw('GET /minio/health/live HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200/)
    steps.emit('done', 'well')
    expect((await running).status).toBe(200)
    expect((await fixture.send({ path: '/b/k', query: [['size', '3']] })).status).toBe(200)
  })
})

describe('health checks', () => {
  it.each([
    ['/minio/health/live', true, '200'],
    ['/minio/health/live', false, '200'],
    ['/minio/health/ready', true, '200'],
    ['/minio/health/ready', false, '503'],
    ['/minio/health/cluster', true, '200'],
    ['/minio/health/cluster', false, '503'],
    ['/minio/health/cluster?maintenance=true', true, '412'],
    ['/minio/health/cluster?maintenance=true', false, '503'],
    ['/minio/health/cluster?distributed=true', true, '200'],
    ['/minio/health/cluster/read', true, '200'],
    ['/minio/health/cluster/read', false, '503'],
    ['/minio/health/cluster?list-type=2', true, '403'],
    ['/minio/health/cluster/other', true, '403'],
    ['/minio/health/other', true, '403'],
    ['/minio/health/live?x', true, '403'],
  ])('%s while ready is %s: %s', async (path, isReady, status) => {
    await start({ ready: () => isReady })
    expect(statuses(await fixture.raw(`GET ${path} HTTP/1.0\r\n\r\n`))).toEqual([status])
    expect(statuses(await fixture.raw(`HEAD ${path} HTTP/1.0\r\n\r\n`))).toEqual([status])
    expect(statuses(await fixture.raw(`DELETE ${path} HTTP/1.0\r\n\r\n`))).toEqual(['403'])
  })

  it('a signed request for such a path means a bucket', async () => {
    await start()
    const { body } = await fixture.send({ path: '/minio/health/live', query: [['size', '3']] })
    expect(body.length).toBe(3)
    await fixture.send({ path: '/minio/health/live' })
    expect(fixture.logs.map(({ operation }) => operation)).toEqual(['Download', 'Download'])
  })
})
