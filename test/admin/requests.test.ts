/** What the admin port makes of requests that are no good, and what it says and logs of those that are. */
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBucket } from '../../src/objects/buckets.ts'
import { seededRandom } from '../support/seeded.ts'
import { type AdminWorld, type Asked, openAdminWorld, rootKey } from './admin-world.ts'

let world: AdminWorld
beforeAll(async () => {
  world = await openAdminWorld()
})
afterAll(() => world.close())

const users = '/v1/accounts/main/users'
const keys = '/v1/accounts/main/keys'
const zeros = '0'.repeat(64)

describe('a request that is no good', () => {
  const rows: [string, Asked, number, string][] = [
    ['a path that nothing has', { method: 'GET', path: '/v1/nothing' }, 404, 'NoSuchEntity'],
    ['an empty name', { method: 'GET', path: `${users}/` }, 404, 'NoSuchEntity'],
    ['a method that a path has not', { method: 'PATCH', path: users }, 405, 'MethodNotAllowed'],
    ['HEAD', { method: 'HEAD', path: users }, 405, ''],
    ['a name that is not UTF-8', { method: 'GET', path: `${users}/%ff` }, 400, 'InvalidURI'],
    ['a broken escape', { method: 'GET', path: `${users}/%zz` }, 400, 'InvalidURI'],
    ['a user that is not there', { method: 'GET', path: `${users}/nobody` }, 404, 'NoSuchEntity'],
    ['an account that is not there', { method: 'GET', path: '/v1/accounts/none/users' }, 404, 'NoSuchEntity'],
    ['the removal of a user that is not there', { method: 'DELETE', path: `${users}/nobody` }, 404, 'NoSuchEntity'],
    ['no body where one is needed', { method: 'POST', path: users }, 400, 'InvalidArgument'],
    ['a body that is not JSON', { method: 'POST', path: users, body: '{' }, 400, 'InvalidRequest'],
    [
      'a body that is not UTF-8',
      { method: 'POST', path: users, body: Buffer.from([0x22, 0xff, 0x22]) },
      400,
      'InvalidRequest',
    ],
    ['a body that is a list', { method: 'POST', path: users, input: [] }, 400, 'InvalidArgument'],
    ['a field of the wrong kind', { method: 'POST', path: users, input: { name: 1 } }, 400, 'InvalidArgument'],
    ['an unknown field', { method: 'POST', path: users, input: { name: 'x', admin: true } }, 400, 'InvalidArgument'],
    ['an unknown parameter', { method: 'GET', path: users, query: [['marker', 'x']] }, 400, 'InvalidArgument'],
    [
      'a query of a POST',
      { method: 'POST', path: users, query: [['a', 'b']], input: { name: 'x' } },
      400,
      'InvalidRequest',
    ],
    ['a body of a GET', { method: 'GET', path: users, body: '{}' }, 400, 'InvalidRequest'],
    ['a name that no user can have', { method: 'POST', path: users, input: { name: 'a/b' } }, 400, 'InvalidInput'],
    [
      'a policy that is none',
      { method: 'PUT', path: '/v1/accounts/main/policies/p', input: { document: 'x' } },
      400,
      'MalformedPolicyDocument',
    ],
    ['a time that is none', { method: 'POST', path: keys, input: { expires: 'soon' } }, 400, 'InvalidArgument'],
    ['a secret that is too weak', { method: 'POST', path: keys, input: { secretAccessKey: 'x' } }, 400, 'InvalidInput'],
    [
      'a key of the configuration',
      { method: 'DELETE', path: `${keys}/${rootKey.accessKeyId}` },
      400,
      'UnmodifiableEntity',
    ],
    ['a built-in policy', { method: 'DELETE', path: '/v1/accounts/main/policies/readonly' }, 400, 'UnmodifiableEntity'],
    [
      'a body that is nested too deeply to be walked',
      {
        method: 'PUT',
        path: '/v1/accounts/main/policies/p',
        body: `{"document":{"Statement":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`,
      },
      400,
      'InvalidRequest',
    ],
    [
      'half a character in a value',
      { method: 'POST', path: '/v1/tasks/cancel', body: '{"kind":"scrub","name":"\\ud800"}' },
      400,
      'InvalidRequest',
    ],
    [
      'half a character in a name',
      {
        method: 'PUT',
        path: '/v1/accounts/main/policies/p',
        body: '{"document":{"Version":"2012-10-17","\\udfff":[]}}',
      },
      400,
      'InvalidRequest',
    ],
    [
      'a body whose hash is not signed',
      { method: 'POST', path: users, input: { name: 'x' }, how: { payloadHash: 'UNSIGNED-PAYLOAD' } },
      400,
      'InvalidRequest',
    ],
    [
      'another body than was signed',
      { method: 'POST', path: users, input: { name: 'x' }, how: { payloadHash: zeros } },
      400,
      'XAmzContentSHA256Mismatch',
    ],
    [
      'another empty body than was signed',
      { method: 'DELETE', path: `${users}/x`, how: { payloadHash: zeros } },
      400,
      'XAmzContentSHA256Mismatch',
    ],
    [
      'a body beyond the limit',
      { method: 'POST', path: users, body: Buffer.alloc(1024 * 1024 + 1, ' ') },
      400,
      'EntityTooLarge',
    ],
    [
      'a time that is long ago',
      { method: 'GET', path: users, how: { nowMs: Date.now() - 3_600_000 } },
      403,
      'RequestTimeTooSkewed',
    ],
    ['a signed URL', { method: 'GET', path: users, how: 'presigned' }, 403, 'AccessDenied'],
  ]

  it.each(rows)('%s is refused by name', async (_, asked, status, code) => {
    const reply = await world.ask(asked)
    expect([reply.status, reply.json.code ?? '']).toEqual([status, code])
    if (asked.method === 'HEAD') return
    expect(reply.headers['content-type']).toBe('application/json')
    expect(reply.json).toEqual({
      code,
      message: expect.any(String),
      requestId: expect.stringMatching(/^[0-9A-F]{16}$/),
    })
  })

  it.each([
    ['GET', '/', 'as ListBuckets'],
    ['PUT', '/photos/cat.jpg', 'as PutObject'],
  ])('is answered as S3 does where a client of S3 sent it, with the address of S3: %s %s %s', async (method, path) => {
    const { status, headers, text } = await world.raw({ method, path })
    expect([status, headers['content-type']]).toEqual([400, 'application/xml'])
    expect(text).toMatch(/<Code>InvalidRequest<\/Code><Message>This is the admin port\. S3 is at http:\/\/[\w.:]+\.</)
    const strange = await world.raw({
      method,
      path,
      plain: { authorization: 'AWS x', host: 'strange.test' },
      by: 'nobody',
    })
    expect(strange.text).toContain('This is the admin port. S3 is at another port.')
  })

  it('is answered in JSON, also where it is no HTTP', async () => {
    const socket = connect(world.port, '127.0.0.1')
    socket.end('what is this?\r\n\r\n')
    let answer = ''
    for await (const chunk of socket) answer += chunk
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({ code: 'BadRequest' })
  })

  it('is never the server’s fault, whatever it is', async () => {
    const random = seededRandom(13)
    const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)]
    const words = [
      'main',
      'other',
      'users',
      'keys',
      'policies',
      'accounts',
      'enabled',
      'rotate',
      'x',
      '..',
      '%00',
      '%2F',
      '%E2%98%83',
      'a'.repeat(2000),
      '__proto__',
      'constructor',
      '-',
      '*',
    ]
    const values: unknown[] = [
      null,
      true,
      0,
      -1,
      1e300,
      '',
      'x',
      'a'.repeat(300),
      '\u0000',
      [],
      {},
      [[]],
      { a: {} },
      '2026-01-01T00:00:00Z',
      '{"Version":"2012-10-17"}',
    ]
    const fields = [
      'name',
      'id',
      'user',
      'document',
      'enabled',
      'expires',
      'policy',
      'accessKeyId',
      'secretAccessKey',
      'tags',
      'description',
      'action',
      'resource',
      'conditions',
      'sourceIp',
      '__proto__',
      'blockPublicAcls',
    ]
    const paths = [
      '/v1/accounts',
      '/v1/accounts/main',
      users,
      keys,
      '/v1/accounts/main/policies',
      '/v1/access/explain',
      '/v1/server',
      `${users}/x/tags`,
      `${users}/x/inline-policies/p`,
      '/v1/accounts/main/policies/p',
      `${keys}/x/expiry`,
      `${keys}/x/rotate`,
    ]
    const before = await world.identities.verbs.keys.get(rootKey.accessKeyId)
    for (let i = 0; i < 600; i++) {
      const more = random() < 0.4 ? Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(words)) : []
      const path = [pick(paths), ...more].join('/')
      const method = pick(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) ?? 'GET'
      const asked = Object.fromEntries(
        Array.from({ length: Math.floor(random() * 4) }, () => [pick(fields), pick(values)]),
      )
      const text = JSON.stringify(random() < 0.1 ? pick(values) : asked)
      const body = random() < 0.1 ? text.slice(0, Math.floor(random() * text.length)) : text
      const reply = await world.ask({ method, path, ...(method === 'GET' && random() < 0.8 ? {} : { body }) })
      expect([method, path, body, reply.status < 500]).toEqual([method, path, body, true])
    }
    expect(await world.identities.verbs.keys.get(rootKey.accessKeyId)).toEqual(before)
    expect(world.log()).not.toContain('unexpectedly')
  })
})

