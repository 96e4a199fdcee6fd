/** Keys that are made at run time, over the wire: what users may do by their policies, and when a key is accepted no more, however it signs. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { IssuedKey, NewKey } from '../../src/identities/identities.ts'
import { seededClock, seededRandom, type TestClock } from '../support/seeded.ts'
import { type Ask, openWire, type Wire } from '../support/wire-client.ts'
import { otherKey, startWireServer, type WireServer } from '../support/wire-server.ts'

let clock: TestClock
let server: WireServer
let wire: Wire
beforeAll(async () => {
  clock = seededClock(seededRandom(1))
  server = await startWireServer({ clock, sigv2: 'all' })
  wire = openWire(server.port, { prefix: 'x-amz-', hosting: 'path' })
})
afterAll(async () => {
  wire.close()
  await server.close()
  expect(server.unexpected).toEqual([])
})
beforeEach(async () => {
  await server.empty()
  await wire.must({ method: 'PUT', signedAtMs: clock.now() })
  for (const key of ['mine/a', 'yours/a'])
    await wire.must({ method: 'PUT', key, body: 'data', signedAtMs: clock.now() })
})

const document = (...Statement: object[]): string => JSON.stringify({ Version: '2012-10-17', Statement })
const allow = (Action: string, Resource = '*', more: object = {}): object => ({
  Effect: 'Allow',
  Action,
  Resource,
  ...more,
})
const deny = (Action: string, Resource = '*', more: object = {}): object => ({
  ...allow(Action, Resource, more),
  Effect: 'Deny',
})

let users = 0
/** A user of the account `main` with an inline policy, and a key of it. */
async function userWith(policy: string | undefined, key: Partial<NewKey> = {}): Promise<IssuedKey & { user: string }> {
  const { identities } = server
  const name = `user${users++}`
  await identities.users.create('main', { name, tags: [{ key: 'Team', value: 'mine' }] })
  if (policy !== undefined) await identities.users.putInlinePolicy('main', name, { name: 'inline', document: policy })
  return { ...(await identities.keys.add({ accountId: 'main', user: name, ...key })), user: name }
}

async function codeOf(ask: Ask): Promise<string> {
  const { status, body } = await wire.ask({ signedAtMs: clock.now(), ...ask })
  return status < 300 ? 'ok' : (/<Code>(\w+)</.exec(body.toString())?.[1] ?? String(status))
}
const get = (key: string): Ask => ({ method: 'GET', key })
const put = (key: string): Ask => ({ method: 'PUT', key, body: 'new' })

