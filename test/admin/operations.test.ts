/** Who may use which operation of the admin port: generated from the declarations, so that one that is not tried here fails. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminActions } from '../../src/access/admin-actions.ts'
import type { AdminOperation } from '../../src/admin/requests/operation.ts'
import { compileRoutes } from '../../src/admin/requests/route.ts'
import { adminOperations } from '../../src/admin/table.ts'
import type { SigningKey } from '../support/signer.ts'
import { type AdminWorld, narrowedKey, openAdminWorld, rootKey } from './admin-world.ts'

let world: AdminWorld
beforeAll(async () => {
  world = await openAdminWorld()
})
afterAll(() => world.close())

const everything = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: 's3:*', Resource: 'arn:aws:s3:::*' }],
}
const open = { blockPublicAcls: false, ignorePublicAcls: false, blockPublicPolicy: false, restrictPublicBuckets: false }

/** An input that each operation takes; `name`: one that nothing has yet. */
const inputs: Record<string, (name: string) => unknown> = {
  LogIn: () => ({ accessKeyId: 'nobody-has-it', secretAccessKey: 'x' }),
  ListLogInMethods: () => undefined,
  BeginLogInAtIssuer: () => ({ issuer: 'none' }),
  FinishLogInAtIssuer: () => undefined,
  GetSession: () => undefined,
  CreateSessionKeys: () => undefined,
  CreateLink: () => ({ bucket: 'photos', key: 'cat.jpg', expiresSeconds: 60 }),
  ExplainOwnAccess: () => ({ questions: [{ action: 's3:ListAllMyBuckets', resource: '*' }] }),
  LogOut: () => undefined,
  ListBuckets: () => undefined,
  ListAccountBuckets: () => undefined,
  ListQuotas: () => undefined,
  GetQuota: () => undefined,
  SetQuota: () => ({ bytes: 1 }),
  RemoveQuota: () => undefined,
  ListReplication: () => undefined,
  ListLocations: () => undefined,
  ReplaceStore: () => ({}),
  ListMembers: () => undefined,
  ListTasks: () => undefined,
  WatchTasks: () => undefined,
  StartTask: () => ({ kind: 'repair' }),
  CancelTask: () => ({ kind: 'move', name: 'none' }),
  GetConfiguration: () => undefined,
  GetLogLevel: () => undefined,
  SetLogLevel: () => ({ level: 'debug' }),
  ListRequests: () => undefined,
  WatchRequests: () => undefined,
  GetSupport: () => undefined,
  GetMetrics: () => undefined,
  GetServerInfo: () => undefined,
  ExplainAccess: () => ({ action: 's3:ListAllMyBuckets', resource: '*' }),
  CreateAccount: (name) => ({ id: name }),
  ListAccounts: () => undefined,
  GetAccount: () => undefined,
  SetAccountEnabled: () => ({ enabled: false }),
  DeleteAccount: () => undefined,
  PutAccountPublicAccessBlock: () => open,
  DeleteAccountPublicAccessBlock: () => undefined,
  CreateUser: (name) => ({ name }),
  ListUsers: () => undefined,
  GetUser: () => undefined,
  SetUserEnabled: () => ({ enabled: false }),
  SetUserTags: () => ({ tags: [{ key: 'team', value: 'blue' }] }),
  DeleteUser: () => undefined,
  AttachUserPolicy: () => undefined,
  DetachUserPolicy: () => undefined,
  PutUserPolicy: () => ({ document: everything }),
  DeleteUserPolicy: () => undefined,
  PutPolicy: () => ({ document: everything }),
  ListPolicies: () => undefined,
  GetPolicy: () => undefined,
  DeletePolicy: () => undefined,
  CreateKey: () => ({}),
  ListKeys: () => undefined,
  GetKey: () => undefined,
  SetKeyEnabled: () => ({ enabled: false }),
  SetKeyExpiry: () => ({ expires: null }),
  RotateKey: () => ({}),
  DeleteKey: () => undefined,
}

/** Which policy a path is to name: one that is attached, one that is the user's own, or one that nobody has. */
const policyFor: Record<string, string> = { DetachUserPolicy: 'readonly', DeleteUserPolicy: 'own' }

let made = 0

interface Subject {
  path: string
  input: unknown
}

