/** The keys of one issuer: found by discovery, fetched when they are needed, and remembered. */
import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose'
import { limits } from '../../limits.ts'
import { fetchBytes, IssuerUnreachable } from './fetch-bytes.ts'
import { isTrustedAddress, type OidcProvider } from './provider-settings.ts'

export interface IssuerKeys {
  /** Looks a key up. Rejects with `IssuerUnreachable` when it can't be told where the keys are. */
  find(): Promise<JWTVerifyGetKey>
}

export function issuerKeys({ issuer, jwksUrl }: OidcProvider): IssuerKeys {
  let known: Promise<JWTVerifyGetKey> | undefined
  return {
    find: () => {
      // One look for all who wait. A failed one is made again by the next who asks.
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
  // Otherwise one issuer could pass for another on the same host.
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
    // Said below.
  }
  throw new IssuerUnreachable('the discovery document is no JSON object')
}

/** Asked again when a token names an unknown key, at most every `oidcKeysCooldownMs`, so that no sender of made-up keys can have the issuer flooded. */
const keySetAt = (address: string): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL(address), {
    timeoutDuration: limits.oidcAnswerMs,
    cooldownDuration: limits.oidcKeysCooldownMs,
    cacheMaxAge: limits.oidcKeysKeptMs,
    [customFetch]: async (url, { signal }) => new Response(Uint8Array.from(await fetchBytes(url, signal))),
  })
