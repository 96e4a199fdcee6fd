/** Temporary keys in use: each way to sign with them, what ends them, and what narrows them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { mainKey, openStsWorld, otherKey, readingKey, type StsWorld, type TemporaryKey } from '../support/sts-world.ts'
import type { Ask } from '../support/wire-client.ts'
import { openWire, type Wire } from '../support/wire-client.ts'

let world: StsWorld

beforeAll(async () => {
  world = await openStsWorld()
  await world.wire.must({ method: 'PUT' })
  await world.wire.must({ method: 'PUT', key: 'a', body: 'content' })
})
afterAll(() => world.close())

const policyOf = (...statements: object[]): string => JSON.stringify({ Version: '2012-10-17', Statement: statements })
const allow = (action: string | string[], resource = '*'): object => ({
  Effect: 'Allow',
  Action: action,
  Resource: resource,
})

/** Status, and the code of an error. */
type Outcome = [status: number, code: string]

async function ask(asked: Ask, wire: Wire = world.wire): Promise<Outcome> {
  const { status, body } = await wire.ask({ signedAtMs: world.now(), ...asked })
  return [status, /<Code>(\w+)<\/Code>/.exec(body.toString())?.[1] ?? '']
}

const by = ({ sessionToken, ...signedBy }: TemporaryKey): Pick<Ask, 'signedBy' | 'vendor'> => ({
  signedBy,
  vendor: { 'security-token': sessionToken },
})
const get = (key: TemporaryKey, more: Partial<Ask> = {}): Promise<Outcome> =>
  ask({ method: 'GET', key: 'a', ...by(key), ...more })
const put = (key: TemporaryKey, name = 'b'): Promise<Outcome> =>
  ask({ method: 'PUT', key: name, body: 'x', ...by(key) })

describe.each(['x-amz-', 'x-store-'] as const)('by names of %s', (prefix) => {
  let wire: Wire
  let key: TemporaryKey
  beforeAll(async () => {
    wire = openWire(world.port, { prefix, hosting: 'virtual-host' })
    key = await world.keysOf({ Action: 'GetSessionToken' })
  })
  afterAll(() => wire.close())

  it.each<[how: string, asked: () => Ask, status: number]>([
    ['a header', () => ({ method: 'GET', key: 'a' }), 200],
    ['a URL', () => ({ method: 'GET', key: 'a', presigned: true }), 200],
    ['a URL and a header', () => ({ method: 'GET', key: 'a', presigned: 'with vendor headers' }), 200],
    ['a URL that writes', () => ({ method: 'PUT', key: 'url', body: 'x', presigned: true }), 200],
    [
      'signed chunks with a trailer',
      () => ({
        method: 'PUT',
        key: 'chunks',
        payload: {
          mode: 'signed-trailer',
          chunks: ['a'.repeat(8192), 'b'],
          trailers: { 'checksum-crc32': 'AAAAAA==' },
        },
      }),
      400,
    ],
    [
      'signed chunks',
      () => ({ method: 'PUT', key: 'chunks', payload: { mode: 'signed', chunks: ['a'.repeat(8192), 'b'] } }),
      200,
    ],
    ['a form', () => ({ method: 'POST', form: { key: 'form' }, body: 'x' }), 204],
  ])('signs %s', async (_, asked, status) => {
    const [got, code] = await ask({ ...asked(), ...by(key) }, wire)
    // The trailer is a wrong checksum: it is compared, so that the chunks were taken.
    expect([got, code]).toEqual([status, status === 400 ? 'BadDigest' : ''])
  })
})

describe('by version 2', () => {
  it.each<[how: string, asked: Ask, status: number]>([
    ['a URL', { method: 'GET', key: 'a', presigned: 'by version 2' }, 200],
    ['a form', { method: 'POST', form: { key: 'form' }, body: 'x', presigned: 'by version 2' }, 204],
  ])('signs %s, as boto3 does', async (_, asked, status) => {
    const key = await world.keysOf({ Action: 'AssumeRole' })
    expect(await ask({ ...asked, ...by(key) })).toEqual([status, ''])
    const other = await world.keysOf({ Action: 'AssumeRole' })
    const mixed = { ...by(key), vendor: { 'security-token': other.sessionToken } }
    expect(await ask({ ...asked, ...mixed })).toEqual([400, 'InvalidToken'])
  })
})

