/** The admin ports of servers over one PostgreSQL, with TLS: one browser session for all of them, and metrics of the database. */
import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import type { OutgoingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { beforeEach, expect, it } from 'vitest'
import { type Authority, makeAuthority, opensslProbe } from '../support/authority.ts'
import { describeInstalled } from '../support/installed.ts'
import { postgresProbe } from '../support/postgres.ts'
import { openGatewayWorkplace, ringVariables } from './gateway-workplace.ts'
import { environmentKey, serve } from './holdfast-process.ts'

interface Reply {
  status: number
  cookies: string[]
  text: string
  json: Record<string, unknown>
}

describeInstalled('admin ports over PostgreSQL', [postgresProbe, opensslProbe, ['promtool', '--version']], () => {
  const place = openGatewayWorkplace('gateway-admin')
  const { variables } = place
  let authority: Authority
  beforeEach(async () => {
    Object.assign(variables, ringVariables)
    authority = makeAuthority(place.path())
    const { cert, key } = authority.issue('gateway')
    await writeFile(place.path('cert.pem'), cert)
    await writeFile(place.path('key.pem'), key)
  })

  /** Resolves with the URL of the admin port. */
  async function start(host: string): Promise<string> {
    const ports = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
    const tls = ['--tls-cert', place.path('cert.pem'), '--tls-key', place.path('key.pem')]
    const { ready } = await serve(['serve', '--data', place.path(host), ...ports, ...tls], variables)
    return ready.adminEndpoint ?? ''
  }

  /** Sends a request as a browser that trusts the certificate. */
  function ask(
    admin: string,
    method: string,
    path: string,
    { headers = {}, input }: { headers?: OutgoingHttpHeaders; input?: unknown } = {},
  ): Promise<Reply> {
    const body = input === undefined ? '' : JSON.stringify(input)
    const all = {
      ...(method === 'GET' ? {} : { origin: admin }),
      ...(body === '' ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
      ...headers,
    }
    return new Promise((resolve, reject) => {
      const asked = request(admin + path, { method, headers: all, ca: authority.cert, agent: false }, (response) => {
        response.toArray().then((chunks) => {
          const text = Buffer.concat(chunks).toString()
          const isJson = response.headers['content-type']?.startsWith('application/json')
          const cookies = response.headers['set-cookie'] ?? []
          resolve({ status: response.statusCode ?? 0, cookies, text, json: isJson ? JSON.parse(text) : {} })
        }, reject)
      })
      asked.once('error', reject).end(body)
    })
  }

  it('know a session that began at another of them, and end it everywhere', async () => {
    const [a, b] = await Promise.all([start('a'), start('b')])
    const began = await ask(a, 'POST', '/v1/session', { input: environmentKey })
    expect(began.status).toBe(201)
    const [cookie = ''] = began.cookies
    expect(cookie).toMatch(/^__Host-holdfast-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; .*Secure$/)
    const session = { cookie: cookie.split(';')[0] ?? '' }
    const shown = await ask(b, 'GET', '/v1/session', { headers: session })
    expect(shown).toMatchObject({ status: 200, json: { account: 'main', csrfToken: began.json.csrfToken } })

    // At each server, a change needs the token that came with the log-in.
    const input = { name: 'ann' }
    const bare = await ask(b, 'POST', '/v1/accounts/main/users', { headers: session, input })
    expect(bare.status).toBe(403)
    const headers = { ...session, 'x-csrf-token': String(began.json.csrfToken) }
    expect((await ask(b, 'POST', '/v1/accounts/main/users', { headers, input })).status).toBe(201)
    // A cookie from plain HTTP, which another host of the domain could have set, opens nothing.
    const planted = { cookie: session.cookie.replace('__Host-', '') }
    expect((await ask(a, 'GET', '/v1/session', { headers: planted })).json.code).toBe('AccessDenied')

    const ended = await ask(b, 'DELETE', '/v1/session', { headers })
    expect([ended.status, ended.cookies[0]]).toEqual([
      204,
      expect.stringMatching(/^__Host-holdfast-session=;.*Secure$/),
    ])
    for (const admin of [a, b]) {
      const { status, json } = await ask(admin, 'GET', '/v1/session', { headers: session })
      expect([status, json.code]).toEqual([401, 'SessionEnded'])
    }
  })

  it('tell the state of the database and of the members, in a form that promtool accepts', async () => {
    const [a] = await Promise.all([start('a'), start('b')])
    const { status, text } = await ask(a, 'GET', '/metrics')
    expect(status).toBe(200)
    const measured = (series: string): number =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.slice(series.length + 1),
      )
    expect(measured('holdfast_metadata_up')).toBe(1)
    expect(measured('holdfast_metadata_connections{state="most"}')).toBeGreaterThanOrEqual(1)
    expect(measured('holdfast_metadata_connections{state="open"}')).toBeGreaterThanOrEqual(1)
    expect(measured('holdfast_metadata_connection_waits')).toBeGreaterThanOrEqual(0)
    expect(measured('holdfast_members{kind="server"}')).toBe(2)
    expect(measured('holdfast_lease_left_seconds')).toBeGreaterThan(0)
    expect(Math.abs(measured('holdfast_clock_difference_seconds'))).toBeLessThan(60)
    // With PostgreSQL there is no file of LMDB.
    expect(text).not.toMatch(/^holdfast_metadata_file_bytes /m)
    const lint = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
    expect([lint.status, lint.stdout, lint.stderr]).toEqual([0, '', ''])
  })
})
