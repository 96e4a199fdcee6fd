/** The admin port and the commands that speak to it: real processes, and a real client that notices at once what has changed. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { afterEach, describe, expect, test } from 'vitest'
import { runHere } from './command-here.ts'
import {
  environmentKey,
  keyVariables,
  type Outcome,
  type ReadyEvent,
  type Running,
  run,
  serve,
} from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const place = openWorkplace('admin')
const Bucket = 'photos'

type Server2 = Running & { ready: ReadyEvent }
interface Key {
  accessKeyId: string
  secretAccessKey: string
}

const started: { server?: Server2 } = {}
const words = (...more: string[]): string[] => [
  'serve',
  '--data',
  place.path('data'),
  '--listen',
  '127.0.0.1:0',
  ...more,
]

async function start(...more: string[]): Promise<Server2> {
  const server = await serve(words('--admin-listen', '127.0.0.1:0', ...more))
  started.server = server
  return server
}

/** Runs a command against the server, and gives what it says with `--json`. */
async function command(asked: readonly string[], variables: Record<string, string> = keyVariables): Promise<Outcome> {
  const { adminEndpoint = '' } = started.server?.ready ?? {}
  return runHere([...asked, '--admin-endpoint', adminEndpoint, '--json'], variables)
}

async function done(...asked: string[]) {
  const outcome = await command(asked)
  expect([outcome.code, outcome.stderr]).toEqual([0, ''])
  return JSON.parse(outcome.stdout)
}

async function newKey(...asked: string[]): Promise<Key> {
  const { key } = await done('keys', 'add', ...asked)
  return key
}

const variablesOf = ({ accessKeyId, secretAccessKey }: Key): Record<string, string> => ({
  HOLDFAST_ACCESS_KEY_ID: accessKeyId,
  HOLDFAST_SECRET_ACCESS_KEY: secretAccessKey,
})

/** On a connection of its own each time, so that the workers take turns. */
const client = (credentials: Key = environmentKey): S3Client =>
  place.clientOf(started.server?.ready.endpoint ?? '', { credentials })

const get = (credentials: Key, Key = 'p/cat.jpg') => client(credentials).send(new GetObjectCommand({ Bucket, Key }))
const put = (credentials: Key, Key = 'p/new') =>
  client(credentials).send(new PutObjectCommand({ Bucket, Key, Body: 'x' }))
const list = (credentials: Key, Prefix?: string) =>
  client(credentials).send(new ListObjectsV2Command({ Bucket, ...(Prefix === undefined ? {} : { Prefix }) }))

/** What becomes of as many requests as each worker gets some of. */
async function outcomes(request: () => Promise<unknown>): Promise<string> {
  const all = await Promise.all(
    Array.from({ length: 6 }, () =>
      request().then(
        () => 'allowed',
        (error: Error) => error.name,
      ),
    ),
  )
  return [...new Set(all)].join(', ')
}

async function fill(): Promise<void> {
  await client().send(new CreateBucketCommand({ Bucket }))
  for (const Key of ['p/cat.jpg', 'q/dog.jpg']) {
    await client().send(new PutObjectCommand({ Bucket, Key, Body: 'picture' }))
  }
}