describe('a user', () => {
  it('without a policy may do nothing', async () => {
    const signedBy = await userWith(undefined)
    for (const ask of [
      get('mine/a'),
      put('mine/b'),
      { method: 'GET', bucket: '' } as const,
      { method: 'PUT', bucket: 'new' } as const,
    ])
      expect(await codeOf({ ...ask, signedBy })).toBe('AccessDenied')
  })

  it('may do what its inline policy allows, and nothing else', async () => {
    const signedBy = await userWith(document(allow('s3:GetObject', 'arn:aws:s3:::wire/mine/*')))
    expect(await codeOf({ ...get('mine/a'), signedBy })).toBe('ok')
    expect(await codeOf({ ...get('yours/a'), signedBy })).toBe('AccessDenied')
    expect(await codeOf({ ...put('mine/a'), signedBy })).toBe('AccessDenied')
  })

  it('may do what an attached policy allows from when it is attached until it is detached', async () => {
    const signedBy = await userWith(undefined)
    const ask = { ...get('mine/a'), signedBy }
    expect(await codeOf(ask)).toBe('AccessDenied')
    await server.identities.users.attachPolicy('main', signedBy.user, 'readonly')
    expect(await codeOf(ask)).toBe('ok')
    expect(await codeOf({ ...put('mine/a'), signedBy })).toBe('AccessDenied')
    await server.identities.users.detachPolicy('main', signedBy.user, 'readonly')
    expect(await codeOf(ask)).toBe('AccessDenied')
  })

  it('may not do what any of its policies denies explicitly', async () => {
    const signedBy = await userWith(document(deny('s3:*', 'arn:aws:s3:::wire/yours/*')))
    await server.identities.users.attachPolicy('main', signedBy.user, 'readwrite')
    expect(await codeOf({ ...get('mine/a'), signedBy })).toBe('ok')
    expect(await codeOf({ ...get('yours/a'), signedBy })).toBe('AccessDenied')
  })

  it('is who its policies’ variables and conditions say', async () => {
    const own = allow('s3:GetObject', `arn:aws:s3:::wire/\${aws:PrincipalTag/team}/*`)
    const named = allow('s3:PutObject', `arn:aws:s3:::wire/\${aws:username}`)
    const signedBy = await userWith(document(own, named))
    expect(await codeOf({ ...get('mine/a'), signedBy })).toBe('ok')
    expect(await codeOf({ ...get('yours/a'), signedBy })).toBe('AccessDenied')
    expect(await codeOf({ ...put(signedBy.user), signedBy })).toBe('ok')
    expect(await codeOf({ ...put('another'), signedBy })).toBe('AccessDenied')
  })

  it('makes only buckets with the tags that its policy asks for', async () => {
    const Condition = {
      StringEquals: { 'aws:RequestTag/team': `\${aws:PrincipalTag/team}` },
      'ForAllValues:StringEquals': { 'aws:TagKeys': ['team'] },
    }
    const makes = document({
      ...allow('s3:CreateBucket', '*', { Condition }),
      Action: ['s3:CreateBucket', 's3:TagResource'],
    })
    const signedBy = await userWith(makes)
    const tagged = (...tags: string[]): Ask => {
      const inside = tags.map((tag) => tag.split('=')).map(([key, value]) => `<Key>${key}</Key><Value>${value}</Value>`)
      const body = `<CreateBucketConfiguration><Tags>${inside.map((tag) => `<Tag>${tag}</Tag>`).join('')}</Tags></CreateBucketConfiguration>`
      return { method: 'PUT', bucket: 'new', body, signedBy }
    }
    expect(await codeOf({ method: 'PUT', bucket: 'new', signedBy })).toBe('AccessDenied')
    expect(await codeOf(tagged('team=yours'))).toBe('AccessDenied')
    expect(await codeOf(tagged('team=mine', 'env=test'))).toBe('AccessDenied')
    expect(await codeOf(tagged('team=mine'))).toBe('ok')
  })

  it('is whom a bucket policy names, which its account alone does not let in', async () => {
    const ann = await userWith(undefined)
    const bob = await userWith(undefined)
    const policyFor = (arn: string) =>
      document(allow('s3:GetObject', 'arn:aws:s3:::wire/*', { Principal: { AWS: arn } }))
    const policy = async (body: string) =>
      wire.must({ method: 'PUT', query: { policy: '' }, body, signedAtMs: clock.now() })
    await policy(policyFor(`arn:aws:iam::main:user/${ann.user}`))
    expect(await codeOf({ ...get('mine/a'), signedBy: ann })).toBe('ok')
    expect(await codeOf({ ...get('mine/a'), signedBy: bob })).toBe('AccessDenied')
    await policy(policyFor('arn:aws:iam::main:root'))
    expect(await codeOf({ ...get('mine/a'), signedBy: ann })).toBe('AccessDenied')
  })

  it('may do nothing in the buckets of another account by its own policies', async () => {
    await wire.must({ method: 'PUT', bucket: 'others', signedBy: otherKey, signedAtMs: clock.now() })
    const signedBy = await userWith(document(allow('s3:*')))
    expect(await codeOf({ method: 'GET', bucket: 'others', signedBy })).toBe('AccessDenied')
    expect(await codeOf({ method: 'PUT', bucket: 'new', signedBy })).toBe('ok')
    const owned = await wire.must({ method: 'GET', bucket: '', signedAtMs: clock.now() })
    expect(owned.body.toString()).toContain('<Name>new</Name>')
  })
})