/** Something to ask an operation about that no other cell has changed. */
async function makeSubject(operation: AdminOperation, account: string): Promise<Subject> {
  const { accounts, users, policies, keys } = world.identities.verbs
  const name = `n${made++}`
  const about = operation.ofServer === true ? `about-${name}` : account
  if (about !== account) await accounts.create({ id: about })
  const document = JSON.stringify(everything)
  await users.create(about, { name: `user-${name}` })
  await users.attachPolicy(about, `user-${name}`, 'readonly')
  await users.putInlinePolicy(about, `user-${name}`, { name: 'own', document })
  await policies.put(about, { name: `policy-${name}`, document })
  const { accessKeyId } = await keys.add({ accountId: about, user: `user-${name}` })
  const path = operation.path
    .replace('{account}', about)
    .replace('{user}', `user-${name}`)
    .replace('{policy}', policyFor[operation.name] ?? `policy-${name}`)
    .replace('{key}', accessKeyId)
    .replace('{store}', 'none')
    .replace('{bucket}', 'none')
  return { path, input: inputs[operation.name]?.(`new-${name}`) }
}

const actors = new Map<string, SigningKey | 'nobody'>()

async function userKey(account: string, name: string, policy?: string): Promise<SigningKey> {
  const { users, keys } = world.identities.verbs
  await users.create(account, { name })
  if (policy !== undefined) await users.attachPolicy(account, name, policy)
  return keys.add({ accountId: account, user: name })
}

beforeAll(async () => {
  const { accounts, keys } = world.identities.verbs
  await accounts.create({ id: 'other' })
  const disabled = await keys.add({ accountId: 'main' })
  await keys.setDisabled(disabled.accessKeyId, true)
  const expired = await keys.add({ accountId: 'main', expiresMs: Date.now() + 60_000 })
  world.advance(120_000)
  const narrowed = await keys.add({ accountId: 'main', policy: JSON.stringify(everything) })
  const all: [string, SigningKey | 'nobody'][] = [
    ['an expired key', expired],
    ['the main account’s key', rootKey],
    ['another account’s key', await keys.add({ accountId: 'other' })],
    ['an administrator in main', await userKey('main', 'chief', 'consoleAdmin')],
    [
      'a key of an administrator that a policy of its own narrows',
      await keys.add({ accountId: 'main', user: 'chief', policy: JSON.stringify(everything) }),
    ],
    ['an administrator in the other account', await userKey('other', 'chief', 'consoleAdmin')],
    ['a user of main without admin permission', await userKey('main', 'worker', 'readwrite')],
    ['a user of the other account without a policy', await userKey('other', 'worker')],
    ['a key of main that the configuration narrows', narrowedKey],
    ['a key of main that a policy narrows', narrowed],
    ['a disabled key of main', disabled],
    ['an unknown key', { accessKeyId: 'nobody-has-it', secretAccessKey: 'x'.repeat(40) }],
    ['a wrong secret', { ...rootKey, secretAccessKey: 'x'.repeat(40) }],
    ['nobody', 'nobody'],
  ]
  for (const [name, key] of all) actors.set(name, key)
})

const mayDoAll = ['the main account’s key', 'an administrator in main']
const mayDoInOther = [...mayDoAll, 'another account’s key', 'an administrator in the other account']
const refusals: Record<string, string> = {
  'a disabled key of main': 'InvalidAccessKeyId',
  'an unknown key': 'InvalidAccessKeyId',
  'an expired key': 'InvalidAccessKeyId',
  'a wrong secret': 'SignatureDoesNotMatch',
}

const isOfServer = ({ path, ofServer }: AdminOperation): boolean => ofServer === true || !path.includes('{account}')

/** What an allowed request gets for its input above, where that is no success. */
const answers: Record<string, number> = {
  LogIn: 403,
  BeginLogInAtIssuer: 404,
  // Signed requests get temporary keys elsewhere.
  CreateSessionKeys: 401,
  CreateLink: 401,
  GetQuota: 404,
  SetQuota: 404,
  RemoveQuota: 404,
  ReplaceStore: 404,
  CancelTask: 404,
}

/** What keys with which nothing is wrong may do, whatever they are permitted. */
const proven = (name: string): boolean => refusals[name] === undefined && name !== 'nobody'

function allows({ permission }: AdminOperation, account: string, actor: string): boolean {
  // A signature that is sent is verified.
  if (permission === 'anyone') return refusals[actor] === undefined
  if (permission === 'sender') return proven(actor)
  return (account === 'other' ? mayDoInOther : mayDoAll).includes(actor)
}

