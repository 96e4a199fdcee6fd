/** PutPublicAccessBlock, GetPublicAccessBlock and DeletePublicAccessBlock over the wire. */
import {
  DeletePublicAccessBlockCommand,
  GetPublicAccessBlockCommand,
  PutPublicAccessBlockCommand,
} from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import { putOwnership } from '../support/wire-acl.ts'
import { md5Base64 } from '../support/wire-checksums.ts'
import type { Ask, Wire } from '../support/wire-client.ts'
import { refusal, wireTests } from '../support/wire-rows.ts'
import { sdk } from '../support/wire-sdk.ts'
import { otherKey } from '../support/wire-server.ts'

const query = { publicAccessBlock: '' }
const names = ['BlockPublicAcls', 'IgnorePublicAcls', 'BlockPublicPolicy', 'RestrictPublicBuckets'] as const
const Bucket = 'wire'
const noBlock = refusal('NoSuchPublicAccessBlockConfiguration', { BucketName: 'wire' })

const blockOf = (...blocked: readonly string[]): Record<string, boolean> =>
  Object.fromEntries(names.map((name) => [name, blocked.includes(name)]))
const put = (block: Record<string, unknown>): Ask => {
  const elements = Object.entries(block).map(([name, value]) => `<${name}>${value}</${name}>`)
  const body = `<PublicAccessBlockConfiguration>${elements.join('')}</PublicAccessBlockConfiguration>`
  return { method: 'PUT', query, headers: { 'Content-MD5': md5Base64(body) }, body }
}
const get: Ask = { method: 'GET', query }
const remove: Ask = { method: 'DELETE', query }
const answers = (block: Record<string, boolean>) => ({
  PublicAccessBlockConfiguration: Object.fromEntries(Object.entries(block).map(([name, on]) => [name, String(on)])),
})
const holds =
  (block: Record<string, boolean>) =>
  async (wire: Wire): Promise<void> => {
    const text = (await wire.must(get)).body.toString()
    for (const [name, on] of Object.entries(block)) expect(text).toContain(`<${name}>${on}</${name}>`)
  }
const all = blockOf(...names)
const blockAll = async (wire: Wire): Promise<void> => void (await wire.must(put(all)))

const policy = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::wire/open' }],
})
const putPolicy: Ask = { method: 'PUT', query: { policy: '' }, body: policy }
const putList: Ask = { method: 'PUT', key: 'open', query: { acl: '' }, vendor: { acl: 'public-read' } }

const statusUnsigned = async (wire: Wire): Promise<number> =>
  (await wire.ask({ method: 'GET', key: 'open', unsigned: true })).status
/** An object that everybody may read by what is asked. */
const opened =
  (...asks: Ask[]) =>
  async (wire: Wire): Promise<void> => {
    await wire.must({ method: 'PUT', key: 'open', body: 'open' })
    await wire.must(putOwnership('ObjectWriter'))
    for (const ask of asks) await wire.must(ask)
    expect(await statusUnsigned(wire)).toBe(asks.length === 0 ? 403 : 200)
  }
const isClosed = async (wire: Wire): Promise<void> => expect(await statusUnsigned(wire)).toBe(403)
const isRefused = (ask: Ask) => async (wire: Wire) => {
  const { status, body } = await wire.ask(ask)
  expect([status, body.toString()]).toEqual([403, expect.stringContaining('<Code>AccessDenied</Code>')])
}
const effects = {
  BlockPublicAcls: { given: opened(), afterwards: isRefused(putList) },
  IgnorePublicAcls: { given: opened(putList), afterwards: isClosed },
  BlockPublicPolicy: { given: opened(), afterwards: isRefused(putPolicy) },
  RestrictPublicBuckets: { given: opened(putPolicy), afterwards: isClosed },
}

wireTests('PutPublicAccessBlock', [
  {
    it: 'blocks all',
    status: 200,
    ask: put(all),
    afterwards: holds(all),
    sdk: sdk(PutPublicAccessBlockCommand, { Bucket, PublicAccessBlockConfiguration: all }),
  },
  {
    it: 'needs no digest, as in S3',
    status: 200,
    ask: { ...put(all), headers: {} },
    afterwards: holds(all),
  },
  ...names.map((name) => ({
    it: `takes ${name} for itself`,
    status: 200,
    given: blockAll,
    ask: put({ [name]: true }),
    afterwards: holds(blockOf(name)),
  })),
  ...names.map((name) => ({
    it: `blocks by ${name} alone`,
    proves: [`element:PublicAccessBlockConfiguration/${name}`],
    status: 200,
    ...effects[name],
    ask: put({ [name]: true }),
  })),
  {
    it: 'refuses a document that sets nothing',
    ...refusal('InvalidRequest', {}),
    message: 'Must specify at least one configuration.',
    given: blockAll,
    ask: put({}),
    afterwards: holds(all),
  },
  {
    it: 'refuses what is no truth value',
    ...refusal('MalformedXML', { Element: 'BlockPublicAcls' }),
    given: blockAll,
    ask: put({ BlockPublicAcls: 'yes' }),
    afterwards: holds(all),
  },
  {
    it: 'is refused to another account',
    ...refusal('AccessDenied', {}),
    ask: { ...put(all), signedBy: otherKey },
    afterwards: async (wire) => void expect((await wire.ask(get)).status).toBe(404),
  },
  { it: 'finds no bucket', ...refusal('NoSuchBucket', { BucketName: 'wire' }), withoutBucket: true, ask: put(all) },
])

wireTests('GetPublicAccessBlock', [
  { it: 'finds none from the start', ...noBlock, ask: get },
  {
    it: 'answers each by itself',
    status: 200,
    given: async (wire) => void (await wire.must(put({ BlockPublicPolicy: true }))),
    ask: get,
    xml: answers(blockOf('BlockPublicPolicy')),
    sdk: sdk(GetPublicAccessBlockCommand, { Bucket }, { PublicAccessBlockConfiguration: blockOf('BlockPublicPolicy') }),
  },
  { it: 'is refused to another account', ...refusal('AccessDenied', {}), ask: { ...get, signedBy: otherKey } },
])

wireTests('DeletePublicAccessBlock', [
  {
    it: 'lifts it',
    status: 204,
    given: blockAll,
    ask: remove,
    afterwards: async (wire) => void expect((await wire.ask(get)).status).toBe(404),
    sdk: sdk(DeletePublicAccessBlockCommand, { Bucket }),
  },
  { it: 'finds nothing to lift', status: 204, ask: remove },
  {
    it: 'is refused to another account',
    ...refusal('AccessDenied', {}),
    given: blockAll,
    ask: { ...remove, signedBy: otherKey },
    afterwards: holds(all),
  },
])
