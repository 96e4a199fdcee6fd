import { expect, test } from 'vitest'
import { readinessOf } from '../../src/opening/admin/pipeline.ts'
import { isReady } from '../../src/opening/endpoint.ts'

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

const location = (name: string, ...states: ('up' | 'out')[]) => ({
  name,
  stores: stores(...states),
  copies: 1,
  writeAck: 1,
})

type Located = ReturnType<typeof location>

test.each<[string, boolean, Located[], string, string?]>([
  ['everything is well', true, [location('default', 'up'), location('far', 'up')], 'ready'],
  ['another location is lost', true, [location('default', 'up'), location('far', 'out')], 'degraded'],
  ['the default location is lost', true, [location('default', 'out'), location('far', 'up')], 'unavailable'],
  [
    'the default location is far, and is lost',
    true,
    [location('default', 'up'), location('far', 'out')],
    'unavailable',
    'far',
  ],
  ['nothing is served yet', false, [location('default', 'up')], 'unavailable'],
])('the admin port says how a server is: %s', (_, serving, locations, status, defaultLocation = 'default') => {
  expect(readinessOf({ locations, defaultLocation }, serving)).toEqual({ status })
})
