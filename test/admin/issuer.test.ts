/** Log-in of a browser at a real issuer of OpenID Connect: the code flow with PKCE, from the first request to the session. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { OidcProvider } from '../../src/sts/oidc/provider-settings.ts'
import { type AdminWorld, openAdminWorld } from './admin-world.ts'

const clientId = 'console'
const clientSecret = 'secret-of-the-console-client'

interface Issuer {
  url: string
  claims: Record<string, unknown>
  close(): void
}

/** Signs everybody in as `ann`, without asking. */
async function startIssuer(redirectUris: () => string[]): Promise<Issuer> {
  let answer = (_request: IncomingMessage, _response: ServerResponse): void => {}
  const server = createServer((request, response) => answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  const issuer: Issuer = { url, claims: {}, close }
  const provider = new Provider(url, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'key', use: 'sig', alg: 'RS256' }] },
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: redirectUris(),
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    pkce: { required: () => true },
    conformIdTokenClaims: false,
    claims: { openid: ['sub', 'policy'] },
    findAccount: (_context, id) => ({ accountId: id, claims: async () => ({ sub: id, ...issuer.claims }) }),
    loadExistingGrant: async (context) => {
      const grant = new context.oidc.provider.Grant({ clientId, accountId: 'ann' })
      grant.addOIDCScope('openid')
      await grant.save()
      return grant
    },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/sign-in/${interaction.uid}` },
  })
  const callback = provider.callback()
  answer = (request, response) => {
    if (!request.url?.startsWith('/sign-in/')) return void callback(request, response)
    void provider.interactionFinished(request, response, { login: { accountId: 'ann' } })
  }
  return issuer
}

let world: AdminWorld
let issuer: Issuer
const oidc: OidcProvider[] = []

beforeEach(async () => {
  oidc.length = 0
  world = await openAdminWorld({ oidc })
  issuer = await startIssuer(() => [`http://127.0.0.1:${world.port}/v1/session/issuer/callback`])
  oidc.push({
    name: 'work',
    issuer: issuer.url,
    clientId,
    clientSecret,
    claim: 'policy',
    account: 'main',
    scope: 'openid',
  })
  await world.close()
  world = await openAdminWorld({ oidc, port: world.port })
})
afterEach(async () => {
  issuer.close()
  await world.close()
})

const begin = () =>
  world.ask({
    method: 'POST',
    path: '/v1/session/issuer',
    by: 'nobody',
    input: { issuer: 'work' },
    plain: { host: `127.0.0.1:${world.port}` },
  })

/** Goes where a browser would go, with the issuer's cookies. Resolves with the address on the admin port. */
async function signIn(url: string): Promise<URL> {
  const jar = new Map<string, string>()
  let at = url
  for (let i = 0; i < 10; i++) {
    if (new URL(at).port === String(world.port)) return new URL(at)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const reply = await fetch(at, { redirect: 'manual', headers: { cookie } })
    for (const set of reply.headers.getSetCookie()) {
      const [pair = ''] = set.split(';')
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const location = reply.headers.get('location')
    if (location === null) throw new Error(`the issuer says ${reply.status}: ${await reply.text()}`)
    at = new URL(location, at).href
  }
  throw new Error('the issuer sends the browser in circles')
}

const cookieIn = (headers: NodeJS.Dict<string | string[]>, name: string): string =>
  [headers['set-cookie'] ?? []]
    .flat()
    .find((set) => set.startsWith(`${name}=`))
    ?.split(';')[0] ?? ''

const comeBack = (url: URL, cookie: string) =>
  world.raw({
    method: 'GET',
    path: url.pathname,
    target: url.pathname + url.search,
    by: 'nobody',
    plain: { cookie, host: url.host },
  })

describe('a log-in at an issuer', () => {
  it('begins a session with the policies that the token names', async () => {
    issuer.claims = { policy: ['readonly', 'none-of-this-name'] }
    const begun = await begin()
    expect(begun.status).toBe(200)
    const url = new URL(String(begun.json.url))
    expect([url.origin, url.searchParams.get('code_challenge_method')]).toEqual([issuer.url, 'S256'])
    expect(begun.headers['set-cookie']?.[0]).toMatch(/^holdfast-log-in=.*HttpOnly; SameSite=Lax/)
    const back = await comeBack(await signIn(url.href), cookieIn(begun.headers, 'holdfast-log-in'))
    expect([back.status, back.headers.location]).toEqual([303, '/'])
    const cookie = cookieIn(back.headers, 'holdfast-session')
    const shown = await world.ask({ method: 'GET', path: '/v1/session', by: 'nobody', plain: { cookie } })
    expect(shown.json).toMatchObject({ account: 'main', user: 'work/ann', csrfToken: expect.any(String) })
    expect(shown.json.operations).not.toContain('ListAccounts')
    const keys = await world.ask({
      method: 'POST',
      path: '/v1/session/keys',
      by: 'nobody',
      plain: { cookie, 'x-csrf-token': String(shown.json.csrfToken) },
    })
    expect(keys.status).toBe(201)
    expect(world.log()).not.toContain(clientSecret)
  })

  it('without a policy of the account gives nothing', async () => {
    issuer.claims = { policy: 'none-of-this-name' }
    const begun = await begin()
    const back = await comeBack(await signIn(String(begun.json.url)), cookieIn(begun.headers, 'holdfast-log-in'))
    expect([back.headers.location, cookieIn(back.headers, 'holdfast-session')]).toEqual(['/?logIn=LogInFailed', ''])
  })

  it('that another browser began is refused, because its code is worth nothing here', async () => {
    issuer.claims = { policy: 'readonly' }
    const theirs = await begin()
    const mine = await begin()
    const landing = await signIn(String(theirs.json.url))
    for (const cookie of ['', cookieIn(mine.headers, 'holdfast-log-in'), 'holdfast-log-in=x']) {
      const back = await comeBack(landing, cookie)
      expect([back.headers.location, cookieIn(back.headers, 'holdfast-session')]).toEqual(['/?logIn=LogInFailed', ''])
    }
  })
})
