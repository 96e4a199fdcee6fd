/** A customer's key that came in a request leaves in no answer and in no line of the log, whatever is wrong with the request. */
import { describe, expect, it } from 'vitest'
import type { Ask } from '../support/wire-client.ts'
import { customerHeaders, secretOf } from '../support/wire-encryption.ts'
import { wireServer, wireTo } from '../support/wire-fixture.ts'
import { mainKey } from '../support/wire-server.ts'

const server = wireServer()

const name = 'server-side-encryption-customer-key'
const secret = secretOf('owner').toString('base64')
const stranger = { ...mainKey, secretAccessKey: 'another' }
const vendor = customerHeaders('owner')
const read = { method: 'GET', key: 'sealed' } as const

describe.each(['x-amz-', 'x-store-'] as const)('%s', (prefix) => {
  const otherPrefix = prefix === 'x-amz-' ? 'x-store-' : 'x-amz-'
  const wire = wireTo(server, { prefix, hosting: 'path' }, async (wire) => {
    await server.empty()
    await wire.must({ method: 'PUT' })
    await wire.must({ method: 'PUT', key: 'sealed', body: 'x', vendor })
  })

  it.each<[what: string, code: string, ask: Ask]>([
    ['a wrong signature', 'SignatureDoesNotMatch', { ...read, vendor, signedBy: stranger }],
    ['a wrong signature of a URL', 'SignatureDoesNotMatch', { ...read, vendor, signedBy: stranger, presigned: true }],
    [
      'the key in a URL and in a header',
      'InvalidArgument',
      { ...read, vendor, presigned: true, headers: { [prefix + name]: secret } },
    ],
    [
      'two keys by two names',
      'InvalidArgument',
      { ...read, vendor, headers: { [otherPrefix + name]: secretOf('other').toString('base64') } },
    ],
    ['another key', 'AccessDenied', { ...read, vendor: customerHeaders('other') }],
    ['a key where none may come', 'NotImplemented', { method: 'DELETE', key: 'sealed', vendor }],
    ['a key of a bucket', 'NotImplemented', { method: 'PUT', bucket: 'another', vendor }],
    ['an MD5 that is wrong', 'InvalidArgument', { ...read, vendor: { ...vendor, [`${name}-MD5`]: secret } }],
    ['an algorithm that is the key', 'InvalidEncryptionAlgorithmError', algorithmIs(secret)],
    ['an old signature', 'RequestTimeTooSkewed', { ...read, vendor, signedAtMs: 0 }],
  ])('not for %s', async (_what, code, ask) => {
    const reply = await wire.ask(ask)
    const text = reply.body.toString()
    expect(/<Code>([^<]*)/.exec(text)?.[1]).toBe(code)
    const line = await server.logged(reply.headers.get(`${prefix}request-id`) ?? '')
    const told = text + JSON.stringify([...reply.headers, line])
    for (const owner of ['owner', 'other']) {
      const key = secretOf(owner).toString('base64')
      expect(told).not.toContain(key)
      expect(told).not.toContain(encodeURIComponent(key))
    }
  })
})

function algorithmIs(value: string): Ask {
  return { ...read, vendor: { ...vendor, 'server-side-encryption-customer-algorithm': value } }
}
