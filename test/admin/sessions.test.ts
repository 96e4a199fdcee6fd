/** Browser sessions of the admin port: log-in, what a session may, how it ends, and what pages of other origins get. */
import { beforeEach, describe, expect, it } from 'vitest'
import { limits } from '../../src/limits.ts'
import { changeBucket, createBucket } from '../../src/objects/buckets.ts'
import type { BucketRecord } from '../../src/records/bucket-record.ts'
import { type AdminWorld, openAdminWorld, type Reply, rootKey } from './admin-world.ts'
import { readRecordTexts } from './stored-texts.ts'

let world: AdminWorld
beforeEach(async () => {
  world = await openAdminWorld()
  return () => world.close()
})

interface Browser {
  cookie: string
  csrfToken: string
}

const logInAs = (key: { accessKeyId: string; secretAccessKey: string }, plain: Record<string, string> = {}) =>
  world.ask({
    method: 'POST',
    path: '/v1/session',
    by: 'nobody',
    plain,
    input: { accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey },
  })

const cookiesOf = ({ headers }: Reply): string[] => headers['set-cookie'] as string[]

async function logIn(key = rootKey): Promise<Browser> {
  const reply = await logInAs(key)
  expect(reply.status).toBe(201)
  return { cookie: cookiesOf(reply)[0]?.split(';')[0] ?? '', csrfToken: String(reply.json.csrfToken) }
}

/** As a page of the console asks. */
const askAs = (
  { cookie, csrfToken }: Browser,
  method: string,
  path: string,
  { input, plain = {} }: { input?: unknown; plain?: Record<string, string> } = {},
) =>
  world.ask({
    method,
    path,
    by: 'nobody',
    plain: { cookie, ...(method === 'GET' ? {} : { 'x-csrf-token': csrfToken }), ...plain },
    input,
  })

describe('a log-in', () => {
  it('gives a cookie that scripts and other sites never see, and a token', async () => {
    const reply = await logInAs(rootKey)
    expect(reply.status).toBe(201)
    const [cookie, ...others] = cookiesOf(reply)
    expect(others).toEqual([])
    expect(cookie).toMatch(/^holdfast-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/)
    expect(reply.json).toEqual({ csrfToken: expect.stringMatching(/^[0-9a-f]{64}$/), expires: expect.any(String) })
  })

  it('under an https name binds the cookie to TLS and the host', async () => {
    const [cookie] = cookiesOf(await logInAs(rootKey, { host: 'console.example' }))
    expect(cookie).toMatch(/^__Host-holdfast-session=.*; Secure$/)
  })

  it.each([
    ['another secret', { ...rootKey, secretAccessKey: 'x'.repeat(20) }],
    ['an unknown key', { accessKeyId: 'nobody-has-it', secretAccessKey: rootKey.secretAccessKey }],
  ])('with %s is refused with the same words', async (_, key) => {
    const reply = await logInAs(key)
    expect([reply.status, reply.json]).toEqual([
      403,
      {
        code: 'LogInFailed',
        message: 'There is no such access key, or the secret is wrong.',
        requestId: expect.any(String),
      },
    ])
    expect(reply.headers['set-cookie']).toBeUndefined()
  })

  it('keeps no secret: neither in the metadata nor in the log', async () => {
    const browser = await logIn()
    const texts = [...(await readRecordTexts(world.backend.kv)), world.log()]
    expect(texts.some((text) => text.includes('browser-session'))).toBe(true)
    const value = browser.cookie.split('=')[1] ?? ''
    for (const secret of [rootKey.secretAccessKey, value, browser.csrfToken]) {
      expect(texts.filter((text) => text.includes(secret))).toEqual([])
    }
  })

  it('of a page of another origin is refused, and so is one that a form could send', async () => {
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
    ]
    for (const plain of foreign) {
      expect([plain, (await logInAs(rootKey, plain)).json.code]).toEqual([plain, 'ForeignRequest'])
    }
    expect((await logInAs(rootKey, { 'content-type': 'text/plain' })).json.code).toBe('InvalidRequest')
    const own = { origin: `http://127.0.0.1:${world.port}`, 'sec-fetch-site': 'same-origin' }
    expect((await logInAs(rootKey, { host: `127.0.0.1:${world.port}`, ...own })).status).toBe(201)
  })

  it('is refused for a while after many failures, also with the right secret', async () => {
    const wrong = { ...rootKey, secretAccessKey: 'wrong' }
    // A success counts for nothing.
    await logIn()
    for (let i = 0; i < limits.logInsFailedOfAddressMax; i++) expect((await logInAs(wrong)).status).toBe(403)
    const refused = await logInAs(rootKey)
    expect([refused.status, refused.json.code]).toEqual([429, 'TooManyLogIns'])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  })

  it('is not refused because pages of other sites send their visitors back from issuers', async () => {
    const back = { method: 'GET', path: '/v1/session/issuer/callback', by: 'nobody' } as const
    for (let i = 0; i < limits.logInsFailedOfAddressMax; i++) {
      const { headers } = await world.raw({ ...back, plain: { 'sec-fetch-site': 'cross-site' } })
      expect(headers.location).toBe('/?logIn=LogInFailed')
    }
    expect((await logInAs(rootKey)).status).toBe(201)
  })
})

