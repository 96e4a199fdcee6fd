import { expect, test } from 'vitest'
import { readFromWorker, readToWorker } from '../../../src/cli/serving/worker-messages.ts'

test.each([
  undefined,
  'drain',
  { kind: 'another' },
  { kind: 'connection' },
  { kind: 'connection', id: '1' },
  { kind: 'serve', configuration: null, instanceId: 'a' },
  { kind: 'renew-tls', keyPair: { cert: 'a' } },
  { kind: 'learn' },
  { kind: 'console-origins', consoleOrigins: 'http://127.0.0.1:9001' },
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
  { kind: 'console-origins', consoleOrigins: ['http://127.0.0.1:9001'] },
])('a worker obeys %j', (message) => {
  expect(readToWorker(message)).toEqual(message)
})