describe('the address', () => {
  const taken: Server[] = []
  afterEach(() => {
    for (const server of taken.splice(0)) server.close()
  })

  async function takePort(port: number): Promise<number> {
    const server = createServer()
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    taken.push(server)
    return (server.address() as AddressInfo).port
  }

  test.each(['1', '2'])(
    'that nobody named, and another process has, is left out and said in one line, and its origin is not admitted, with %s workers',
    async (workers) => {
      // The owner is this test, or a server beside it.
      await takePort(9001).catch(() => {})
      const running = await serve(words('--workers', workers), { ...keyVariables, HOLDFAST_ADMIN_LISTEN: '' })
      expect(running.ready.adminEndpoint).toBeUndefined()
      expect(running.output.stderr).toBe(
        'holdfast: there is no admin port: cannot listen on 127.0.0.1:9001: another process listens there already. Name another address with --admin-listen, or off\n',
      )
      for (const origin of ['http://127.0.0.1:9001', 'http://localhost:9001']) {
        const headers = { origin, 'access-control-request-method': 'PUT' }
        const preflight = await fetch(`${running.ready.endpoint}/photos/k`, { method: 'OPTIONS', headers })
        expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([403, null])
      }
    },
  )

  test.for(['1', '2'])(
    'that nobody named may have the number of the S3 port at another host, and its origin is admitted, with %s workers',
    async (workers, { skip }) => {
      const listen = ['serve', '--data', place.path('data'), '--listen', '127.0.0.2:9001', '--workers', workers]
      const { ready } = await serve(listen, { ...keyVariables, HOLDFAST_ADMIN_LISTEN: '' })
      if (ready.adminEndpoint === undefined) skip('a server beside this test has the default admin port')
      // Each connection goes to the next worker.
      for (const _ of '1234') {
        const headers = { origin: 'http://127.0.0.1:9001', 'access-control-request-method': 'PUT', connection: 'close' }
        const preflight = await fetch(`${ready.endpoint}/photos/k`, { method: 'OPTIONS', headers })
        expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([200, headers.origin])
      }
    },
  )

  test('that was named, and another process has, ends the start before anything is made', async () => {
    const port = await takePort(0)
    const address = `127.0.0.1:${port}`
    for (const workers of ['1', '2']) {
      const refused = await run(words('--admin-listen', address, '--workers', workers), keyVariables).ended
      expect(refused).toMatchObject({
        code: 1,
        stdout: '',
        stderr: `holdfast: cannot listen on ${address}: another process listens there already\n`,
      })
    }
    expect(await readdir(place.path())).toEqual([])
    const first = await serve(words())
    first.child.kill('SIGTERM')
    await first.ended
    expect((await run(words('--admin-listen', address), keyVariables).ended).code).toBe(1)
  })

  test('that is off, or where nobody listens, is said clearly by a command', async () => {
    const off = await run(['users', 'list'], keyVariables).ended
    expect(off).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^holdfast: the configuration gives the server no admin port.*\n$/),
    })
    const port = await takePort(0)
    taken.pop()?.close()
    const none = await run(['users', 'list', '--admin-endpoint', `http://127.0.0.1:${port}`], keyVariables).ended
    expect(none.code).toBe(1)
    expect(none.stderr).toMatch(
      /^holdfast: no server can be asked at http:.*: nothing listens there \(ECONNREFUSED\)\. Start one with `holdfast serve`.*\n$/,
    )
    expect((await run(['users', 'list', '--admin-endpoint', 'nowhere'], keyVariables).ended).code).toBe(2)
  })
})

