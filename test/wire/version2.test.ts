/** Requests under Signature Version 2 over the wire, with each setting: in URLs as boto3 makes them, and in headers as old clients do. */
import { Agent } from 'node:http'
import { afterAll, describe, expect, it } from 'vitest'
import type { RequestToSign, SignedRequest } from '../support/signer.ts'
import { presignVersion2, signVersion2 } from '../support/signer-version2.ts'
import { exchange, type Reply } from '../support/wire-client.ts'
import { plainStyle, wireServer, wireTo } from '../support/wire-fixture.ts'
import { mainKey } from '../support/wire-server.ts'
import { textIn } from '../support/wire-uploads.ts'

describe.each(['off', 'presigned', 'all'] as const)('sigv2 = %s', (sigv2) => {
  const agent = new Agent({ keepAlive: true })
  const server = wireServer({ sigv2 })
  const wire = wireTo(server, plainStyle, async (wire) => {
    await wire.must({ method: 'PUT' })
    await wire.must({ method: 'PUT', key: 'a', body: 'text', vendor: { 'meta-a': 'b' } })
  })
  afterAll(() => agent.destroy())

  const send = (signed: SignedRequest): Promise<Reply> => exchange(agent, server.port, signed)
  const whole = (request: Partial<RequestToSign>): RequestToSign => ({
    method: 'GET',
    host: `127.0.0.1:${server.port}`,
    path: '/wire/a',
    ...request,
  })
  const byUrl = (request: Partial<RequestToSign> = {}): Promise<Reply> =>
    send(presignVersion2(whole(request), { key: mainKey, expires: Math.floor(Date.now() / 1000) + 60 }))
  const byHeader = (request: Partial<RequestToSign> = {}): Promise<Reply> =>
    send(signVersion2(whole(request), { key: mainKey, nowMs: Date.now() }))

  it.runIf(sigv2 === 'off')('refuses a URL, and says which settings would take it', async () => {
    const reply = await byUrl()
    expect([reply.status, textIn(reply, 'Code')]).toEqual([400, 'InvalidRequest'])
    expect(textIn(reply, 'Message')).toContain('sigv2 = presigned or sigv2 = all')
  })

  it.runIf(sigv2 !== 'all')('refuses a header, and says which setting would take it', async () => {
    const reply = await byHeader()
    expect([reply.status, textIn(reply, 'Code')]).toEqual([400, 'InvalidRequest'])
    expect(textIn(reply, 'Message')).toContain('sigv2 = all')
  })

  it.runIf(sigv2 !== 'off')('takes a URL, and answers in the dialect of AWS', async () => {
    const read = await byUrl()
    expect([read.status, read.body.toString(), read.headers.get('x-amz-meta-a')]).toEqual([200, 'text', 'b'])
    expect((await byUrl({ path: '/wire' })).body.toString()).toContain(
      'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"',
    )
    const missing = await byUrl({ path: '/wire/nothing' })
    expect([missing.status, missing.headers.has('x-amz-request-id')]).toEqual([404, true])
  })

  it.runIf(sigv2 !== 'off')('writes by a URL what the URL says, and nothing else', async () => {
    const put = { method: 'PUT', path: '/wire/put', body: 'new' }
    const written = await byUrl({
      ...put,
      query: [
        ['x-amz-meta-colour', 'blau ü'],
        ['x-amz-acl', 'private'],
      ],
    })
    expect(written.status).toBe(200)
    const { headers, body } = await wire.must({ method: 'GET', key: 'put' })
    const colour = Buffer.from(headers.get('x-amz-meta-colour') ?? '', 'latin1').toString()
    expect([body.toString(), colour]).toEqual(['new', 'blau ü'])
    const asked = await byUrl({ ...put, query: [['x-amz-object-lock-mod', 'COMPLIANCE']] })
    expect([asked.status, textIn(asked, 'NotImplemented')]).toEqual([501, 'x-amz-object-lock-mod'])
  })

  it.runIf(sigv2 === 'all')('takes headers, and lists by parameters that version 2 does not sign', async () => {
    const written = await byHeader({ method: 'PUT', path: '/wire/h', headers: [['Content-Type', 'a/b']], body: 'x' })
    expect(written.status).toBe(200)
    const listed = await byHeader({
      path: '/wire',
      query: [
        ['list-type', '2'],
        ['prefix', 'h'],
        ['delimiter', '/'],
      ],
    })
    expect([...listed.body.toString().matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key)).toEqual(['h'])
    const routed = await byHeader({ query: [['attributes', '']], headers: [['x-amz-object-attributes', 'ETag']] })
    expect([routed.status, textIn(routed, 'ParametersNotSigned')]).toEqual([403, 'attributes'])
    expect((await byHeader({ method: 'DELETE', path: '/wire/h' })).status).toBe(204)
  })
})