it('failed log-ins count for the whole network of an IPv6 address', async () => {
  const proxied = await openAdminWorld({ trustedProxies: ['127.0.0.1'] })
  const logInFrom = async (address: string, secretAccessKey: string): Promise<number> => {
    const plain = { 'x-forwarded-for': address }
    const input = { accessKeyId: rootKey.accessKeyId, secretAccessKey }
    return (await proxied.ask({ method: 'POST', path: '/v1/session', by: 'nobody', plain, input })).status
  }
  try {
    for (let i = 0; i < limits.logInsFailedOfAddressMax; i++) {
      expect(await logInFrom(`2001:db8:0:1::${i.toString(16)}`, 'wrong')).toBe(403)
    }
    expect(await logInFrom('2001:db8:0:1:ffff::1', rootKey.secretAccessKey)).toBe(429)
    expect(await logInFrom('2001:db8:0:2::1', rootKey.secretAccessKey)).toBe(201)
  } finally {
    await proxied.close()
  }
})

describe('a session', () => {
  it('may do what its key may', async () => {
    const browser = await logIn()
    const made = await askAs(browser, 'POST', '/v1/accounts/main/users', { input: { name: 'ann' } })
    expect(made.status).toBe(201)
    const { users, keys } = world.identities.verbs
    await users.attachPolicy('main', 'ann', 'readwrite')
    const user = await logIn(await keys.add({ accountId: 'main', user: 'ann' }))
    expect((await askAs(user, 'GET', '/v1/accounts')).json.code).toBe('AccessDenied')
    const shown = (await askAs(user, 'GET', '/v1/session')).json
    expect(shown).toMatchObject({ account: 'main', user: 'ann', csrfToken: user.csrfToken })
    expect(shown.operations).toContain('LogOut')
    expect(shown.operations).not.toContain('ListAccounts')
    expect((await askAs(browser, 'GET', '/v1/session')).json.operations).toContain('ListAccounts')
  })

  it('changes nothing without its token', async () => {
    const browser = await logIn()
    const other = await logIn()
    for (const csrfToken of ['', 'x'.repeat(64), other.csrfToken]) {
      const reply = await askAs({ ...browser, csrfToken }, 'POST', '/v1/accounts/main/users', {
        input: { name: 'eve' },
      })
      expect([reply.status, reply.json.code]).toEqual([403, 'ForeignRequest'])
    }
    const foreign = { input: { name: 'eve' }, plain: { origin: 'http://localhost:9000' } }
    expect((await askAs(browser, 'POST', '/v1/accounts/main/users', foreign)).json.code).toBe('ForeignRequest')
    expect((await world.identities.verbs.users.list('main')).map(({ name }) => name)).toEqual([])
  })

  it('answers no page of another origin, not even one of another port of its host', async () => {
    const browser = await logIn()
    for (const [path, plain] of [
      ['/v1/accounts', { 'sec-fetch-site': 'same-site' }],
      ['/v1/accounts', { 'sec-fetch-site': 'cross-site' }],
      ['/v1/accounts', { origin: 'http://127.0.0.1:9000' }],
      ['/v1/tasks/events', { 'sec-fetch-site': 'same-site' }],
    ] as const) {
      const { status, json } = await askAs(browser, 'GET', path, { plain })
      expect([path, plain, status, json.code]).toEqual([path, plain, 403, 'ForeignRequest'])
    }
    for (const site of ['same-origin', 'none']) {
      expect((await askAs(browser, 'GET', '/v1/accounts', { plain: { 'sec-fetch-site': site } })).status).toBe(200)
    }
  })

  it('beyond those that one key may have ends the oldest of that key, and nobody else’s', async () => {
    const { keys } = world.identities.verbs
    const [one, other] = [await keys.add({ accountId: 'main' }), await keys.add({ accountId: 'main' })]
    const isOpen = async (browser: Browser) => (await askAs(browser, 'GET', '/v1/session')).status === 200
    const others = await logIn(other)
    const sessions: Browser[] = []
    for (let i = 0; i < limits.browserSessionsOfHolderMax; i++) {
      sessions.push(await logIn(one))
      world.advance(1)
    }
    const [first, second] = sessions
    if (first === undefined || second === undefined) throw new Error('there are too few sessions')
    expect(await isOpen(first)).toBe(true)
    const newest = await logIn(one)
    expect(await Promise.all([first, second, newest, others].map(isOpen))).toEqual([false, true, true, true])
  })

  it('ends with a log-out, for everybody who has the cookie', async () => {
    const browser = await logIn()
    expect((await askAs(browser, 'GET', '/v1/accounts')).status).toBe(200)
    const out = await askAs(browser, 'DELETE', '/v1/session')
    expect([out.status, cookiesOf(out)[0]]).toEqual([204, expect.stringContaining('Max-Age=0')])
    const after = await askAs(browser, 'GET', '/v1/accounts')
    expect([after.status, after.json.code]).toEqual([401, 'SessionEnded'])
  })

  it('ends when it is idle, and at its full age even if it is busy', async () => {
    const idle = await logIn()
    const busy = await logIn()
    world.advance(limits.browserSessionIdleMs - 60_000)
    expect((await askAs(busy, 'GET', '/v1/session')).status).toBe(200)
    world.advance(120_000)
    expect((await askAs(idle, 'GET', '/v1/session')).json.code).toBe('SessionEnded')
    for (let spentMs = limits.browserSessionIdleMs; spentMs < limits.browserSessionMs - 60_000; spentMs += 1_800_000) {
      expect((await askAs(busy, 'GET', '/v1/session')).status).toBe(200)
      world.advance(1_800_000)
    }
    expect((await askAs(busy, 'GET', '/v1/session')).json.code).toBe('SessionEnded')
  })

  it('ends with its key: disabled, removed or rotated', async () => {
    const { keys } = world.identities.verbs
    for (const end of [
      (id: string) => keys.setDisabled(id, true),
      (id: string) => keys.remove(id),
      (id: string) => keys.rotate(id),
    ]) {
      const key = await keys.add({ accountId: 'main' })
      const browser = await logIn(key)
      expect((await askAs(browser, 'GET', '/v1/session')).status).toBe(200)
      await end(key.accessKeyId)
      expect((await askAs(browser, 'GET', '/v1/session')).json.code).toBe('SessionEnded')
    }
  })

  it('is not opened by what looks like a cookie', async () => {
    const browser = await logIn()
    for (const cookie of [
      'holdfast-session=x',
      `${browser.cookie}; ${browser.cookie}`,
      `__Host-${browser.cookie}`,
      `holdfast-session=${'A'.repeat(43)}`,
    ]) {
      const { status } = await askAs({ ...browser, cookie }, 'GET', '/v1/session')
      expect([cookie.length, status >= 401 && status <= 403]).toEqual([cookie.length, true])
    }
  })

  it('gives a page keys for S3 that end soon, with the session token that they need', async () => {
    const browser = await logIn()
    const { status, json } = await askAs(browser, 'POST', '/v1/session/keys')
    expect(status).toBe(201)
    const endsInMs = Date.parse(String(json.expires)) - Date.now()
    expect(endsInMs).toBeGreaterThan(0)
    expect(endsInMs).toBeLessThanOrEqual(limits.pageKeysMs)
    const key = { accessKeyId: String(json.accessKeyId), secretAccessKey: String(json.secretAccessKey) }
    const headers: [string, string][] = [['x-amz-security-token', String(json.sessionToken)]]
    expect((await world.ask({ method: 'GET', path: '/v1/session', by: key, headers })).json).toMatchObject({
      account: 'main',
    })
  })

  it('answers for its own rights without any permission', async () => {
    const { users, keys } = world.identities.verbs
    await users.create('main', { name: 'bob' })
    const browser = await logIn(await keys.add({ accountId: 'main', user: 'bob' }))
    const questions = [{ action: 's3:ListAllMyBuckets', resource: '*' }]
    const reply = await askAs(browser, 'POST', '/v1/session/explain', { input: { questions } })
    expect(reply.json).toEqual({ answers: [{ allowed: false, reason: expect.any(String) }] })
  })

  it('is not told what the policy of another account’s bucket says', async () => {
    const { users, keys, accounts } = world.identities.verbs
    await accounts.create({ id: 'others' })
    const Statement = { Sid: 'Confidential', Effect: 'Deny', Principal: '*', Action: 's3:GetObject' }
    for (const owner of ['others', 'main']) {
      const policy = { Version: '2012-10-17', Statement: { ...Statement, Resource: `arn:aws:s3:::of-${owner}/*` } }
      const name = `of-${owner}`
      await createBucket(world.backend, {
        name,
        owner,
        locationConstraint: undefined,
        location: 'default',
        objectLock: undefined,
      })
      const given = (bucket: BucketRecord): BucketRecord => ({ ...bucket, policy: JSON.stringify(policy) })
      await changeBucket(world.backend, { name, admit: () => {} }, given)
    }
    await users.create('main', { name: 'eve' })
    const browser = await logIn(await keys.add({ accountId: 'main', user: 'eve' }))
    const questions = ['of-others/a', 'of-main/a'].map((resource) => ({ action: 's3:GetObject', resource }))
    const { json } = await askAs(browser, 'POST', '/v1/session/explain', { input: { questions } })
    expect(json).toEqual({
      answers: [
        { allowed: false, reason: 'the bucket of another account does not allow it' },
        { allowed: false, reason: expect.stringContaining('Confidential') },
      ],
    })
  })
})

