/** The API for temporary keys: what each action answers, to whom, and what it refuses. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mainKey, openStsWorld, otherKey, readingKey, type StsAsk, type StsWorld } from '../support/sts-world.ts'

let world: StsWorld

beforeAll(async () => {
  world = await openStsWorld()
  await world.wire.must({ method: 'PUT' })
  await world.wire.must({ method: 'PUT', key: 'a', body: 'content' })
})
afterAll(() => world.close())

const policyOf = (...statements: object[]): string => JSON.stringify({ Version: '2012-10-17', Statement: statements })
const everything = policyOf({ Effect: 'Allow', Action: 's3:*', Resource: '*' })

describe('AssumeRole', () => {
  it('answers in the namespace of STS, with keys that work for as long as they say', async () => {
    const reply = await world.sts({ Action: 'AssumeRole', RoleSessionName: 'nightly', Policy: everything })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toBe('text/xml')
    expect(reply.body.toString()).toMatch(
      /^<AssumeRoleResponse xmlns="https:\/\/sts\.amazonaws\.com\/doc\/2011-06-15\/"><AssumeRoleResult>.*<ResponseMetadata><RequestId>/,
    )
    expect(reply.text('AssumedRoleId')).toBe('main:nightly')
    expect(reply.text('Arn')).toBe('arn:aws:iam::main:root')
    expect(reply.text('PackedPolicySize')).toMatch(/^\d$/)
    expect(reply.text('AccessKeyId')).toMatch(/^ASIA[A-Z2-7]{16}$/)
    expect(Math.abs(Date.parse(reply.text('Expiration')) - world.now() - 3_600_000)).toBeLessThan(60_000)
    const { sessionToken, ...signedBy } = reply.key()
    const got = await world.wire.ask({ method: 'GET', key: 'a', signedBy, vendor: { 'security-token': sessionToken } })
    expect([got.status, got.body.toString()]).toEqual([200, 'content'])
  })

  it.each([
    ['none', {}],
    ['of a role of AWS', { RoleArn: 'arn:aws:iam::123456789012:role/demo', RoleSessionName: 'x@y' }],
    ['as MinIO documents it', { RoleArn: 'arn:xxx:xxx:xxx:xxxx', RoleSessionName: 'anything' }],
    ['with an external id', { ExternalId: 'partner' }],
    ['with parameters that are left empty', { Policy: '', 'Tags.member.1.Key': '', RoleArn: '' }],
  ])('takes an ARN that is %s', async (_, parameters) => {
    expect((await world.sts({ Action: 'AssumeRole', ...parameters })).status).toBe(200)
  })

  it.each<[what: string, parameters: Record<string, string>, status: number, code: string]>([
    ['an ARN that is none', { RoleArn: 'role/of-nobody-in-particular' }, 400, 'ValidationError'],
    ['a session name with a slash', { RoleSessionName: 'a/b' }, 400, 'ValidationError'],
    ['less than 15 minutes', { DurationSeconds: '899' }, 400, 'ValidationError'],
    ['more than 12 hours', { DurationSeconds: '43201' }, 400, 'ValidationError'],
    ['no number of seconds', { DurationSeconds: '1h' }, 400, 'ValidationError'],
    ['a policy that is not JSON', { Policy: 'all' }, 400, 'MalformedPolicyDocument'],
    [
      'a policy that names a principal',
      { Policy: policyOf({ Effect: 'Allow', Principal: '*', Action: 's3:*', Resource: '*' }) },
      400,
      'MalformedPolicyDocument',
    ],
    ['a policy that is too long', { Policy: `${' '.repeat(2048)}${everything}` }, 400, 'ValidationError'],
    ['policies by ARN', { 'PolicyArns.member.1.arn': 'arn:aws:iam::aws:policy/ReadOnlyAccess' }, 501, 'NotImplemented'],
    ['tags of the session', { 'Tags.member.1.Key': 'a', 'Tags.member.1.Value': 'b' }, 501, 'NotImplemented'],
    ['a second factor', { SerialNumber: 'arn:aws:iam::1:mfa/a', TokenCode: '123456' }, 501, 'NotImplemented'],
  ])('refuses %s', async (_, parameters, status, code) => {
    const reply = await world.sts({ Action: 'AssumeRole', ...parameters })
    expect([reply.status, reply.text('Code')]).toEqual([status, code])
    expect(reply.body.toString()).toMatch(/^<ErrorResponse xmlns="https:\/\/sts.*<Type>\w+<\/Type>.*<RequestId>/)
  })

  it('narrows keys that are narrow already no further, and lets them go on', async () => {
    const { sessionToken: token, ...key } = await world.keysOf({ Action: 'AssumeRole', Policy: everything })
    const again = await world.sts({ Action: 'AssumeRole' }, { key, token })
    expect(again.status).toBe(200)
    const narrower = await world.sts({ Action: 'AssumeRole', Policy: everything }, { key, token })
    expect([narrower.status, narrower.text('Code')]).toEqual([403, 'AccessDenied'])
  })

  it('gives keys of temporary keys no longer than these last', async () => {
    const first = await world.sts({ Action: 'AssumeRole', DurationSeconds: '900' })
    const { sessionToken: token, ...key } = first.key()
    const second = await world.sts({ Action: 'AssumeRole', DurationSeconds: '43200' }, { key, token })
    expect(second.text('Expiration')).toBe(first.text('Expiration'))
  })
})

describe('GetSessionToken', () => {
  it('answers with keys that last twelve hours, and up to a day and a half', async () => {
    const lasts = async (parameters: Record<string, string>): Promise<number> => {
      const reply = await world.sts({ Action: 'GetSessionToken', ...parameters })
      return Math.round((Date.parse(reply.text('Expiration')) - world.now()) / 3_600_000)
    }
    expect([await lasts({}), await lasts({ DurationSeconds: '129600' })]).toEqual([12, 36])
  })

  it.each<[what: string, parameters: Record<string, string>, status: number, code: string]>([
    ['longer than a day and a half', { DurationSeconds: '129601' }, 400, 'ValidationError'],
    ['a policy', { Policy: everything }, 501, 'NotImplemented'],
    ['a second factor', { TokenCode: '123456' }, 501, 'NotImplemented'],
  ])('refuses %s', async (_, parameters, status, code) => {
    const reply = await world.sts({ Action: 'GetSessionToken', ...parameters })
    expect([reply.status, reply.text('Code')]).toEqual([status, code])
  })

  it('refuses temporary keys', async () => {
    const { sessionToken: token, ...key } = await world.keysOf({ Action: 'GetSessionToken' })
    const reply = await world.sts({ Action: 'GetSessionToken' }, { key, token })
    expect([reply.status, reply.text('Code')]).toEqual([403, 'AccessDenied'])
  })
})

describe('GetCallerIdentity', () => {
  const identity = async (ask: StsAsk) => {
    const reply = await world.sts({ Action: 'GetCallerIdentity' }, ask)
    return [reply.text('Arn'), reply.text('UserId'), reply.text('Account')]
  }

  it('names the account, the user, and whom temporary keys stand for', async () => {
    await world.identities.users.create('other', { name: 'ann' })
    const { accessKeyId, secretAccessKey } = await world.identities.keys.add({ accountId: 'other', user: 'ann' })
    const ann = { accessKeyId, secretAccessKey }
    const { sessionToken: token, ...key } = await world.keysOf({ Action: 'AssumeRole' }, { key: ann })
    expect(await identity({})).toEqual(['arn:aws:iam::main:root', 'main', 'main'])
    const [arn, userId, account] = await identity({ key: ann })
    expect([arn, account]).toEqual(['arn:aws:iam::other:user/ann', 'other'])
    expect(await identity({ key, token })).toEqual([arn, userId, account])
  })

  it('is answered to a presigned URL, and in the dialect of the document', async () => {
    expect((await identity({ byGet: true, presigned: true }))[2]).toBe('main')
    expect((await identity({ prefix: 'x-store-' }))[2]).toBe('main')
  })
})

describe('a request for temporary keys', () => {
  it.each<[what: string, parameters: Record<string, string>, ask: StsAsk, status: number, code: string]>([
    ['of an action that there is not', { Action: 'AssumeNothing' }, {}, 400, 'InvalidAction'],
    ['of an action of AWS that is not there', { Action: 'GetFederationToken' }, {}, 501, 'NotImplemented'],
    ['of another version', { Action: 'AssumeRole', Version: '2010-05-08' }, {}, 400, 'InvalidAction'],
    ['without an action', {}, {}, 400, 'MissingAction'],
    ['that nobody signed', { Action: 'AssumeRole' }, { unsigned: true }, 403, 'MissingAuthenticationToken'],
    ['signed for S3', { Action: 'AssumeRole' }, { service: 's3' }, 400, 'IncompleteSignature'],
    ['signed for another service', { Action: 'AssumeRole' }, { service: 'iam' }, 400, 'IncompleteSignature'],
    [
      'with a wrong secret',
      { Action: 'AssumeRole' },
      { key: { ...mainKey, secretAccessKey: otherKey.secretAccessKey } },
      403,
      'SignatureDoesNotMatch',
    ],
    [
      'by an unknown key',
      { Action: 'AssumeRole' },
      { key: { ...mainKey, accessKeyId: 'AKNOBODY' } },
      403,
      'InvalidClientTokenId',
    ],
    ['with a token that is none', { Action: 'AssumeRole' }, { token: 'x' }, 403, 'InvalidClientTokenId'],
    ['of yesterday', { Action: 'AssumeRole' }, { nowMs: 0 }, 403, 'RequestTimeTooSkewed'],
    [
      'with a body that is not what was signed',
      { Action: 'AssumeRole' },
      { payloadHash: 'UNSIGNED-PAYLOAD' },
      400,
      'XAmzContentSHA256Mismatch',
    ],
  ])('%s is refused', async (_, parameters, ask, status, code) => {
    const reply = await world.sts(parameters, ask)
    expect([reply.status, reply.text('Code')]).toEqual([status, code])
  })

  it('is refused when its keys have expired', async () => {
    const { sessionToken: token, ...key } = await world.keysOf({ Action: 'AssumeRole', DurationSeconds: '900' })
    world.putForward(900_000)
    const reply = await world.sts({ Action: 'GetCallerIdentity' }, { key, token })
    expect([reply.status, reply.text('Code')]).toEqual([403, 'ExpiredToken'])
  })

  it('can be a query, and is refused when it is too long', async () => {
    expect((await world.sts({ Action: 'AssumeRole' }, { byGet: true })).status).toBe(200)
    const long = await world.sts({ Action: 'AssumeRole', Policy: 'x'.repeat(70_000) })
    expect([long.status, long.text('Code')]).toEqual([400, 'EntityTooLarge'])
  })

  it('is refused where a policy of the caller denies it, and needs no policy that allows it', async () => {
    const { users, keys } = world.identities
    await users.create('main', { name: 'bob' })
    const { accessKeyId, secretAccessKey } = await keys.add({ accountId: 'main', user: 'bob' })
    const key = { accessKeyId, secretAccessKey }
    expect((await world.sts({ Action: 'AssumeRole' }, { key })).status).toBe(200)
    const document = policyOf({ Effect: 'Deny', Action: 'sts:AssumeRole', Resource: '*' })
    await users.putInlinePolicy('main', 'bob', { name: 'no-roles', document })
    const reply = await world.sts({ Action: 'AssumeRole' }, { key })
    expect([reply.status, reply.text('Code')]).toEqual([403, 'AccessDenied'])
    expect((await world.sts({ Action: 'GetSessionToken' }, { key })).status).toBe(200)
    expect((await world.sts({ Action: 'GetCallerIdentity' }, { key })).status).toBe(200)
    expect((await world.sts({ Action: 'AssumeRole' }, { key: readingKey })).status).toBe(200)
  })

  it('is logged by its action and its key, and no secret is', async () => {
    const reply = await world.sts({ Action: 'AssumeRole' })
    const line = await world.logged(reply.headers.get('x-amz-request-id') ?? '')
    expect(line).toMatchObject({ operation: 'AssumeRole', status: 200, accessKeyId: mainKey.accessKeyId })
    expect(JSON.stringify(line)).not.toContain(reply.text('SessionToken'))
  })
})

describe('the service address', () => {
  it('goes on to list buckets whatever parameters come with that, and takes no other POST', async () => {
    const listed = await world.wire.ask({
      method: 'GET',
      bucket: '',
      query: { Action: 'AssumeRole' },
      signedAtMs: world.now(),
    })
    expect(listed.body.toString()).toContain('ListAllMyBucketsResult')
    const scoped = await world.wire.ask({
      method: 'POST',
      bucket: '',
      headers: { 'Content-Type': 'text/plain' },
      signedAtMs: world.now(),
    })
    expect([scoped.status, scoped.body.toString()]).toEqual([405, expect.stringContaining('MethodNotAllowed')])
  })
})