describe.each(adminOperations.map((operation) => [operation.name, operation] as const))('%s', (_, operation) => {
  const targets = isOfServer(operation) ? ['main'] : ['main', 'other']
  it.each(targets)('is for those who may administer it: about %s', async (account) => {
    expect(inputs).toHaveProperty(operation.name)
    const denied = await makeSubject(operation, account)
    for (const [name, by] of actors) {
      const { generation } = world.identities.credentials.identities
      const isAllowed = allows(operation, account, name)
      const subject = isAllowed ? await makeSubject(operation, account) : denied
      const { status, json } = await world.ask({ ...subject, method: operation.method, by })
      const refusal = refusals[name] ?? 'AccessDenied'
      if (isAllowed) expect([name, status]).toEqual([name, answers[operation.name] ?? operation.status])
      else expect({ name, status, code: json.code }).toEqual({ name, status: 403, code: refusal })
      if (!isAllowed) expect([name, world.identities.credentials.identities.generation]).toEqual([name, generation])
    }
  })
})

it.each(
  adminOperations.filter((operation) => operation.ofServer).map((operation) => [operation.name, operation] as const),
)('%s is not for the account that it is about', async (_, { method, path, name }) => {
  const about = { method, path: path.replace('{account}', 'other'), input: inputs[name]?.('other') }
  for (const actor of ['another account’s key', 'an administrator in the other account']) {
    expect([actor, (await world.ask({ ...about, by: actors.get(actor) ?? 'nobody' })).json.code]).toEqual([
      actor,
      'AccessDenied',
    ])
  }
})

it('asks for permissions that policies can name, and for each of them', () => {
  const asked = new Set<string>(adminOperations.map(({ permission }) => permission))
  for (const open of ['anyone', 'sender']) expect(asked.delete(open)).toBe(true)
  expect([...asked, 'admin:ManageAccountKeys'].sort()).toEqual([...adminActions].sort())
  expect([...adminActions].sort()).toEqual(adminActions)
})

it('refuses two operations at one path', () => {
  expect(() => compileRoutes([...adminOperations, ...adminOperations.slice(0, 1)])).toThrow(/one path/)
})

describe('a key of the account itself', () => {
  const admin = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: 'admin:*Key*', Resource: '*' }] }

  it('is out of reach of whoever may only make keys of users', async () => {
    const { users, policies, keys } = world.identities.verbs
    const denied = [{ Effect: 'Deny', Action: 'admin:ManageAccountKeys', Resource: '*' }]
    const document = JSON.stringify({ ...admin, Statement: [...admin.Statement, ...denied] })
    await policies.put('main', { name: 'key-maker', document })
    const by = await userKey('main', 'key-maker', 'key-maker')
    const own = await keys.add({ accountId: 'main' })
    await users.create('main', { name: 'customer' })
    const ofUser = { method: 'POST', path: '/v1/accounts/main/keys', input: { user: 'customer' }, by }
    expect((await world.ask(ofUser)).status).toBe(201)
    for (const [method, path, input] of [
      ['POST', '/v1/accounts/main/keys', {}],
      ['POST', `/v1/accounts/main/keys/${own.accessKeyId}/rotate`, {}],
      ['PUT', `/v1/accounts/main/keys/${own.accessKeyId}/enabled`, { enabled: false }],
      ['PUT', `/v1/accounts/main/keys/${own.accessKeyId}/expiry`, { expires: null }],
      ['DELETE', `/v1/accounts/main/keys/${own.accessKeyId}`, undefined],
    ] as const) {
      expect([path, (await world.ask({ method, path, input, by })).json.code]).toEqual([path, 'AccessDenied'])
    }
    expect(await keys.get(own.accessKeyId)).toMatchObject({ disabled: false })
  })

  it('of another account can’t be reached under one’s own', async () => {
    const { accessKeyId } = await world.identities.verbs.keys.add({ accountId: 'main' })
    const by = await world.identities.verbs.keys.add({ accountId: 'other' })
    for (const [method, path] of [
      ['GET', `/v1/accounts/other/keys/${accessKeyId}`],
      ['POST', `/v1/accounts/other/keys/${accessKeyId}/rotate`],
      ['DELETE', `/v1/accounts/other/keys/${accessKeyId}`],
    ] as const) {
      const { status, json } = await world.ask({ method, path, by })
      expect([status, json.code]).toEqual([404, 'NoSuchEntity'])
    }
  })
})
