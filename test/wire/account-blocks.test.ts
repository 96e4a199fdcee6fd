/** What an account blocks for all its buckets, over the wire: what it keeps from the public, and what it does not. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { blockDocument, getBlock, kindsOfBlock, ofMain, putBlock, removeBlock } from '../support/wire-account-blocks.ts'
import { type Ask, openWire, type Wire } from '../support/wire-client.ts'
import { putDocument } from '../support/wire-documents.ts'
import { mainKey, otherKey, startWireServer, type WireServer } from '../support/wire-server.ts'
import { openToAll, visit } from '../support/wire-sites.ts'

let server: WireServer
let wire: Wire
async function start(options: { blockPublic?: boolean } = {}): Promise<void> {
  server = await startWireServer(options)
  wire = openWire(server.port, { prefix: 'x-amz-', hosting: 'path' })
}
const stop = async (): Promise<void> => {
  wire.close()
  await server.close()
  expect(server.unexpected).toEqual([])
}

const anonymousGet = async (key = 'a'): Promise<number> =>
  (await wire.ask({ method: 'GET', key, unsigned: true })).status

describe('what an account blocks', () => {
  beforeAll(() => start())
  afterEach(async () => {
    await wire.must(removeBlock)
    await server.empty()
  })
  afterAll(stop)

  const publish = async (): Promise<void> => {
    await wire.must({ method: 'PUT' })
    await wire.must({ method: 'PUT', key: 'a', body: 'public' })
    await openToAll(wire)
  }

  it('closes its public buckets to strangers, not to itself, until it is taken back', async () => {
    await publish()
    expect(await anonymousGet()).toBe(200)
    await wire.must(putBlock('RestrictPublicBuckets'))
    expect(await anonymousGet()).toBe(403)
    expect((await wire.ask({ method: 'GET', key: 'a', signedBy: otherKey })).status).toBe(403)
    expect((await wire.ask({ method: 'GET', key: 'a' })).status).toBe(200)
    await wire.must(removeBlock)
    expect(await anonymousGet()).toBe(200)
  })

  it('closes its websites', async () => {
    await publish()
    const site = '<WebsiteConfiguration><IndexDocument><Suffix>a</Suffix></IndexDocument></WebsiteConfiguration>'
    await wire.must(putDocument({ website: '' }, site))
    expect((await visit(wire, '/')).status).toBe(200)
    await wire.must(putBlock('RestrictPublicBuckets'))
    expect((await visit(wire, '/')).status).toBe(403)
  })

  it('is added to what the bucket blocks: neither lifts the other', async () => {
    await publish()
    await wire.must(putDocument({ publicAccessBlock: '' }, blockDocument('RestrictPublicBuckets')))
    await wire.must(putBlock())
    expect(await anonymousGet()).toBe(403)
    await wire.must(putDocument({ publicAccessBlock: '' }, blockDocument()))
    expect(await anonymousGet()).toBe(200)
  })

  it('lets no policy in that is public', async () => {
    await wire.must({ method: 'PUT' })
    await wire.must(putBlock('BlockPublicPolicy'))
    await expect(openToAll(wire)).rejects.toThrow('AccessDenied')
    const closed = { Effect: 'Deny', Principal: '*', Action: 's3:*', Resource: 'arn:aws:s3:::wire/x' }
    const body = JSON.stringify({ Version: '2012-10-17', Statement: [closed] })
    await wire.must({ method: 'PUT', query: { policy: '' }, body })
  })

  it('lets no public list in, and takes none as said that is there', async () => {
    const lists = { vendor: { 'object-ownership': 'ObjectWriter' } }
    await wire.must({ method: 'PUT', ...lists })
    await wire.must({ method: 'PUT', key: 'a', body: 'public', vendor: { acl: 'public-read' } })
    expect(await anonymousGet()).toBe(200)
    await wire.must(putBlock('BlockPublicAcls'))
    const acl = 'public-read'
    const asks: Ask[] = [
      { method: 'PUT', key: 'b', body: 'b', vendor: { acl } },
      { method: 'PUT', key: 'a', query: { acl: '' }, vendor: { acl } },
      { method: 'PUT', query: { acl: '' }, vendor: { acl } },
      { method: 'PUT', bucket: 'made', vendor: { ...lists.vendor, acl } },
    ]
    for (const ask of asks) expect(await wire.ask(ask)).toMatchObject({ status: 403 })
    expect((await wire.ask({ method: 'HEAD', bucket: 'made' })).status).toBe(404)
    await wire.must({ method: 'PUT', key: 'b', body: 'b', vendor: { acl: 'private' } })
    // What was there counts as before, until it is ignored.
    expect(await anonymousGet()).toBe(200)
    await wire.must(putBlock('IgnorePublicAcls'))
    expect(await anonymousGet()).toBe(403)
  })

  it('does not reach the buckets of others', async () => {
    const theirs = { bucket: 'theirs', signedBy: otherKey }
    await wire.must({ method: 'PUT', ...theirs })
    await wire.must({ method: 'PUT', ...theirs, key: 'a', body: 'public' })
    const statement = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::theirs/*' }
    const body = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
    await wire.must(putBlock(...kindsOfBlock))
    await wire.must({ method: 'PUT', ...theirs, query: { policy: '' }, body })
    expect((await wire.ask({ method: 'GET', bucket: 'theirs', key: 'a', unsigned: true })).status).toBe(200)
  })
})

describe('the path of accounts', () => {
  beforeAll(() => start())
  afterEach(() => server.empty())
  afterAll(stop)
  const key = 'configuration/publicAccessBlock'

  it.each([
    ['path', { bucket: 'v20180820', key }],
    ['virtual-host', { bucket: 'main', key: `v20180820/${key}` }],
  ] as const)('is an object’s in %s style, without the header', async (hosting, object) => {
    const client = openWire(server.port, { prefix: 'x-amz-', hosting })
    await client.must({ method: 'PUT', bucket: object.bucket })
    await client.must({ method: 'PUT', ...object, body: 'an object' })
    expect((await client.must({ method: 'GET', ...object })).body.toString()).toBe('an object')
    expect((await client.ask(getBlock)).status).toBe(404)
    client.close()
  })

  it('is an object’s where the Host kindsOfBlock another bucket, header or not', async () => {
    const client = openWire(server.port, { prefix: 'x-amz-', hosting: 'virtual-host' })
    await client.must({ method: 'PUT', bucket: 'photos' })
    const object = { bucket: 'photos', key: `v20180820/${key}`, vendor: { 'account-id': 'main' } }
    await client.must({ method: 'PUT', ...object, body: blockDocument(...kindsOfBlock) })
    expect((await client.must({ method: 'GET', ...object })).body.toString()).toBe(blockDocument(...kindsOfBlock))
    expect((await client.ask(getBlock)).status).toBe(404)
    client.close()
  })

  it('takes no other method', async () => {
    expect((await wire.ask({ method: 'POST', ...ofMain, body: '' })).status).toBe(405)
  })

  it('is for users whose policies say so', async () => {
    const { users, keys } = server.identities
    await users.create('main', { name: 'ann' })
    const { accessKeyId, secretAccessKey } = await keys.add({ accountId: 'main', user: 'ann' })
    const signedBy = { accessKeyId, secretAccessKey }
    expect((await wire.ask({ ...getBlock, signedBy })).status).toBe(403)
    const statement = { Effect: 'Allow', Action: 's3:GetAccountPublicAccessBlock', Resource: '*' }
    const document = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
    await users.putInlinePolicy('main', 'ann', { name: 'see', document })
    expect((await wire.ask({ ...getBlock, signedBy })).status).toBe(404)
    expect((await wire.ask({ ...putBlock(), signedBy })).status).toBe(403)
    expect((await wire.ask({ ...putBlock(), signedBy: mainKey })).status).toBe(200)
  })
})

describe('a server that blocks what is public', () => {
  beforeAll(() => start({ blockPublic: true }))
  afterAll(stop)

  it('does so until an account says otherwise', async () => {
    expect((await wire.must(getBlock)).body.toString()).toContain('<BlockPublicPolicy>true</BlockPublicPolicy>')
    await wire.must({ method: 'PUT' })
    await wire.must({ method: 'PUT', key: 'a', body: 'public' })
    await expect(openToAll(wire)).rejects.toThrow('AccessDenied')
    await wire.must(putBlock())
    await openToAll(wire)
    expect(await anonymousGet()).toBe(200)
    await wire.must(removeBlock)
    expect(await anonymousGet()).toBe(403)
  })
})