describe('a policy of a key', () => {
  it('narrows what its user may do, and gives it nothing', async () => {
    const policy = document(allow('s3:*', 'arn:aws:s3:::wire/mine/*'))
    const narrowed = await userWith(document(allow('s3:GetObject')), { policy })
    expect(await codeOf({ ...get('mine/a'), signedBy: narrowed })).toBe('ok')
    expect(await codeOf({ ...get('yours/a'), signedBy: narrowed })).toBe('AccessDenied')
    expect(await codeOf({ ...put('mine/a'), signedBy: narrowed })).toBe('AccessDenied')
  })

  it('is all that a key of the account itself may do', async () => {
    const { keys } = server.identities
    const policy = document(allow('s3:GetObject', 'arn:aws:s3:::wire/mine/*'))
    const narrow = await keys.add({ accountId: 'main', policy })
    const whole = await keys.add({ accountId: 'main' })
    expect(await codeOf({ ...get('mine/a'), signedBy: narrow })).toBe('ok')
    expect(await codeOf({ ...get('yours/a'), signedBy: narrow })).toBe('AccessDenied')
    expect(await codeOf({ ...put('yours/a'), signedBy: whole })).toBe('ok')
  })
})

describe.each<[string, Partial<Ask>]>([
  ['in headers', {}],
  ['in the URL', { presigned: true }],
  ['in the URL by version 2', { presigned: 'by version 2' }],
  ['in a form', { method: 'POST', form: { key: 'mine/a' } }],
])('a key that signs %s', (_, how) => {
  const ask = (signedBy: IssuedKey): Ask => ({
    ...put('mine/a'),
    ...how,
    ...('form' in how ? { key: '' } : {}),
    signedBy,
  })

  it('is accepted until it expires', async () => {
    const key = await server.identities.keys.add({ accountId: 'main', expiresMs: clock.now() + 1000 })
    expect(await codeOf(ask(key))).toBe('ok')
    clock.advance(999)
    expect(await codeOf(ask(key))).toBe('ok')
    clock.advance(1)
    expect(await codeOf(ask(key))).toBe('InvalidAccessKeyId')
  })

  it('is refused while it, its user or its account is disabled', async () => {
    const { keys, users, accounts } = server.identities
    const { id } = await accounts.create({})
    const ofAccount = await keys.add({ accountId: id, policy: document(allow('s3:*')) })
    const ofUser = await userWith(document(allow('s3:*')))
    await keys.setDisabled(ofUser.accessKeyId, true)
    expect(await codeOf(ask(ofUser))).toBe('InvalidAccessKeyId')
    await keys.setDisabled(ofUser.accessKeyId, false)
    await users.setDisabled('main', ofUser.user, true)
    expect(await codeOf(ask(ofUser))).toBe('InvalidAccessKeyId')
    await users.setDisabled('main', ofUser.user, false)
    expect(await codeOf(ask(ofUser))).toBe('ok')
    expect(await codeOf(ask(ofAccount))).toBe('AccessDenied')
    await accounts.setDisabled(id, true)
    expect(await codeOf(ask(ofAccount))).toBe('InvalidAccessKeyId')
  })

  it('signs with its new secret alone once it is rotated, and with none once it is removed', async () => {
    const { keys } = server.identities
    const before = await keys.add({ accountId: 'main' })
    expect(await codeOf(ask(before))).toBe('ok')
    const after = await keys.rotate(before.accessKeyId)
    expect(await codeOf(ask(before))).toBe('SignatureDoesNotMatch')
    expect(await codeOf(ask(after))).toBe('ok')
    await keys.remove(before.accessKeyId)
    expect(await codeOf(ask(after))).toBe('InvalidAccessKeyId')
  })
})
