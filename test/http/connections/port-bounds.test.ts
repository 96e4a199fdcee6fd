import { expect, it } from 'vitest'
import { portBounds } from '../../../src/http/connections/port-bounds.ts'
import { limits } from '../../../src/limits.ts'

const { connectionsMax, requestsInFlightMax, clientBytesMax, clientBytesPerSecondMin } = limits
const whole = { connectionsMax, requestsInFlightMax, clientBytesMax, clientBytesPerSecondMin }
const many = 1_000_000

it.each([
  ['one process may have everything', {}, many, whole],
  [
    'one process of 4 has a quarter',
    { workers: 4 },
    many,
    {
      ...whole,
      connectionsMax: connectionsMax / 4,
      requestsInFlightMax: requestsInFlightMax / 4,
      clientBytesMax: clientBytesMax / 4,
    },
  ],
  ['a part is never nothing', { workers: 64, connectionsMax: 16 }, many, { connectionsMax: 1 }],
  ['files need descriptors too', {}, 1024, { connectionsMax: 512, requestsInFlightMax: 256, clientBytesMax }],
  [
    'a slowest rate is that of each client',
    { workers: 4, clientBytesPerSecondMin: 0 },
    many,
    { clientBytesPerSecondMin: 0 },
  ],
])('%s', (_what, settings, descriptors, bounds) => {
  expect(portBounds(settings, descriptors)).toMatchObject(bounds)
})