describe('refused', () => {
  let key: TemporaryKey
  beforeEach(async () => {
    key = await world.keysOf({ Action: 'AssumeRole', DurationSeconds: '900' })
  })

  it('without their token, as keys that there are not', async () => {
    expect(await get(key, { vendor: {} })).toEqual([403, 'InvalidAccessKeyId'])
  })

  it('with the token of others, one that is changed, and one beside a key that lasts', async () => {
    const other = await world.keysOf({ Action: 'AssumeRole' })
    const { sessionToken } = key
    const changed = sessionToken.slice(0, -4) + (sessionToken.endsWith('AAAA') ? 'BBBB' : 'AAAA')
    expect(await get({ ...key, sessionToken: other.sessionToken })).toEqual([400, 'InvalidToken'])
    expect(await get({ ...key, sessionToken: changed })).toEqual([400, 'InvalidToken'])
    expect(await get(key, { signedBy: mainKey })).toEqual([400, 'InvalidToken'])
    expect(await get(key, { signedBy: { ...key, secretAccessKey: 'wrong' } })).toEqual([403, 'SignatureDoesNotMatch'])
  })

  it('with two tokens, and with one that nobody signed', async () => {
    const url = { presigned: 'with vendor headers', query: { 'X-Amz-Security-Token': 'x' } } as const
    expect(await get(key, url)).toEqual([400, 'InvalidToken'])
    const presigned = { presigned: true, vendor: {}, headers: {} } as const
    expect(await get(key, presigned)).toEqual([403, 'InvalidAccessKeyId'])
  })

  it.each<[how: string, more: Partial<Ask>]>([
    ['headers', {}],
    ['a URL that is valid for longer', { presigned: true, expiresSeconds: 86_400 }],
    ['a URL of version 2', { presigned: 'by version 2', expiresSeconds: 86_400 }],
    ['a form', { method: 'POST', key: '', form: { key: 'form' }, body: 'x' }],
    ['a form of version 2', { method: 'POST', key: '', form: { key: 'f' }, body: 'x', presigned: 'by version 2' }],
  ])('when they have expired, by %s', async (_, more) => {
    // The policy of a form expires by itself.
    const signedBefore = more.form === undefined ? { signedAtMs: world.now() } : {}
    world.putForward(899_000)
    expect((await get(key, { ...more, ...signedBefore }))[0]).toBeLessThan(300)
    world.putForward(1000)
    const late = more.presigned === undefined ? {} : signedBefore
    expect(await get(key, { ...more, ...late })).toEqual([400, 'ExpiredToken'])
    expect(await get(key, { ...more, ...late, signedBy: { ...key, secretAccessKey: 'wrong' } })).toEqual([
      403,
      'SignatureDoesNotMatch',
    ])
  })
})

describe('they end', () => {
  let parent: { accessKeyId: string; secretAccessKey: string }
  let key: TemporaryKey
  let name: string
  let users = 0
  beforeEach(async () => {
    const verbs = world.identities
    name = `user${++users}`
    await verbs.users.create('other', { name })
    await verbs.users.attachPolicy('other', name, 'readwrite')
    const { accessKeyId, secretAccessKey } = await verbs.keys.add({ accountId: 'other', user: name })
    parent = { accessKeyId, secretAccessKey }
    key = await world.keysOf({ Action: 'AssumeRole' }, { key: parent })
    await world.wire.ask({ method: 'PUT', bucket: 'ending', signedBy: otherKey, signedAtMs: world.now() })
    expect(await used()).toEqual([200, ''])
  })
  const used = (of = key): Promise<Outcome> => ask({ method: 'GET', bucket: 'ending', ...by(of) })

  it('with a key that is disabled, and come back with it', async () => {
    const { keys } = world.identities
    await keys.setDisabled(parent.accessKeyId, true)
    expect(await used()).toEqual([403, 'InvalidAccessKeyId'])
    await keys.setDisabled(parent.accessKeyId, false)
    expect(await used()).toEqual([200, ''])
  })

  it('with a key that is removed', async () => {
    await world.identities.keys.remove(parent.accessKeyId)
    expect(await used()).toEqual([403, 'InvalidAccessKeyId'])
  })

  it('with a key that is rotated, and those of the new secret begin', async () => {
    const { secretAccessKey } = await world.identities.keys.rotate(parent.accessKeyId)
    expect(await used()).toEqual([403, 'InvalidAccessKeyId'])
    const renewed = await world.keysOf({ Action: 'AssumeRole' }, { key: { ...parent, secretAccessKey } })
    expect(await used(renewed)).toEqual([200, ''])
  })

  it('with a key that expires, which they never outlast', async () => {
    const expiresMs = world.now() + 600_000
    await world.identities.keys.setExpiry(parent.accessKeyId, expiresMs)
    const reply = await world.sts({ Action: 'GetSessionToken' }, { key: parent })
    expect(Math.floor(Date.parse(reply.text('Expiration')) / 1000)).toBe(Math.floor(expiresMs / 1000))
    world.putForward(600_000)
    expect(await used()).toEqual([403, 'InvalidAccessKeyId'])
  })

  it('with a user that is disabled, or removed', async () => {
    const verbs = world.identities
    await verbs.users.setDisabled('other', name, true)
    expect(await used()).toEqual([403, 'InvalidAccessKeyId'])
    await verbs.users.setDisabled('other', name, false)
    expect(await used()).toEqual([200, ''])
    await verbs.users.remove('other', name)
    expect(await used()).toEqual([403, 'InvalidAccessKeyId'])
  })

  it('with an account that is disabled', async () => {
    const { accounts, keys } = world.identities
    const { id } = await accounts.create({})
    const { accessKeyId, secretAccessKey } = await keys.add({ accountId: id })
    const own = await world.keysOf({ Action: 'GetSessionToken' }, { key: { accessKeyId, secretAccessKey } })
    const list = (): Promise<Outcome> => ask({ method: 'GET', bucket: '', ...by(own) })
    expect(await list()).toEqual([200, ''])
    await accounts.setDisabled(id, true)
    expect(await list()).toEqual([403, 'InvalidAccessKeyId'])
  })

  it('together with those that were made of them', async () => {
    const { sessionToken: token, ...of } = key
    const made = await world.keysOf({ Action: 'AssumeRole' }, { key: of, token })
    expect(await used(made)).toEqual([200, ''])
    await world.identities.keys.remove(parent.accessKeyId)
    expect(await used(made)).toEqual([403, 'InvalidAccessKeyId'])
  })

  it('in what a policy of their user no longer allows', async () => {
    await world.identities.users.detachPolicy('other', name, 'readwrite')
    expect(await used()).toEqual([403, 'AccessDenied'])
  })
})

