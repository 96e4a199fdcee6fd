/** Hostile names and values through the admin port: they come back as data, never as markup, headers or errors of the server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seededRandom } from '../support/seeded.ts'
import { type AdminWorld, openAdminWorld } from './admin-world.ts'

let world: AdminWorld
beforeAll(async () => {
  world = await openAdminWorld()
})
afterAll(() => world.close())

const pieces = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "';alert(1)//",
  '</title>',
  '\u2028',
  '\u2029',
  '\u0000',
  '\r\nSet-Cookie: a=b',
  '\ndata: {"forged":true}\n\n',
  '{{7*7}}',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '%2e%2e%2f',
  '\ud83d\ude00',
  '\u202e',
  '\ufeff',
  'javascript:alert(1)',
  '\\',
]
const seed = 20261123
const random = seededRandom(seed)
const hostile = Array.from({ length: 500 }, () =>
  Array.from({ length: 1 + Math.floor(random() * 3) }, () => pieces[Math.floor(random() * pieces.length)]).join(''),
)

const line = (text: string) => ({
  requestId: 'id',
  operation: 'GetObject',
  method: 'GET',
  path: `/b/${text}`,
  status: 404,
  code: 'NoSuchKey',
  bytesIn: 0,
  bytesOut: 0,
  durationMs: 1,
  firstByteMs: 1,
  remote: '',
  accessKeyId: text,
  account: text,
})

it(`500 names of requests come back as they were, in JSON alone (seed ${seed})`, async () => {
  for (const text of hostile) {
    world.requests.saw(line(text))
    const { status, json, headers } = await world.ask({ method: 'GET', path: '/v1/requests' })
    const [newest] = json.requests as { path: string; accessKeyId: string }[]
    expect([status, newest?.path, newest?.accessKeyId]).toEqual([200, `/b/${text}`, text])
    expect(headers['content-type']).toBe('application/json')
  }
})

it('descriptions and tags come back as they were, and never as headers', async () => {
  for (const text of hostile.slice(0, 60)) {
    const made = await world.ask({ method: 'POST', path: '/v1/accounts/main/keys', input: { description: text } })
    expect(made.status === 201 || made.status === 400).toBe(true)
    expect(made.headers['set-cookie']).toBeUndefined()
    if (made.status !== 201) continue
    expect(made.json.description).toBe(text)
    await world.ask({ method: 'DELETE', path: `/v1/accounts/main/keys/${made.json.accessKeyId}` })
  }
})

it('names in paths and log-ins are refused, without an error in the server', async () => {
  for (const text of hostile.slice(0, 100)) {
    const path = `/v1/accounts/main/users/${encodeURIComponent(text)}`
    const shown = await world.ask({ method: 'GET', path })
    expect([text, shown.status]).toEqual([text, shown.status < 500 ? shown.status : 0])
    const task = { method: 'POST', path: '/v1/tasks', input: { kind: 'move', bucket: text, to: text } }
    expect((await world.ask(task)).status).toBeLessThan(500)
  }
  expect(world.log()).not.toContain('unexpectedly')
})

describe('where the server connects to', () => {
  it('is never what a request says', async () => {
    const inputs: [string, object][] = [
      ['/v1/session/issuer', { issuer: 'http://169.254.169.254/latest/meta-data' }],
      ['/v1/session/issuer', { issuer: 'https://evil.example' }],
      ['/v1/session/issuer', { issuer: 'x', redirectUri: 'https://evil.example' }],
    ]
    for (const [path, input] of inputs) {
      const { status } = await world.ask({ method: 'POST', path, by: 'nobody', input })
      expect([path, status === 404 || status === 400]).toEqual([path, true])
    }
    const callback = await world.raw({
      method: 'GET',
      path: '/v1/session/issuer/callback?code=x&state=y&iss=https://evil.example',
      by: 'nobody',
    })
    expect([callback.status, callback.headers.location]).toEqual([303, '/?logIn=LogInFailed'])
  })
})
