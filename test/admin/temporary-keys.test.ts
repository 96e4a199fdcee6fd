/** What temporary keys may do at the admin port: what whoever made them may, and what their session policy allows. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { secretTag } from '../../src/auth/session-token.ts'
import { openTemporaryKeys } from '../../src/opening/temporary-keys.ts'
import { issueKeys } from '../../src/sts/issue.ts'
import type { SigningKey } from '../support/signer.ts'
import { type AdminWorld, openAdminWorld, rootKey } from './admin-world.ts'

let world: AdminWorld
beforeAll(async () => {
  world = await openAdminWorld()
})
afterAll(() => world.close())

interface Temporary {
  key: SigningKey
  headers: [name: string, value: string][]
}

async function temporaryKey(policy?: object, seconds = 900): Promise<Temporary> {
  const { backend, identities } = world
  const context = openTemporaryKeys({
    ring: backend.keys,
    credentials: identities.credentials,
    oidc: [],
    clock: backend.clock,
  })
  const { accessKeyId, secretAccessKey, sessionToken } = await issueKeys(
    {
      accountId: 'main',
      holder: { kind: 'key', accessKeyId: rootKey.accessKeyId, secretTag: secretTag(rootKey.secretAccessKey) },
      kind: 'assumed-role',
      policy: policy && JSON.stringify({ Version: '2012-10-17', Statement: policy }),
      expiresMs: backend.clock.now() + seconds * 1000,
    },
    context,
  )
  return { key: { accessKeyId, secretAccessKey }, headers: [['x-amz-security-token', sessionToken]] }
}

const addUser = (name: string, { key: by, headers }: Temporary) =>
  world.ask({ method: 'POST', path: '/v1/accounts/main/users', by, headers, input: { name } })

const usersNamed = async (name: string): Promise<number> => {
  const users = await world.identities.verbs.users.list('main')
  return users.filter((user) => user.name === name).length
}

it('of the owner administer as the owner does', async () => {
  expect(await addUser('ann', await temporaryKey())).toMatchObject({ status: 201 })
  expect(await usersNamed('ann')).toBe(1)
})

it.each([
  ['lets them', { Effect: 'Allow', Action: 'admin:*', Resource: '*' }, 201],
  ['is about S3 alone', { Effect: 'Allow', Action: 's3:*', Resource: '*' }, 403],
])('do what their session policy allows: one that %s', async (_what, statement, status) => {
  expect(await addUser(`user${status}`, await temporaryKey([statement]))).toMatchObject({ status })
  expect(await usersNamed(`user${status}`)).toBe(status === 201 ? 1 : 0)
})

it('are refused once they have expired, and without their token', async () => {
  expect(await addUser('late', await temporaryKey(undefined, -1))).toMatchObject({ json: { code: 'ExpiredToken' } })
  const { key } = await temporaryKey()
  expect(await addUser('late', { key, headers: [] })).toMatchObject({ json: { code: 'InvalidAccessKeyId' } })
  expect(await usersNamed('late')).toBe(0)
})