describe('secrets', () => {
  it('are in the answer that makes them, and nowhere else', async () => {
    const made = await world.ask({ method: 'POST', path: keys, input: { description: 'for the shop' } })
    const rotated = await world.ask({ method: 'POST', path: `${keys}/${made.json.accessKeyId}/rotate`, input: {} })
    const given = 'canary-secret-that-was-given'
    const own = await world.ask({ method: 'POST', path: keys, input: { secretAccessKey: given } })
    expect(made.headers['cache-control']).toBe('no-store')
    const secrets = [made, rotated, own].map(({ json }) => String(json.secretAccessKey))
    expect(new Set(secrets).size).toBe(3)
    const listed = await world.ask({ method: 'GET', path: keys })
    const shown = await world.ask({ method: 'GET', path: `${keys}/${made.json.accessKeyId}` })
    for (const secret of [...secrets, rootKey.secretAccessKey]) {
      for (const text of [listed.text, shown.text, world.log()]) expect(text.includes(secret)).toBe(false)
    }
  })

  it('that stand where a key’s id belongs are not logged', async () => {
    const { secretAccessKey } = rootKey
    await world.ask({ method: 'GET', path: users, by: { accessKeyId: secretAccessKey, secretAccessKey: 'x' } })
    expect(world.log()).toContain('"claimedAccessKeyId":"(a secret access key)"')
    expect(world.log()).not.toContain(secretAccessKey)
  })
})

