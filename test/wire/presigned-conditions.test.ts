/** What bucket policies can ask about a presigned URL, however its parameters are spelled. */
import { createHash } from 'node:crypto'
import { Agent } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HeaderPair, presign, type SignedRequest } from '../support/signer.ts'
import { exchange, openWire, type Wire } from '../support/wire-client.ts'
import { mainKey, startWireServer, type WireServer } from '../support/wire-server.ts'

const agent = new Agent({ keepAlive: true })
let server: WireServer
let wire: Wire
beforeAll(async () => {
  server = await startWireServer()
  wire = openWire(server.port, { prefix: 'x-amz-', hosting: 'path' })
  await wire.must({ method: 'PUT' })
})
afterAll(async () => {
  agent.destroy()
  wire.close()
  await server.close()
  expect(server.unexpected).toEqual([])
})

async function denyWrites(Condition: object): Promise<void> {
  const statement = {
    Effect: 'Deny',
    Principal: '*',
    Action: 's3:PutObject',
    Resource: 'arn:aws:s3:::wire/*',
    Condition,
  }
  const body = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
  await wire.must({ method: 'PUT', query: { policy: '' }, body })
}

const body = 'data'
const digest = createHash('sha256').update(body).digest('hex')

async function statusOf(request: SignedRequest): Promise<number> {
  return (await exchange(agent, server.port, request)).status
}

/** The same URL with a name, or the value behind it, percent-encoded where it need not be. Its signature stays valid. */
const respelled = (request: SignedRequest, from: RegExp, to: string): SignedRequest => {
  const target = request.target.replace(from, to)
  expect(target).not.toBe(request.target)
  return { ...request, target }
}

describe.each([
  ['x-amz-', 'X-Amz-'],
  ['x-store-', 'X-Store-'],
] as const)('a URL with %s parameters', (prefix, spelled) => {
  const signed = (query: HeaderPair[] = [], payloadHash?: string): SignedRequest =>
    presign(
      { method: 'PUT', path: '/wire/a', host: `localhost:${server.port}`, query, body },
      { key: mainKey, prefix, nowMs: Date.now() - 120_000, ...(payloadHash === undefined ? {} : { payloadHash }) },
    )
  const spellings: readonly [what: string, from: RegExp, to: string][] = [
    ['as it was signed', /^/, ''],
    ['with another spelling of the date’s name', /X-(Amz|Store)-Date=/, '%58-$1-D%61te='],
    ['with another spelling of the date', /-Date=2/, '-Date=%32'],
    ['with another spelling of the algorithm’s name', /-Algorithm=/, '-%41lgorithm='],
  ]

  it.each(spellings)('is too old, %s', async (_what, from, to) => {
    await denyWrites({ NumericGreaterThan: { 's3:signatureAge': '60000' } })
    const url = signed()
    expect(await statusOf(to === '' ? url : respelled(url, from, to))).toBe(403)
    await denyWrites({ NumericGreaterThan: { 's3:signatureAge': '200000' } })
    expect(await statusOf(to === '' ? url : respelled(url, from, to))).toBe(200)
  })

  it.each(spellings)('is signed by version 4, %s', async (_what, from, to) => {
    await denyWrites({ StringNotEquals: { 's3:signatureversion': 'AWS4-HMAC-SHA256' } })
    const url = signed()
    expect(await statusOf(to === '' ? url : respelled(url, from, to))).toBe(200)
  })

  it('is of any payload, unless it says the payload’s digest', async () => {
    const name = `${spelled}Content-Sha256`
    await denyWrites({ StringEquals: { 's3:x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } })
    expect(await statusOf(signed())).toBe(403)
    const said = signed([[name, 'UNSIGNED-PAYLOAD']])
    expect(await statusOf(said)).toBe(403)
    expect(await statusOf(respelled(said, /=UNSIGNED/, '=%55NSIGNED'))).toBe(403)
    expect(await statusOf(signed([[name, digest]], digest))).toBe(200)
    await denyWrites({ StringNotEquals: { 's3:x-amz-content-sha256': digest } })
    expect(await statusOf(signed([[name, digest]], digest))).toBe(200)
  })
})
