/** Operations that S3 knows and this server does not: refused by name, never taken for another operation. */
import { expect } from 'vitest'
import { refusedOperations } from '../../src/operations/refused-operations.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { type Row, refusal, wireTests } from '../support/wire-rows.ts'

const text = 'still here'
const given = async (wire: Wire): Promise<void> => {
  await wire.must({ method: 'PUT', key: 'a', body: text })
}
const afterwards = async (wire: Wire): Promise<void> => {
  expect((await wire.must({ method: 'GET', key: 'a' })).body.toString()).toBe(text)
}

for (const { name, method, target, query } of refusedOperations) {
  const parameters = Object.fromEntries(
    query.map((text) => text.split('=', 2)).map(([key = '', value = '']) => [key, value]),
  )
  const hasBody = method === 'PUT' || method === 'POST'
  const ask: Ask = {
    method: method as Ask['method'],
    query: parameters,
    ...(target === 'object' ? { key: 'a' } : {}),
    ...(hasBody ? { body: '<Anything/>' } : {}),
  }
  const row: Row = {
    it: 'is refused by its name, and changes nothing',
    ...refusal('NotImplemented', { NotImplemented: name }),
    given,
    ask,
    afterwards,
  }
  wireTests(name, [row])
}