describe('the headers of every answer', () => {
  const rows: [string, string, number][] = [
    ['GET', '/healthz', 200],
    ['GET', '/readyz', 200],
    ['GET', '/openapi.json', 200],
    ['GET', '/v1/nothing', 403],
    ['GET', '/v1/session/methods', 200],
    ['POST', '/v1/session', 400],
  ]
  it.each(rows)('%s %s', async (method, path, status) => {
    const reply = await world.ask({ method, path, by: 'nobody' })
    expect(reply.status).toBe(status)
    expect(reply.headers).toMatchObject({
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
    })
  })
})

describe('a name', () => {
  it.each(['evil.example', 'evil.example:9001', 'localhost.evil.example', '127.0.0.1.evil.example'])(
    'that is not the server’s is refused: %s',
    async (host) => {
      const { status, json } = await world.ask({ method: 'GET', path: '/openapi.json', by: 'nobody', plain: { host } })
      expect([status, json.code]).toEqual([421, 'UnknownHost'])
    },
  )

  it.each(['localhost', 'LOCALHOST:1', '127.0.0.1:9001', '[::1]:9001', '192.0.2.7', 'console.example'])(
    'that is its own is answered: %s',
    async (host) => {
      const { status } = await world.ask({ method: 'GET', path: '/openapi.json', by: 'nobody', plain: { host } })
      expect(status).toBe(200)
    },
  )

  it('that no host has is refused', async () => {
    const path = '/v1/session'
    for (const host of ['127.0.0.1:99999', '[::1]:65536']) {
      const { status, json } = await world.ask({ method: 'GET', path, by: 'nobody', plain: { host } })
      expect([status, json.code]).toEqual([421, 'UnknownHost'])
    }
    for (const host of ['[', 'a b', '%', 'a:b:c', '127.0.0.1:99999']) {
      const { status, json } = await world.ask({ method: 'GET', path, host })
      expect([status, json.code]).toEqual([400, 'BadRequest'])
    }
  })

  it('does not matter to a probe', async () => {
    const plain = { host: 'probe.example' }
    expect((await world.ask({ method: 'GET', path: '/healthz', by: 'nobody', plain })).status).toBe(200)
  })
})
