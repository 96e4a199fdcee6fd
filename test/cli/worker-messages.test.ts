import { expect, test } from 'vitest'
import { readFromWorker, readToWorker } from '../../src/cli/worker-messages.ts'

test.each([
  undefined,
  'drain',
  { kind: 'another' },
  { kind: 'connection' },
  { kind: 'connection', id: '1' },
  { kind: 'serve', configuration: null, instanceId: 'a' },
  { kind: 'renew-tls', keyPair: { cert: 'a' } },
  { kind: 'learn' },
])('a worker refuses %j', (message) => {
  expect(() => readToWorker(message)).toThrow()
})

test.each([undefined, { kind: 'another' }, { kind: 'took' }, { kind: 'knows' }, { kind: 'failed', message: 1 }])(
  'the primary ignores %j',
  (message) => {
    expect(readFromWorker(message)).toBeUndefined()
  },
)

test.each([
  { kind: 'drain' },
  { kind: 'connection', id: 1 },
  { kind: 'learn', generation: 1 },
  { kind: 'renew', renewal: { accounts: [] } },
])('a worker obeys %j', (message) => {
  expect(readToWorker(message)).toEqual(message)
})