describe('what is changed', () => {
  test('is in force at once in every worker: users, policies and keys', { timeout: 300_000 }, async () => {
    await start('--workers', '2')
    await fill()
    await done('users', 'add', 'alice', '--policy', 'readonly')
    const first = await newKey('--user', 'alice', '--expires', '30d')
    expect(await outcomes(() => get(first))).toBe('allowed')
    expect(await outcomes(() => put(first))).toBe('AccessDenied')

    await done('users', 'attach', 'alice', 'readwrite')
    expect(await outcomes(() => put(first))).toBe('allowed')
    await done('users', 'detach', 'alice', 'readwrite')
    expect(await outcomes(() => put(first))).toBe('AccessDenied')

    const file = place.path('policy.json')
    const policy = (effect: string) =>
      writeFile(
        file,
        JSON.stringify({
          Version: '2012-10-17',
          Statement: [{ Effect: effect, Action: 's3:*', Resource: 'arn:aws:s3:::*' }],
        }),
      )
    await policy('Allow')
    await done('policies', 'put', 'team', file)
    await done('users', 'attach', 'alice', 'team')
    expect(await outcomes(() => put(first))).toBe('allowed')
    await policy('Deny')
    await done('policies', 'put', 'team', file)
    expect(await outcomes(() => get(first))).toBe('AccessDenied')
    await done('users', 'detach', 'alice', 'team')

    await done('keys', 'disable', first.accessKeyId)
    expect(await outcomes(() => get(first))).toBe('InvalidAccessKeyId')
    await done('keys', 'enable', first.accessKeyId)
    expect(await outcomes(() => get(first))).toBe('allowed')
    const { key: rotated } = await done('keys', 'rotate', first.accessKeyId)
    expect(await outcomes(() => get(first))).toBe('SignatureDoesNotMatch')
    expect(await outcomes(() => get(rotated))).toBe('allowed')

    await done('users', 'disable', 'alice')
    expect(await outcomes(() => get(rotated))).toBe('InvalidAccessKeyId')
    await done('users', 'enable', 'alice')
    await done('keys', 'expire', rotated.accessKeyId, '1s')
    await expect.poll(() => outcomes(() => get(rotated))).toBe('InvalidAccessKeyId')
    await done('keys', 'expire', rotated.accessKeyId, 'never')
    expect(await outcomes(() => get(rotated))).toBe('allowed')
    await done('users', 'remove', 'alice')
    expect(await outcomes(() => get(rotated))).toBe('InvalidAccessKeyId')
  })

  test('is in force also in a worker that was stopped meanwhile', { timeout: 300_000 }, async () => {
    const { child } = await start('--workers', '2')
    await fill()
    const key = await newKey()
    expect(await outcomes(() => get(key))).toBe('allowed')
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
    const [stopped] = children.trim().split(' ').map(Number)
    process.kill(Number(stopped), 'SIGSTOP')
    try {
      // Answered when the lease of the stopped one has ended.
      await done('keys', 'disable', key.accessKeyId)
      let answered = 0
      const asked = outcomes(() => get(key).finally(() => answered++))
      // The others wait for the stopped one.
      await expect.poll(() => answered).toBe(3)
      process.kill(Number(stopped), 'SIGCONT')
      expect(await asked).toBe('InvalidAccessKeyId')
    } finally {
      process.kill(Number(stopped), 'SIGCONT')
    }
    expect(await outcomes(() => get(environmentKey))).toBe('allowed')
  })
})

test('a key can be for one prefix of one bucket, to read or to write', async () => {
  await start()
  await fill()
  const reads = await newKey('--bucket', Bucket, '--prefix', 'p/', '--read-only')
  const writes = await newKey('--bucket', Bucket, '--prefix', 'p/', '--write-only')
  const both = await newKey('--bucket', Bucket)
  const rows: [string, () => Promise<unknown>, string][] = [
    ['a reader reads', () => get(reads), 'allowed'],
    ['not elsewhere', () => get(reads, 'q/dog.jpg'), 'AccessDenied'],
    ['lists', () => list(reads, 'p/'), 'allowed'],
    ['not elsewhere', () => list(reads, 'q/'), 'AccessDenied'],
    ['nor everything', () => list(reads), 'AccessDenied'],
    ['and writes nothing', () => put(reads), 'AccessDenied'],
    ['a writer writes', () => put(writes), 'allowed'],
    ['not elsewhere', () => put(writes, 'q/new'), 'AccessDenied'],
    ['and reads nothing', () => get(writes), 'AccessDenied'],
    ['lists nothing', () => list(writes, 'p/'), 'AccessDenied'],
    ['one for the bucket reads', () => get(both, 'q/dog.jpg'), 'allowed'],
    ['writes', () => put(both, 'anywhere'), 'allowed'],
    ['and lists', () => list(both), 'allowed'],
  ]
  for (const [says, request, expected] of rows) expect([says, await outcomes(request)]).toEqual([says, expected])
})

test('accounts administer themselves, and no other', async () => {
  await start()
  const { account } = await done('accounts', 'add', 'tenant', '--name', 'The Tenant')
  expect(account).toMatchObject({ id: 'tenant', name: 'The Tenant', enabled: true })
  const own = variablesOf(await newKey('--account', 'tenant'))
  expect((await command(['users', 'add', 'bob', '--account', 'tenant'], own)).code).toBe(0)
  for (const asked of [
    ['users', 'list', '--account', 'main'],
    ['keys', 'add', '--account', 'main'],
    ['accounts', 'list'],
    ['accounts', 'enable', 'tenant'],
  ]) {
    const refused = await command(asked, own)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^holdfast: AccessDenied: .*\n$/)
  }
  await done('accounts', 'disable', 'tenant')
  expect((await command(['users', 'list', '--account', 'tenant'], own)).stderr).toContain('InvalidAccessKeyId')
  await done('users', 'remove', 'bob', '--account', 'tenant')
  await done('accounts', 'remove', 'tenant')
  expect((await done('accounts', 'list')).accounts.map(({ id }: { id: string }) => id)).toEqual(['main'])
})