it.each([
  ['shop-7f3a.42', true],
  ['short', false],
  ['has space in it', false],
  ['<script>alert(1)</script>', false],
  ['x'.repeat(65), false],
])('keeps the id that a request gives, if it is well formed: %s', async (given, isKept) => {
  const { json } = await world.ask({ method: 'GET', path: '/v1/nothing', headers: [['x-request-id', given]] })
  expect(json.requestId === given).toBe(isKept)
})

it('logs who changed what', async () => {
  await world.ask({ method: 'POST', path: users, input: { name: 'logged' } })
  await world.ask({ method: 'PUT', path: `${users}/logged/policies/readonly` })
  await world.ask({ method: 'GET', path: `${users}/logged` })
  const changes = world
    .log()
    .split('\n')
    .flatMap((line) => (line.includes('changed through the admin port') ? [JSON.parse(line)] : []))
    .filter(({ target }) => target.user === 'logged' || target.name === 'logged')
  const by = { accessKeyId: rootKey.accessKeyId, account: 'main' }
  expect(changes).toEqual([
    expect.objectContaining({ ...by, operation: 'CreateUser', target: expect.objectContaining({ name: 'logged' }) }),
    expect.objectContaining({
      ...by,
      operation: 'AttachUserPolicy',
      target: expect.objectContaining({ user: 'logged', policy: 'readonly' }),
    }),
  ])
})

describe('health', () => {
  it.each(['/healthz', '/readyz'])('%s is open to everybody', async (path) => {
    const reply = await world.ask({ method: 'GET', path, by: 'nobody' })
    expect([reply.status, reply.json.status]).toEqual([200, path === '/healthz' ? 'ok' : 'ready'])
  })
})

describe('ExplainAccess', () => {
  const explain = (input: object) => world.ask({ method: 'POST', path: '/v1/access/explain', input })

  it('says what is decided, and which statement does', async () => {
    const { users: verbs, keys: keyVerbs } = world.identities.verbs
    await createBucket(world.backend, {
      name: 'photos',
      owner: 'main',
      locationConstraint: undefined,
      location: 'default',
      objectLock: undefined,
    })
    await verbs.create('main', { name: 'reader' })
    const Statement = [
      { Sid: 'Home', Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::photos/*' },
      {
        Sid: 'Abroad',
        Effect: 'Deny',
        Action: '*',
        Resource: '*',
        Condition: { NotIpAddress: { 'aws:SourceIp': '10.0.0.0/8' } },
      },
    ]
    await verbs.putInlinePolicy('main', 'reader', {
      name: 'own',
      document: JSON.stringify({ Version: '2012-10-17', Statement }),
    })
    const { accessKeyId } = await keyVerbs.add({ accountId: 'main', user: 'reader' })
    const question = { accessKeyId, action: 's3:GetObject', resource: 'photos/cat.jpg' }
    const home = await explain({ ...question, sourceIp: '10.1.2.3' })
    expect(home.json).toEqual({ allowed: true, reason: expect.stringContaining('"Home"') })
    const abroad = await explain({ ...question, sourceIp: '192.0.2.1' })
    expect(abroad.json).toEqual({ allowed: false, reason: expect.stringContaining('"Abroad"') })
    const nobody = await explain({ action: 's3:GetObject', resource: 'arn:aws:s3:::photos/cat.jpg' })
    expect(nobody.json).toMatchObject({ allowed: false })
  })

  it.each([
    [{ accessKeyId: 'none', action: 's3:GetObject', resource: 'photos/x' }, 'InvalidAccessKeyId'],
    [{ action: 's3:GetObject', resource: 'nowhere/x' }, 'NoSuchBucket'],
    [{ action: 's3:GetObject', resource: `${'b'.repeat(100)}/x` }, 'NoSuchBucket'],
    [{ action: 's3:GetObject', resource: 'photos/x', sourceIp: 'here' }, 'InvalidArgument'],
  ])('refuses %j', async (input, code) => {
    expect((await explain(input)).json.code).toBe(code)
  })
})
