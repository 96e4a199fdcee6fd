/** Malformed requests, each with its exact code. Whatever is sent: no 5xx but what is refused by name, nothing changes, and the server goes on. */
import { describe, expect, it } from 'vitest'
import { errorTable } from '../../src/errors.ts'
import { styleName } from '../support/wire-client.ts'
import { plainStyle, wireServer, wireTo } from '../support/wire-fixture.ts'
import { sendRaw } from '../support/wire-raw.ts'
import { badAddresses } from './bad-input/addresses.ts'
import { badBodies } from './bad-input/bodies.ts'
import { badChunks } from './bad-input/chunks.ts'
import { badDocuments } from './bad-input/documents.ts'
import { badHeaders } from './bad-input/headers.ts'
import { badHttp } from './bad-input/http.ts'
import { badQueries } from './bad-input/queries.ts'
import { badSignatures } from './bad-input/signatures.ts'
import { badUrls } from './bad-input/urls.ts'

const all = [
  ...badSignatures,
  ...badUrls,
  ...badChunks,
  ...badDocuments,
  ...badQueries,
  ...badHeaders,
  ...badAddresses,
  ...badBodies,
  ...badHttp,
]

const server = wireServer()
const wire = wireTo(server, plainStyle, async (wire) => {
  await wire.must({ method: 'PUT' })
  await wire.must({ method: 'PUT', key: 'a', body: 'old' })
})

it('is a table of at least 150 requests, all different', () => {
  expect(all.length).toBeGreaterThanOrEqual(150)
  expect(new Set(all.map(({ what }) => what)).size).toBe(all.length)
})

describe.each(['x-amz-', 'x-store-'] as const)('%s', (prefix) => {
  it.each(all.map((row) => [row.what, row] as const))('%s', async (_, { code, send, bodiless, ends = false }) => {
    const on = { port: server.port, prefix }
    const reply = await sendRaw(server.port, send(on), { ends })
    const { status } = errorTable[code]
    expect({ status: reply.status, code: reply.code }).toEqual({ status, code: bodiless ? '' : code })
    expect(status < 500 || code === 'NotImplemented').toBe(true)
  })
})

it(`answers as before, and has changed nothing (${styleName({ prefix: 'x-amz-', hosting: 'path' })})`, async () => {
  expect((await wire.must({ method: 'GET', key: 'a' })).body.toString()).toBe('old')
  const { body } = await wire.must({ method: 'GET' })
  expect([...body.toString().matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key)).toEqual(['a'])
  const buckets = (await wire.must({ method: 'GET', bucket: '' })).body.toString()
  expect([...buckets.matchAll(/<Name>(.*?)</g)].map(([, name]) => name)).toEqual(['wire'])
  expect(server.unexpected).toEqual([])
})
