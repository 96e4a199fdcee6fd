/** Form posts, by which browsers upload: refused by their name, whoever sends them, and nothing is stored. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DialectPrefix } from '../support/signer.ts'
import { openWire, type Wire } from '../support/wire-client.ts'
import { type RawReply, sendRaw } from '../support/wire-raw.ts'
import { startWireServer, type WireServer } from '../support/wire-server.ts'

let server: WireServer
let wire: Wire
beforeAll(async () => {
  server = await startWireServer()
  wire = openWire(server.port, { prefix: 'x-amz-', hosting: 'path' })
  await wire.must({ method: 'PUT' })
})
afterAll(async () => {
  wire.close()
  await server.close()
  expect(server.unexpected).toEqual([])
})

function fields(prefix: DialectPrefix): string {
  const values = [
    ['key', 'posted'],
    ['policy', 'e30='],
    [`${prefix}algorithm`, 'AWS4-HMAC-SHA256'],
    [`${prefix}signature`, '0'.repeat(64)],
    ['file', 'data'],
  ]
  const parts = values.map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return `${parts.join('')}--b--\r\n`
}

function post(target: string, host: string, contentType: string, prefix: DialectPrefix): Promise<RawReply> {
  const body = fields(prefix)
  const head = [`POST ${target} HTTP/1.1`, `Host: ${host}`, `Content-Type: ${contentType}`, 'Connection: close']
  return sendRaw(server.port, `${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
}

const form = 'multipart/form-data; boundary=b'

describe.each(['x-amz-', 'x-store-'] as const)('%s', (prefix) => {
  it.each([
    ['/wire', 'localhost', '/wire'],
    ['/wire/', 'localhost', '/wire'],
    ['/', 'wire.localhost', '/wire'],
    ['/nowhere', 'localhost', '/nowhere'],
  ])('a form posted to %s of %s is refused by its name', async (target, host, resource) => {
    const reply = await post(target, host, form, prefix)
    expect([reply.status, reply.code]).toEqual([501, 'NotImplemented'])
    expect(reply.body).toContain('<Message>PostObject is not implemented by this server.</Message>')
    expect(reply.body).toContain(`<Resource>${resource}</Resource>`)
    const requestId = /request-id: (\w+)/i.exec(reply.head)?.[1] ?? ''
    expect(await server.logged(requestId)).toMatchObject({ operation: 'PostObject', code: 'NotImplemented' })
    expect((await wire.must({ method: 'GET' })).body.toString()).not.toContain('<Key>')
  })

  it.each([
    ['to an object', '/wire/key', form],
    ['to the service', '/', form],
    ['with a query', '/wire?delete', form],
    ['that is no form', '/wire', 'application/x-www-form-urlencoded'],
  ])('what is posted %s is a request without signature', async (_what, target, contentType) => {
    expect(await post(target, 'localhost', contentType, prefix)).toMatchObject({ status: 403, code: 'AccessDenied' })
  })
})

it('a form in a signed request is refused by its name, too', async () => {
  const reply = await wire.ask({ method: 'POST', headers: { 'Content-Type': form }, body: fields('x-amz-') })
  expect(reply.status).toBe(501)
  expect(reply.body.toString()).toContain('PostObject')
})
