import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, test } from 'vitest'
import { openCredentials } from '../../src/auth/credentials.ts'
import { systemClock } from '../../src/clock.ts'
import { readinessOf } from '../../src/opening/admin/pipeline.ts'
import { isReady, openEndpoint } from '../../src/opening/endpoint.ts'
import { silentLog } from '../../src/opening/port-log.ts'
import { memoryStore } from '../objects/fixture.ts'
import { sign } from '../support/signer.ts'

const stores = (...states: ('up' | 'out' | 'full')[]) => states.map((state) => ({ state }))

test.each([
  ['all in use', stores('up', 'up', 'up'), true, true],
  ['one lost of three', stores('up', 'up', 'out'), true, true],
  ['one full, one lost', stores('up', 'full', 'out'), true, false],
  ['as many lost as there are copies', stores('up', 'out', 'out'), false, false],
  ['all full', stores('full', 'full', 'full'), true, false],
])('a location of two copies, written with two: %s', (_, of, reads, writes) => {
  const location = { stores: of, copies: 2, writeAck: 2 }
  expect([isReady(location, 'reads'), isReady(location, 'writes')]).toEqual([reads, writes])
})

const location = (name: string, ...states: ('up' | 'full' | 'out')[]) => ({
  name,
  stores: states.map((state, i) => ({ name: `${name}-${i}`, state })),
  copies: 1,
  writeAck: 1,
})

type Located = ReturnType<typeof location>
type Said = ReturnType<typeof readinessOf>

const lostFar = [{ name: 'far', reads: false, writes: false, stores: [{ name: 'far-0', state: 'out' }] }]

test.each<[string, boolean, Located[], Said, string?]>([
  ['everything is well', true, [location('default', 'up'), location('far', 'up')], { status: 'ready' }],
  [
    'another location is lost',
    true,
    [location('default', 'up'), location('far', 'out')],
    { status: 'degraded', locations: lostFar },
  ],
  [
    'another location can only be read',
    true,
    [location('default', 'up'), { ...location('far', 'up', 'full'), writeAck: 2 }],
    {
      status: 'degraded',
      locations: [{ name: 'far', reads: true, writes: false, stores: [{ name: 'far-1', state: 'full' }] }],
    },
  ],
  [
    'the default location is lost',
    true,
    [location('default', 'out'), location('far', 'up')],
    {
      status: 'unavailable',
      locations: [{ name: 'default', reads: false, writes: false, stores: [{ name: 'default-0', state: 'out' }] }],
    },
  ],
  [
    'the default location is far, and is lost',
    true,
    [location('default', 'up'), location('far', 'out')],
    { status: 'unavailable', locations: lostFar },
    'far',
  ],
  ['nothing is served yet', false, [location('default', 'up')], { status: 'unavailable' }],
])('the admin port says how a server is: %s', (_, serving, locations, said, defaultLocation = 'default') => {
  expect(readinessOf({ locations, defaultLocation }, serving)).toEqual(said)
})

test('requests are judged by the clock that the members chose, and answers carry its date', async () => {
  const aheadMs = 3_600_000
  const requestClock = { ...systemClock, now: () => systemClock.now() + aheadMs }
  const key = { accessKeyId: 'AKTEST', secretAccessKey: 'a-secret-of-the-tests' }
  const endpoint = await openEndpoint({
    backend: { ...memoryStore().backend, requestClock },
    credentials: openCredentials([{ id: 'main', name: 'Main', keys: [key] }]),
    domains: [],
    region: 'us-east-1',
    corsAllowOrigin: [],
    accountBlocks: undefined,
    keyPair: undefined,
    allowCustomerKeysOverHttp: false,
    defaultChecksum: 'none',
    sigv2: 'off',
    log: silentLog(),
    listen: { host: '127.0.0.1', port: 0 },
  })
  const ask = async (nowMs: number) => {
    const asked = { method: 'GET', host: `127.0.0.1:${endpoint.port}`, path: '/' }
    const { headers, target: path } = sign(asked, { key, nowMs })
    const sent = request({ port: endpoint.port, path, headers: headers.flat() }).end()
    const [answer]: IncomingMessage[] = await once(sent, 'response')
    answer?.resume()
    return { status: answer?.statusCode, dateMs: Date.parse(answer?.headers.date ?? '') }
  }
  try {
    const nowMs = systemClock.now()
    expect((await ask(nowMs)).status).toBe(403)
    const { status, dateMs } = await ask(nowMs + aheadMs)
    expect(status).toBe(200)
    expect(Math.abs(dateMs - nowMs - aheadMs)).toBeLessThan(60_000)
  } finally {
    await endpoint.close()
  }
})
