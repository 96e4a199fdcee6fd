/** Which connections stay on this machine. */
import { expect, it } from 'vitest'
import { bothEndsLoopback } from '../../../src/http/connections/loopback.ts'

it.each([
  ['127.0.0.1', '127.0.0.1', true],
  ['127.0.0.1', '127.255.0.9', true],
  ['::1', '::1', true],
  ['::ffff:127.0.0.1', '::ffff:127.0.0.1', true],
  ['::FFFF:127.0.0.1', '127.0.0.1', true],
  ['10.0.0.1', '10.0.0.1', false],
  ['10.0.0.1', '127.0.0.1', false],
  ['127.0.0.1', '10.0.0.1', false],
  ['127.0.0.1.example.org', '127.0.0.1', false],
  ['1127.0.0.1', '127.0.0.1', false],
  ['::ffff:10.0.0.1', '::ffff:127.0.0.1', false],
  ['::1:127.0.0.1', '::1', false],
  ['fe80::1', '::1', false],
  [undefined, '127.0.0.1', false],
  ['127.0.0.1', undefined, false],
])('from %s to %s: %s', (remoteAddress, localAddress, stays) => {
  expect(bothEndsLoopback({ remoteAddress, localAddress })).toBe(stays)
})
