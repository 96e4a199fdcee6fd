/** Log-ins at an OpenID Connect issuer by the code flow with PKCE. The server keeps no state meanwhile: the browser carries a sealed note. */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  None,
} from 'openid-client'
import { z } from 'zod'
import { openText, sealText } from '../auth/sealed-text.ts'
import { limits } from '../limits.ts'
import type { StsContext } from '../sts/action.ts'
import { isTrustedAddress, type OidcProvider } from '../sts/oidc/provider-settings.ts'
import { StsError } from '../sts/sts-error.ts'
import { webHolder } from '../sts/web-holder.ts'
import type { NewBrowserSession } from './browser-sessions.ts'
import { LogInRefused, notBegun } from './log-in-refused.ts'

const pendingSchema = z.object({
  provider: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  untilMs: z.number(),
})
const label = 'holdfast pending log-in'

export class IssuerLogIns {
  readonly #providers: ReadonlyMap<string, OidcProvider>
  readonly #sts: StsContext
  readonly #found = new Map<string, Promise<Configuration>>()

  constructor(providers: readonly OidcProvider[], sts: StsContext) {
    this.#providers = new Map(providers.map((provider) => [provider.name, provider]))
    this.#sts = sts
  }

  /** `url`: where to send the browser. `pending`: the note that it must bring back. Throws `LogInRefused`. */
  async begin(name: string, redirectUri: string): Promise<{ url: string; pending: string }> {
    const provider = this.#provider(name)
    const configuration = await this.#configuration(provider)
    const { clock, keys } = this.#sts
    const secret = (): string => clock.random(32).toString('base64url')
    const [state, nonce, verifier] = [secret(), secret(), secret()]
    const untilMs = clock.now() + limits.pendingLogInMs
    const pending = { provider: name, state, nonce, verifier, redirectUri, untilMs }
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: provider.scope ?? 'openid profile email',
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    })
    await keys.refresh()
    return { url: url.href, pending: sealText(JSON.stringify(pending), label, keys, (bytes) => clock.random(bytes)) }
  }

  /** `rawQuery`: the query that the issuer added to the redirect. Throws `LogInRefused`. */
  async finish(sealed: string | undefined, rawQuery: string): Promise<NewBrowserSession> {
    const pending = this.#pending(sealed)
    const provider = this.#provider(pending.provider)
    const idToken = await this.#idToken(provider, pending, rawQuery)
    try {
      const identity = await this.#sts.webIdentities.verify(idToken)
      return {
        accountId: provider.account,
        holder: webHolder(identity, this.#sts.credentials),
        kind: 'web-identity',
        claims: identity.claims,
        untilMs: Number.POSITIVE_INFINITY,
      }
    } catch (error) {
      if (!(error instanceof StsError)) throw error
      throw new LogInRefused('LogInFailed', 'The issuer signed you in, but you have no access here.', {
        reason: error.reason ?? error.message,
      })
    }
  }

  async #idToken(
    provider: OidcProvider,
    { redirectUri, state, nonce, verifier }: z.infer<typeof pendingSchema>,
    rawQuery: string,
  ): Promise<string> {
    const configuration = await this.#configuration(provider)
    try {
      const tokens = await authorizationCodeGrant(configuration, new URL(`${redirectUri}?${rawQuery}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      if (tokens.id_token !== undefined) return tokens.id_token
    } catch (error) {
      throw new LogInRefused('LogInFailed', 'The issuer did not confirm the log-in.', { reason: messageOf(error) })
    }
    throw new LogInRefused('LogInFailed', 'The issuer did not confirm the log-in.')
  }

  #pending(sealed: string | undefined): z.infer<typeof pendingSchema> {
    const { keys, clock } = this.#sts
    const text = sealed === undefined ? undefined : openText(sealed, label, keys)
    const pending = text === undefined ? undefined : pendingSchema.parse(JSON.parse(text))
    if (pending !== undefined && clock.now() < pending.untilMs) return pending
    throw notBegun()
  }

  #provider(name: string): OidcProvider {
    const provider = this.#providers.get(name)
    if (provider === undefined) throw new LogInRefused('NoSuchProvider', 'There is no issuer of this name.')
    return provider
  }

  /** All log-ins share one discovery. If it fails, the next log-in tries again. */
  #configuration(provider: OidcProvider): Promise<Configuration> {
    const known = this.#found.get(provider.name)
    if (known !== undefined) return known
    const found = discover(provider).catch((error) => {
      this.#found.delete(provider.name)
      throw new LogInRefused('ProviderFailed', 'The issuer cannot be reached.', { reason: messageOf(error) })
    })
    this.#found.set(provider.name, found)
    return found
  }
}

async function discover({ issuer, clientId, clientSecret }: OidcProvider): Promise<Configuration> {
  const isPlain = issuer.startsWith('http:')
  const authentication = clientSecret === undefined ? None() : ClientSecretPost(clientSecret)
  const configuration = await discovery(new URL(issuer), clientId, undefined, authentication, {
    // The configuration takes plain HTTP only from issuers on this machine.
    execute: isPlain ? [allowInsecureRequests] : [],
    timeout: limits.oidcAnswerMs / 1000,
    [customFetch]: (url, options) => fetchTrusted(url, options),
  })
  configuration.timeout = limits.oidcAnswerMs / 1000
  return configuration
}

/** A discovery document must not send the server to an address that the configuration could not name. */
function fetchTrusted(url: string, options: RequestInit): Promise<Response> {
  if (!isTrustedAddress(url)) return Promise.reject(new Error('the issuer names an address that cannot be trusted'))
  return fetch(url, { ...options, redirect: 'manual' })
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