describe('a session policy', () => {
  const narrowed = (policy: string, key = mainKey): Promise<TemporaryKey> =>
    world.keysOf({ Action: 'AssumeRole', Policy: policy }, { key })

  it('leaves what both it and the caller allow', async () => {
    const key = await narrowed(policyOf(allow('s3:GetObject', 'arn:aws:s3:::wire/*')))
    expect(await get(key)).toEqual([200, ''])
    expect(await put(key)).toEqual([403, 'AccessDenied'])
    expect(await ask({ method: 'GET', bucket: '', ...by(key) })).toEqual([403, 'AccessDenied'])
  })

  it('widens nothing that the caller may not', async () => {
    const key = await narrowed(policyOf(allow('s3:*')), readingKey)
    expect(await get(key)).toEqual([200, ''])
    expect(await put(key)).toEqual([403, 'AccessDenied'])
    const { sessionToken: token, ...of } = key
    const again = await world.keysOf({ Action: 'AssumeRole' }, { key: of, token })
    expect(await put(again)).toEqual([403, 'AccessDenied'])
  })

  it('denies what it denies explicitly, also where it allows everything', async () => {
    const deny = { Effect: 'Deny', Action: 's3:PutObject', Resource: 'arn:aws:s3:::wire/locked/*' }
    const key = await narrowed(policyOf(allow('s3:*'), deny))
    expect(await put(key, 'free/b')).toEqual([200, ''])
    expect(await put(key, 'locked/b')).toEqual([403, 'AccessDenied'])
    const { sessionToken: token, ...of } = key
    const again = await world.keysOf({ Action: 'AssumeRole' }, { key: of, token })
    expect(await put(again, 'locked/b')).toEqual([403, 'AccessDenied'])
  })

  it('narrows the key of a user that a policy of its own narrows', async () => {
    const { users, keys } = world.identities
    await users.create('main', { name: 'narrow' })
    await users.attachPolicy('main', 'narrow', 'readwrite')
    const { accessKeyId, secretAccessKey } = await keys.add({
      accountId: 'main',
      user: 'narrow',
      policy: policyOf(allow('s3:GetObject')),
    })
    const own = { accessKeyId, secretAccessKey }
    expect(await put(await narrowed(policyOf(allow('s3:*')), own))).toEqual([403, 'AccessDenied'])
    expect(await get(await narrowed(policyOf(allow('s3:*')), own))).toEqual([200, ''])
    expect(await get(await narrowed(policyOf(allow('s3:PutObject')), own))).toEqual([403, 'AccessDenied'])
  })
})

describe('a policy of a bucket', () => {
  it('ends the sessions that began before a time', async () => {
    const key = await world.keysOf({ Action: 'AssumeRole' })
    const condition = (time: number) => ({ DateLessThan: { 'aws:TokenIssueTime': new Date(time).toISOString() } })
    const deny = (time: number): string =>
      policyOf({
        Effect: 'Deny',
        Principal: '*',
        Action: 's3:GetObject',
        Resource: 'arn:aws:s3:::wire/*',
        Condition: condition(time),
      })
    const putPolicy = (body: string): Promise<unknown> =>
      world.wire.must({ method: 'PUT', query: { policy: '' }, body, signedAtMs: world.now() })
    await putPolicy(deny(world.now() - 60_000))
    expect(await get(key)).toEqual([200, ''])
    await putPolicy(deny(world.now() + 60_000))
    expect(await get(key)).toEqual([403, 'AccessDenied'])
    expect(await ask({ method: 'GET', key: 'a' })).toEqual([200, ''])
  })
})
