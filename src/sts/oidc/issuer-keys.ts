/** The keys of one issuer: found by discovery, fetched when needed, and remembered. */
import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose'
import { limits } from '../../limits.ts'
import { fetchBytes, IssuerUnreachable } from './fetch-bytes.ts'
import { isTrustedAddress, type OidcProvider } from './provider-settings.ts'

export interface IssuerKeys {
  /** Finds the key set. Rejects with `IssuerUnreachable` when discovery fails. */
  find(): Promise<JWTVerifyGetKey>
}

export function issuerKeys({ issuer, jwksUrl }: OidcProvider): IssuerKeys {
  let known: Promise<JWTVerifyGetKey> | undefined
  return {
    find: () => {
      // All callers share one discovery. After a failure, the next caller tries again.
      known ??= (jwksUrl === undefined ? discover(issuer) : Promise.resolve(jwksUrl)).then(keySetAt).catch((error) => {
        known = undefined
        throw error
      })
      return known
    },
  }
}

async function discover(issuer: string): Promise<string> {
  const document = parseObject(await fetchBytes(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`))
  // Otherwise one issuer could impersonate another on the same host.
  if (document.issuer !== issuer) throw new IssuerUnreachable('the discovery document is of another issuer')
  const { jwks_uri: address } = document
  if (typeof address === 'string' && isTrustedAddress(address)) return address
  throw new IssuerUnreachable('the discovery document names no address of keys that can be trusted')
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString())
    if (typeof value === 'object' && value !== null) return { ...value }
  } catch {
    // The error below covers this.
  }
  throw new IssuerUnreachable('the discovery document is not a JSON object')
}

/** Fetches again when a token names an unknown key, but at most every `oidcKeysCooldownMs`, so that made-up key ids can't flood the issuer. */
const keySetAt = (address: string): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL(address), {
    timeoutDuration: limits.oidcAnswerMs,
    cooldownDuration: limits.oidcKeysCooldownMs,
    cacheMaxAge: limits.oidcKeysKeptMs,
    [customFetch]: async (url, { signal }) => new Response(Uint8Array.from(await fetchBytes(url, signal))),
  })
