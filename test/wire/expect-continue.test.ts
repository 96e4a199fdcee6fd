/** `Expect: 100-continue`: a body is asked for only when it would be taken. */
import { describe, expect, it } from 'vitest'
import { type Ask, signAsk, styleName, styles } from '../support/wire-client.ts'
import { kmsHeaders } from '../support/wire-encryption.ts'
import { wireServer, wireTo } from '../support/wire-fixture.ts'
import { requestBytes, sendRaw } from '../support/wire-raw.ts'
import { otherKey } from '../support/wire-server.ts'

const text = 'sent when asked for'

const server = wireServer()

describe.each(styles.map((style) => [styleName(style), style] as const))('%s', (_, style) => {
  const wire = wireTo(server, style, async (wire) => {
    await server.empty()
    await wire.must({ method: 'PUT' })
    await wire.must({ method: 'PUT', key: 'there', body: 'old' })
  })

  /** The head alone; the body follows when the server asks for it. */
  const ask = (what: Partial<Ask>, change: (head: Buffer) => Buffer = (head) => head) => {
    const signed = signAsk(
      { method: 'PUT', key: 'new', body: text, ...what, headers: { Expect: '100-continue', ...what.headers } },
      server.port,
      style,
    )
    const head = requestBytes({ ...signed, body: Buffer.alloc(0) })
    return sendRaw(server.port, change(head), { onInterim: () => signed.body })
  }

  it('asks for the body of a request that it takes', async () => {
    const reply = await ask({})
    expect(reply.all).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
    expect((await wire.must({ method: 'GET', key: 'new' })).body.toString()).toBe(text)
  })

  it.each<[what: string, code: string, ask: Partial<Ask>]>([
    ['there is no bucket', 'NoSuchBucket', { bucket: 'nowhere' }],
    ["the bucket is another account's", 'AccessDenied', { signedBy: otherKey }],
    ['the key is unknown', 'InvalidAccessKeyId', { signedBy: { accessKeyId: 'AKNOBODY', secretAccessKey: 'x' } }],
    ['the secret is wrong', 'SignatureDoesNotMatch', { signedBy: { accessKeyId: 'AKMAIN', secretAccessKey: 'x' } }],
    ['a condition fails', 'PreconditionFailed', { key: 'there', headers: { 'If-None-Match': '*' } }],
    ['the digest is none', 'InvalidDigest', { headers: { 'Content-MD5': 'x' } }],
    ['the tags are none', 'InvalidArgument', { vendor: { tagging: 'a=1&a=2' } }],
    ['the encryption is none', 'InvalidArgument', { vendor: { 'server-side-encryption': 'none' } }],
    ['there is no such key', 'KMS.NotFoundException', { vendor: kmsHeaders('nobody') }],
    ['there is no upload', 'NoSuchUpload', { query: { partNumber: '1', uploadId: 'nothing' } }],
    ['the part number is none', 'InvalidArgument', { query: { partNumber: '0', uploadId: 'nothing' } }],
    ['the key is too long', 'KeyTooLongError', { key: 'k'.repeat(1025) }],
  ])('does not ask for the body when %s', async (_what, code, what) => {
    const reply = await ask(what)
    expect(reply.code).toBe(code)
    expect(reply.all).not.toContain('100 Continue')
    // The body was never sent, so what would follow on this connection can't be told apart from it.
    expect(reply.head).toMatch(/\r\nConnection: close/i)
  })

  it('does not ask for a body that is too large', async () => {
    const signed = signAsk(
      { method: 'PUT', key: 'new', payload: 'unsigned', headers: { Expect: '100-continue' } },
      server.port,
      style,
    )
    const head = requestBytes(signed).toString('latin1').replace('Content-Length: 0', 'Content-Length: 5368709121')
    const reply = await sendRaw(server.port, head)
    expect([reply.code, reply.all.includes('100 Continue')]).toEqual(['EntityTooLarge', false])
  })

  it.each(['a-miracle', ''])('ignores an expectation that it does not know: "%s"', async (expectation) => {
    const headers = { Expect: expectation }
    const { headers: sent, ...rest } = signAsk({ method: 'PUT', key: 'new', body: text, headers }, server.port, style)
    const reply = await sendRaw(server.port, requestBytes({ ...rest, headers: sent }))
    expect([reply.status, reply.all.includes('100 Continue')]).toEqual([200, false])
    expect((await wire.must({ method: 'GET', key: 'new' })).body.toString()).toBe(text)
  })
})