test('each action does what it says', { timeout: 300_000 }, async () => {
  await start()
  const file = place.path('policy.json')
  const document = JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::*' }],
  })
  await writeFile(file, document)
  const { user } = await done('users', 'add', 'alice', '--policy', 'readonly', '--policy', 'writeonly')
  expect(user).toMatchObject({ name: 'alice', enabled: true, policies: ['readonly', 'writeonly'] })
  expect((await done('users', 'put-policy', 'alice', 'own', file)).user.inlinePolicies).toEqual([
    { name: 'own', document },
  ])
  expect((await done('users', 'remove-policy', 'alice', 'own')).user.inlinePolicies).toEqual([])
  expect((await done('users', 'disable', 'alice')).user.enabled).toBe(false)
  expect((await done('users', 'show', 'alice')).user.enabled).toBe(false)

  expect((await done('policies', 'put', 'team', file)).policy).toMatchObject({
    name: 'team',
    builtIn: false,
    users: [],
  })
  expect((await done('policies', 'get', 'team')).policy.document).toBe(document)
  const { policies } = await done('policies')
  expect(policies.map(({ name }: { name: string }) => name)).toContain('team')
  await done('policies', 'remove', 'team')
  expect((await command(['policies', 'get', 'team'])).stderr).toContain('NoSuchEntity')

  const key = await newKey('--access-key', 'my-own-key', '--user', 'alice', '--policy-file', file)
  expect(key.accessKeyId).toBe('my-own-key')
  expect((await done('keys', 'show', 'my-own-key')).key).toMatchObject({ user: 'alice', policy: document })
  expect((await done('keys', 'list', '--user', 'alice')).keys).toHaveLength(1)
  await done('keys', 'remove', 'my-own-key')
  expect((await done('keys', 'list', '--user', 'alice')).keys).toEqual([])
  const { adminEndpoint = '' } = started.server?.ready ?? {}
  const none = await run(['keys', 'list', '--user', 'alice', '--admin-endpoint', adminEndpoint], keyVariables).ended
  expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'holdfast: there are no keys\n' })
  const unusable = await command(['keys', 'add', '--bucket', 'No Bucket'])
  expect(unusable).toMatchObject({ code: 2, stderr: expect.stringContaining("the name 'No Bucket'") })

  expect((await done('accounts', 'block-public', 'main')).account.publicAccessBlock).toEqual({
    blockPublicAcls: true,
    ignorePublicAcls: true,
    blockPublicPolicy: true,
    restrictPublicBuckets: true,
  })
  expect((await done('accounts', 'unblock-public', 'main')).account).not.toHaveProperty('publicAccessBlock')
  expect((await done('accounts', 'show', 'main')).account.source).toBe('configuration')
  const refused = await command(['users', 'add', 'bob', '--policy', 'none'])
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('bob is made, but does not have the policy'),
  })
})

test('secrets are shown once, and logged nowhere', async () => {
  const log = place.path('log')
  await start('--log-level', 'debug', '--log-file', log)
  const key = await newKey('--description', 'for the shop')
  const { key: rotated } = await done('keys', 'rotate', key.accessKeyId)
  const listed = await command(['keys', 'list'])
  expect(listed.stdout).toContain(key.accessKeyId)
  await command(
    ['keys', 'list'],
    variablesOf({ accessKeyId: rotated.secretAccessKey, secretAccessKey: 'wrong-secret' }),
  )
  const server = started.server
  server?.child.kill('SIGTERM')
  const outcome = await server?.ended
  const said = [await readFile(log, 'utf8'), listed.stdout, outcome?.stdout, outcome?.stderr].join('\n')
  expect(said).toContain('changed through the admin port')
  for (const secret of [key.secretAccessKey, rotated.secretAccessKey, environmentKey.secretAccessKey]) {
    expect(said).not.toContain(secret)
  }
})

