import { expect, test } from 'vitest'
import { unknownVariables } from '../../src/config/unknown-variables.ts'

test('a variable that nothing reads is named, with the one that was probably meant', () => {
  const set = { HOLDFAST_LISTN: ':1', HOLDFAST_ZZZZ: '1', HOLDFAST_DATE: '', PATH: '/bin', MINIO_LISTEN: 'x' }
  expect(unknownVariables(set)).toEqual(["HOLDFAST_LISTN; did you mean 'HOLDFAST_LISTEN'?", 'HOLDFAST_ZZZZ'])
})

test('variables that are read, and those of a service that has the name of the server, are not named', () => {
  const set = {
    HOLDFAST_DATA: '/data',
    HOLDFAST_SECRET_ACCESS_KEY: 'x',
    HOLDFAST_KEY_RING: 'x',
    HOLDFAST_IMPORT_ACCESS_KEY_ID: 'x',
    HOLDFAST_SERVICE_HOST: '10.0.0.1',
    HOLDFAST_SERVICE_PORT: '9000',
    HOLDFAST_ADMIN_SERVICE_PORT_HTTP: '9001',
    HOLDFAST_PORT: 'tcp://10.0.0.1:9000',
    HOLDFAST_PORT_9000_TCP_ADDR: '10.0.0.1',
  }
  expect(unknownVariables(set)).toEqual([])
})
