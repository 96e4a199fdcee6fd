/** A real issuer of OpenID Connect on this machine (oidc-provider), and tokens that its key signs without it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { Provider } from 'oidc-provider'

/** What tokens are made for: a resource server of the issuer. */
export const audience = 'urn:holdfast'
const otherAudience = 'urn:elsewhere'

export interface OidcIssuer {
  url: string
  /** What the issuer was asked for since its start, without queries. */
  asked: string[]
  /** Claims of tokens from now on. */
  claims: Record<string, unknown>
  /** A token as a machine gets one, with its own id and secret. */
  token(subject: string, wanted?: { elsewhere: boolean }): Promise<string>
  /** Signed by the issuer's key, with any claims. */
  signed(payload: JWTPayload, header?: Record<string, unknown>): Promise<string>
  /** For whoever would take it for a shared secret. */
  publicKey: JWK
  close(): Promise<void>
}

const subjects = ['ann', 'bob']
const secretOf = (subject: string): string => `secret-of-${subject}`

export async function startOidcIssuer(): Promise<OidcIssuer> {
  let answer = (_request: IncomingMessage, _response: ServerResponse): void => {}
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push((request.url ?? '').split('?')[0] ?? '')
    answer(request, response)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
  const issuer: OidcIssuer = {
    url,
    asked,
    claims: {},
    token: (subject, { elsewhere } = { elsewhere: false }) =>
      tokenFor(url, subject, elsewhere ? otherAudience : audience),
    signed: (payload, header = {}) =>
      new SignJWT({ iss: url, aud: audience, sub: 'ann', ...payload })
        .setProtectedHeader({ alg: 'RS256', kid: 'key', ...header })
        .sign(privateKey, { crit: { x: true } }),
    publicKey: await exportJWK(publicKey),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  const jwk = { ...(await exportJWK(privateKey)), kid: 'key', use: 'sig', alg: 'RS256' }
  const provider = new Provider(url, {
    jwks: { keys: [jwk] },
    clients: subjects.map((subject) => ({
      client_id: subject,
      client_secret: secretOf(subject),
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
    ttl: { ClientCredentials: 3600 },
    extraTokenClaims: () => issuer.claims,
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          scope: '',
          audience: resource,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  })
  answer = provider.callback()
  return issuer
}

async function tokenFor(url: string, subject: string, resource: string): Promise<string> {
  const reply = await fetch(`${url}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${subject}:${secretOf(subject)}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource }),
  })
  const answer: unknown = await reply.json()
  if (typeof answer === 'object' && answer !== null && 'access_token' in answer) return String(answer.access_token)
  throw new Error(`the issuer gives no token: ${JSON.stringify(answer)}`)
}
