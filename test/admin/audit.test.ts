/** Which changes through the admin port are written down, with whose name, and what happens when they can't be. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type AdminWorld, openAdminWorld, rootKey } from './admin-world.ts'

let world: AdminWorld
beforeAll(async () => {
  world = await openAdminWorld()
})
afterAll(() => world.close())
beforeEach(() => {
  world.audited.length = 0
})

const users = '/v1/accounts/main/users'

it('writes down each change, by whom and what, and no secret', async () => {
  const trace = '0af7651916cd43dd8448eb211c80319c'
  const headers: [string, string][] = [['traceparent', `00-${trace}-b7ad6b7169203331-01`]]
  await world.ask({ method: 'POST', path: users, input: { name: 'ann' }, headers })
  await world.ask({ method: 'GET', path: `${users}/ann` })
  const key = await world.ask({ method: 'POST', path: '/v1/accounts/main/keys', input: { user: 'ann' } })
  expect(world.audited).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      port: 'admin',
      operation: 'CreateUser',
      requestId: expect.any(String),
      traceId: trace,
      remote: '127.0.0.1',
      accessKeyId: rootKey.accessKeyId,
      account: 'main',
      target: expect.objectContaining({ account: 'main', name: 'ann' }),
    },
    expect.objectContaining({ operation: 'CreateKey', target: expect.objectContaining({ user: 'ann' }) }),
  ])
  expect(JSON.stringify(world.audited)).not.toContain(String(key.json.secretAccessKey))
})

it('names the key that a session began with', async () => {
  const reply = await world.ask({ method: 'POST', path: '/v1/session', by: 'nobody', input: rootKey })
  const cookie = String(reply.headers['set-cookie']).split(';')[0] ?? ''
  const plain = { cookie, 'x-csrf-token': String(reply.json.csrfToken) }
  await world.ask({ method: 'POST', path: users, by: 'nobody', plain, input: { name: 'bob' } })
  expect(world.audited).toEqual([
    expect.objectContaining({
      operation: 'LogIn',
      target: expect.objectContaining({ accessKeyId: rootKey.accessKeyId }),
    }),
    expect.objectContaining({
      operation: 'CreateUser',
      accessKeyId: rootKey.accessKeyId,
      session: expect.stringMatching(/^[0-9a-f]{16}$/),
    }),
  ])
  expect(JSON.stringify(world.audited)).not.toContain(rootKey.secretAccessKey)
})

it('writes down nothing that was refused', async () => {
  await world.ask({ method: 'POST', path: users, by: 'nobody', input: { name: 'eve' } })
  await world.ask({ method: 'POST', path: users, input: { name: '' } })
  expect(world.audited).toEqual([])
})

it('makes no change that can’t be written down', async () => {
  world.breakAudit(true)
  const refused = await world.ask({ method: 'POST', path: users, input: { name: 'carl' } })
  expect([refused.status, refused.json.code]).toEqual([503, 'ServiceUnavailable'])
  expect((await world.ask({ method: 'GET', path: `${users}/carl` })).status).toBe(404)
  world.breakAudit(false)
  expect((await world.ask({ method: 'POST', path: users, input: { name: 'carl' } })).status).toBe(201)
})
