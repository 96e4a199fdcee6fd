// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policy variables look like placeholders
/** Web identities: tokens of a real issuer, what they give, and every token that gives nothing. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeJwt, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { audience, type OidcIssuer, startOidcIssuer } from '../support/oidc-issuer.ts'
import { openStsWorld, type StsReply, type StsWorld, type TemporaryKey } from '../support/sts-world.ts'

let issuer: OidcIssuer
let world: StsWorld
const action = 'AssumeRoleWithWebIdentity'

beforeAll(async () => {
  issuer = await startOidcIssuer()
  const { url } = issuer
  const base = { issuer: url, claim: 'policy', account: 'main' }
  world = await openStsWorld({
    oidc: [
      { ...base, name: 'elsewhere', clientId: 'urn:not-this-one' },
      { ...base, name: 'oidc', clientId: audience },
    ],
  })
  await world.wire.must({ method: 'PUT' })
  await world.wire.must({ method: 'PUT', key: 'ann/a', body: 'content' })
  await world.identities.policies.put('main', { name: 'home', document: home })
})
afterAll(async () => {
  await world.close()
  await issuer.close()
})

const home = JSON.stringify({
  Version: '2012-10-17',
  Statement: [
    { Effect: 'Allow', Action: 's3:*', Resource: 'arn:aws:s3:::wire/${jwt:sub}/*' },
    {
      Effect: 'Allow',
      Action: 's3:ListBucket',
      Resource: '*',
      Condition: { 'ForAnyValue:StringEquals': { 'jwt:groups': 'lists' } },
    },
  ],
})

const exchanged = (token: string, more: Record<string, string> = {}): Promise<StsReply> =>
  world.sts({ Action: action, WebIdentityToken: token, ...more }, { unsigned: true })

const outcome = async (token: string, more?: Record<string, string>): Promise<[number, string]> => {
  const reply = await exchanged(token, more)
  return [reply.status, reply.text('Code')]
}

async function use({ sessionToken, ...signedBy }: TemporaryKey, key: string, method: 'GET' | 'PUT' = 'GET') {
  const asked = { method, key, signedBy, vendor: { 'security-token': sessionToken }, signedAtMs: world.now() }
  return (await world.wire.ask({ ...asked, ...(method === 'PUT' ? { body: 'x' } : {}) })).status
}

const inAnHour = (): number => Math.floor(world.now() / 1000) + 3600

describe('a token of the issuer', () => {
  it('gives keys with the policies that it names, and their variables are its claims', async () => {
    issuer.claims = { policy: ['home', 'no-such-policy'], groups: ['reads', 'lists'] }
    const reply = await exchanged(await issuer.token('ann'), {
      RoleSessionName: 'build-7',
      RoleArn: 'arn:aws:iam::1:role/any',
    })
    expect(reply.body.toString()).toContain('<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/')
    expect(reply.text('SubjectFromWebIdentityToken')).toBe('ann')
    expect(reply.text('Arn')).toBe('arn:aws:iam::main:user/oidc/ann')
    expect([reply.text('Provider'), reply.text('Audience')]).toEqual([issuer.url, audience])
    const ann = reply.key()
    expect([await use(ann, 'ann/a'), await use(ann, 'ann/b', 'PUT'), await use(ann, '')]).toEqual([200, 200, 200])
    expect([await use(ann, 'bob/a'), await use(ann, 'bob/b', 'PUT')]).toEqual([403, 403])
    issuer.claims = { policy: 'home , home', groups: [] }
    const bob = (await exchanged(await issuer.token('bob'))).key()
    expect([await use(bob, 'ann/a'), await use(bob, 'bob/b', 'PUT'), await use(bob, '')]).toEqual([403, 200, 403])
  })

  it('gives keys to a query as well, and by POST or GET', async () => {
    issuer.claims = { policy: 'readonly' }
    const reply = await world.sts(
      { Action: action, WebIdentityToken: await issuer.token('ann') },
      { unsigned: true, byGet: true },
    )
    expect([reply.status, await use(reply.key(), 'ann/a')]).toEqual([200, 200])
  })

  it('says who somebody is, and what conditions of a bucket go by', async () => {
    issuer.claims = { policy: 'readonly', department: 'sales' }
    const { sessionToken: token, ...key } = (await exchanged(await issuer.token('ann'))).key()
    const reply = await world.sts({ Action: 'GetCallerIdentity' }, { key, token })
    expect(reply.text('Arn')).toBe('arn:aws:iam::main:user/oidc/ann')
    expect(reply.text('UserId')).toBe(`oidc:${issuer.url}#ann`)
    const policy = (department: string): string =>
      JSON.stringify({
        Version: '2012-10-17',
        Statement: {
          Effect: 'Deny',
          Principal: { AWS: 'arn:aws:iam::main:user/oidc/ann' },
          Action: 's3:GetObject',
          Resource: 'arn:aws:s3:::wire/*',
          Condition: { StringEquals: { 'jwt:department': department } },
        },
      })
    const put = (body: string) =>
      world.wire.must({ method: 'PUT', query: { policy: '' }, body, signedAtMs: world.now() })
    await put(policy('research'))
    expect(await use({ ...key, sessionToken: token }, 'ann/a')).toBe(200)
    await put(policy('sales'))
    expect(await use({ ...key, sessionToken: token }, 'ann/a')).toBe(403)
    await world.wire.must({ method: 'DELETE', query: { policy: '' }, signedAtMs: world.now() })
  })

  it('gives keys that a session policy narrows, and no session token', async () => {
    issuer.claims = { policy: 'readwrite' }
    const Policy = JSON.stringify({
      Version: '2012-10-17',
      Statement: { Effect: 'Allow', Action: 's3:GetObject', Resource: '*' },
    })
    const narrow = (await exchanged(await issuer.token('ann'), { Policy })).key()
    expect([await use(narrow, 'ann/a'), await use(narrow, 'ann/b', 'PUT')]).toEqual([200, 403])
    const { sessionToken: token, ...key } = narrow
    const again = await world.keysOf({ Action: 'AssumeRole' }, { key, token })
    expect([await use(again, 'ann/a'), await use(again, 'ann/b', 'PUT')]).toEqual([200, 403])
    const refused = await world.sts({ Action: 'GetSessionToken' }, { key, token })
    expect([refused.status, refused.text('Code')]).toEqual([403, 'AccessDenied'])
  })

  it('gives keys whose policies are those of now', async () => {
    const { policies } = world.identities
    const allowing = (what: string): string =>
      JSON.stringify({ Version: '2012-10-17', Statement: { Effect: 'Allow', Action: what, Resource: '*' } })
    await policies.put('main', { name: 'changing', document: allowing('s3:GetObject') })
    issuer.claims = { policy: 'changing' }
    const key = (await exchanged(await issuer.token('ann'))).key()
    expect([await use(key, 'ann/a'), await use(key, 'ann/b', 'PUT')]).toEqual([200, 403])
    await policies.put('main', { name: 'changing', document: allowing('s3:PutObject') })
    expect([await use(key, 'ann/a'), await use(key, 'ann/b', 'PUT')]).toEqual([403, 200])
    await policies.remove('main', 'changing')
    expect([await use(key, 'ann/a'), await use(key, 'ann/b', 'PUT')]).toEqual([403, 403])
  })

  it('gives keys for no longer than it lasts itself', async () => {
    issuer.claims = { policy: 'readonly' }
    const token = await issuer.token('ann')
    const reply = await exchanged(token, { DurationSeconds: '43200' })
    expect(Date.parse(reply.text('Expiration'))).toBe((decodeJwt(token).exp ?? 0) * 1000)
    const short = await exchanged(token, { DurationSeconds: '900' })
    expect(Date.parse(short.text('Expiration'))).toBeLessThan(Date.parse(reply.text('Expiration')))
  })

  it.each<[what: string, claims: Record<string, unknown>, status: number, code: string]>([
    ['no claim of policies', {}, 403, 'AccessDenied'],
    ['an empty list', { policy: [] }, 403, 'AccessDenied'],
    ['names of no policy', { policy: 'constructor,__proto__' }, 403, 'AccessDenied'],
    ['a claim that is no list of names', { policy: { name: 'readwrite' } }, 403, 'IDPRejectedClaim'],
    ['a list that holds something else', { policy: ['readwrite', 1] }, 403, 'IDPRejectedClaim'],
    [
      'more claims than a session can hold',
      { policy: 'readonly', groups: Array(300).fill('g'.repeat(40)) },
      400,
      'PackedPolicyTooLarge',
    ],
    ['two claims that differ in case', { policy: 'readonly', Group: 'a', group: 'b' }, 400, 'InvalidIdentityToken'],
  ])('gives nothing with %s', async (_, claims, status, code) => {
    issuer.claims = claims
    expect(await outcome(await issuer.token('ann'))).toEqual([status, code])
  })
})

describe('a token is refused', () => {
  const claims = { policy: 'readwrite' }
  const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const whole = () => ({ iss: issuer.url, aud: audience, sub: 'ann', exp: inAnHour(), ...claims })

  it('unless it is right, as this one is', async () => {
    expect((await outcome(await issuer.signed({ ...claims, exp: inAnHour() })))[0]).toBe(200)
  })

  it.each<[what: string, token: () => Promise<string> | string, code: string]>([
    ['that is none', () => 'token', 'InvalidIdentityToken'],
    [
      'of an unknown issuer',
      () => issuer.signed({ ...whole(), iss: 'https://issuer.example' }),
      'InvalidIdentityToken',
    ],
    ['without issuer', () => issuer.signed({ ...whole(), iss: undefined }), 'InvalidIdentityToken'],
    ['for somebody else', () => issuer.token('ann', { elsewhere: true }), 'InvalidIdentityToken'],
    ['for nobody', () => issuer.signed({ ...whole(), aud: undefined }), 'InvalidIdentityToken'],
    ['without subject', () => issuer.signed({ ...whole(), sub: undefined }), 'InvalidIdentityToken'],
    ['with an empty subject', () => issuer.signed({ ...whole(), sub: '' }), 'InvalidIdentityToken'],
    ['that never expires', () => issuer.signed({ ...claims, exp: undefined }), 'InvalidIdentityToken'],
    ['that is not valid yet', () => issuer.signed({ ...whole(), nbf: inAnHour() - 60 }), 'InvalidIdentityToken'],
    ['that has expired', () => issuer.signed({ ...whole(), exp: inAnHour() - 3601 }), 'ExpiredTokenException'],
    [
      'that is changed',
      async () => {
        const [header, , signature] = (await issuer.signed(whole())).split('.')
        return [header, encoded({ ...whole(), policy: 'consoleAdmin' }), signature].join('.')
      },
      'InvalidIdentityToken',
    ],
    ['that nobody signed', () => `${encoded({ alg: 'none' })}.${encoded(whole())}.`, 'InvalidIdentityToken'],
    [
      'with a signature taken off',
      async () => `${(await issuer.signed(whole())).split('.').slice(0, 2).join('.')}.`,
      'InvalidIdentityToken',
    ],
    [
      'signed with the public key as a shared secret',
      () =>
        new SignJWT(whole())
          .setProtectedHeader({ alg: 'HS256', kid: 'key' })
          .sign(Buffer.from(JSON.stringify(issuer.publicKey))),
      'InvalidIdentityToken',
    ],
    [
      'signed by another key of the same name',
      async () =>
        new SignJWT(whole())
          .setProtectedHeader({ alg: 'RS256', kid: 'key' })
          .sign((await generateKeyPair('RS256')).privateKey),
      'InvalidIdentityToken',
    ],
    ['of an unknown key', () => issuer.signed(whole(), { kid: 'other' }), 'InvalidIdentityToken'],
    [
      'that brings its own key',
      async () => {
        const { privateKey } = await generateKeyPair('RS256')
        return new SignJWT(whole()).setProtectedHeader({ alg: 'RS256', jwk: issuer.publicKey }).sign(privateKey)
      },
      'InvalidIdentityToken',
    ],
    ['with a rule that is not known', () => issuer.signed(whole(), { crit: ['x'], x: 1 }), 'InvalidIdentityToken'],
  ])('%s', async (_, token, code) => {
    expect(await outcome(await token())).toEqual([400, code])
  })

  it('that is missing, or is longer than any', async () => {
    const missing = await world.sts({ Action: action }, { unsigned: true })
    expect([missing.status, missing.text('Code')]).toEqual([400, 'ValidationError'])
    expect(await outcome('a'.repeat(20_001))).toEqual([400, 'ValidationError'])
  })

  it('when it expires on the way of time, without tolerance', async () => {
    const token = await issuer.signed({ ...claims, exp: inAnHour() })
    world.putForward(3_599_000)
    expect((await outcome(token))[0]).toBe(200)
    world.putForward(1000)
    expect(await outcome(token)).toEqual([400, 'ExpiredTokenException'])
  })

  it('without asking the issuer again and again', () => {
    const asked = (path: string): number => issuer.asked.filter((one) => one === path).length
    // One for each audience that the issuer is trusted for, and one more for the unknown key.
    expect(asked('/.well-known/openid-configuration')).toBe(2)
    expect(asked('/jwks')).toBeLessThanOrEqual(4)
  })
})

describe('an issuer', () => {
  async function outcomeWith(listener: RequestListener, more: { jwksUrl?: string } = {}): Promise<[number, string]> {
    const server = createServer(listener)
    const url = await listening(server)
    const provider = { name: 'oidc', issuer: url, clientId: audience, claim: 'policy', account: 'main' }
    const jwksUrl = more.jwksUrl === undefined ? {} : { jwksUrl: url + more.jwksUrl }
    const own = await openStsWorld({ oidc: [{ ...provider, ...jwksUrl }] })
    try {
      const token = await issuer.signed({ iss: url, exp: inAnHour(), policy: 'readonly' })
      const reply = await own.sts({ Action: action, WebIdentityToken: token }, { unsigned: true })
      return [reply.status, reply.text('Code')]
    } finally {
      await own.close()
      server.closeAllConnections()
      server.close()
    }
  }
  const keys: RequestListener = (_request, response) => {
    response.end(JSON.stringify({ keys: [{ ...issuer.publicKey, kid: 'key' }] }))
  }

  it('can have its keys at an address that the configuration gives', async () => {
    expect((await outcomeWith(keys, { jwksUrl: '/keys' }))[0]).toBe(200)
  })

  it.each<[what: string, listener: RequestListener, more: { jwksUrl?: string }]>([
    ['fails', (_, response) => void response.writeHead(500).end(), {}],
    [
      'sends elsewhere',
      (_, response) => void response.writeHead(302, { location: `${issuer.url}/jwks` }).end(),
      { jwksUrl: '/keys' },
    ],
    ['says too much', (_, response) => void response.end('x'.repeat(300_000)), {}],
    [
      'has too many keys',
      (_, response) => void response.end(`{"keys":[],"x":"${'x'.repeat(300_000)}"}`),
      { jwksUrl: '/keys' },
    ],
    ['has no keys', (_, response) => void response.end('{}'), { jwksUrl: '/keys' }],
    ['says nothing that is JSON', (_, response) => void response.end('<html>'), {}],
    ['hangs up', (request) => void request.socket.destroy(), {}],
    [
      'describes another',
      (_, response) => void response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/jwks` })),
      {},
    ],
    [
      'has its keys where anybody could put them',
      (request, response) =>
        void response.end(
          JSON.stringify({ issuer: `http://${request.headers.host}`, jwks_uri: 'http://issuer.example/' }),
        ),
      {},
    ],
  ])('that %s is one that cannot be asked', async (_, listener, more) => {
    expect(await outcomeWith(listener, more)).toEqual([400, 'IDPCommunicationError'])
  })

  it('that is not configured is not trusted, and its sessions have ended', async () => {
    const bare = await openStsWorld()
    const token = await issuer.signed({ exp: inAnHour(), policy: 'readonly' })
    const reply = await bare.sts({ Action: action, WebIdentityToken: token }, { unsigned: true })
    expect([reply.status, reply.text('Code')]).toEqual([400, 'InvalidIdentityToken'])
    await bare.close()
  })
})

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