test('the keys of the configuration count as it says now', async () => {
  const config = place.path('holdfast.toml')
  const configure = (key: string) =>
    writeFile(
      config,
      `[[accounts]]\nid = "main"\nkeys = [{ accessKeyId = "${key}", secretAccessKey = "secret-of-${key}" }]\n`,
    )
  const ask = async (key: string) => {
    const outcome = await command(
      ['users', 'list'],
      variablesOf({ accessKeyId: key, secretAccessKey: `secret-of-${key}` }),
    )
    return outcome.code === 0 ? 'answered' : /\w+(?=: )/.exec(outcome.stderr.replace('holdfast: ', ''))?.[0]
  }
  await configure('first-key')
  const words = ['serve', '--config', config, '--data', place.path('data'), '--listen', '127.0.0.1:0']
  const server = await serve([...words, '--admin-listen', '127.0.0.1:0', '--workers', '2', '--log-level', 'info'], {})
  started.server = server
  expect(await ask('first-key')).toBe('answered')
  await configure('second-key')
  server.child.kill('SIGHUP')
  await server.logged((line) => line.includes('the configuration was read again'))
  expect(await ask('first-key')).toBe('InvalidAccessKeyId')
  expect(await ask('second-key')).toBe('answered')
})

describe('a command', () => {
  test('finds the server and a key by the configuration that started it', async () => {
    const config = place.path('holdfast.toml')
    const free = createServer().listen(0, '127.0.0.1')
    await once(free, 'listening')
    const { port } = free.address() as AddressInfo
    free.close()
    await once(free, 'close')
    await writeFile(config, `data = "data"\nlisten = "127.0.0.1:0"\nadminListen = "127.0.0.1:${port}"\n`)
    const variables = { HOLDFAST_ADMIN_LISTEN: '', HOLDFAST_CONFIG: config }
    const running = await serve(['serve'], variables)
    expect(running.ready.adminEndpoint).toBe(`http://127.0.0.1:${port}`)
    const added = await run(['users', 'add', 'alice', '--policy', 'consoleAdmin'], variables).ended
    expect(added).toMatchObject({ code: 0, stderr: '', stdout: 'alice  enabled  consoleAdmin\n' })
    const key = await run(['keys', 'add', '--user', 'alice'], variables).ended
    expect(key.stdout).toMatch(/^access key {2}\w+\nsecret key {2}\w+ {3}\(shown once\)\n$/)
  })

  test.each([
    [['users', 'dance'], /expects `users` with one of 'list', 'add NAME'/],
    [['users', 'add'], /expects `users`/],
    [['users', 'add', 'a', 'b'], /expects `users`/],
    [['keys', 'add', '--read-only'], /need a --bucket/],
    [['keys', 'add', '--bucket', 'b', '--read-only', '--write-only'], /exclude each other/],
    [['keys', 'add', '--expires', 'soon'], /--expires: expects a duration/],
    [['keys', 'list', '--retire'], /belong to `holdfast key-ring`/],
    [['policies', 'put', 'p', '/nonexistent.json'], /nonexistent\.json/],
  ])('%j is wrong usage', async (asked, expected) => {
    const outcome = await runHere([...asked, '--admin-endpoint', 'http://127.0.0.1:1'], keyVariables)
    expect([outcome.code, outcome.stdout]).toEqual([2, ''])
    expect(outcome.stderr).toMatch(expected)
  })

  test('`keys` without an action still shows the key ring, with a notice', async () => {
    await start()
    const ring = ['--data', place.path('data')]
    const now = await run(['key-ring', ...ring], keyVariables).ended
    const former = await run(['keys', ...ring], keyVariables).ended
    expect(now).toMatchObject({ code: 0, stderr: '' })
    expect(former).toMatchObject({ code: 0, stdout: now.stdout })
    expect(former.stderr).toMatch(/^holdfast: the key ring is now `holdfast key-ring`.*\n$/)
    const rotated = await run(['keys', ...ring, '--rotate', 'sse-s3'], keyVariables).ended
    expect(rotated.code).toBe(0)
    expect(rotated.stdout).not.toBe(now.stdout)
  })
})
