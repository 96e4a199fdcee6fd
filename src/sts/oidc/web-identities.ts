/** Verifies tokens of OpenID Connect issuers: their issuer, audience and expiry, and the policies that they name. */
import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose'
import type { Clock } from '../../clock.ts'
import { limits } from '../../limits.ts'
import { StsError } from '../sts-error.ts'
import { IssuerUnreachable } from './fetch-bytes.ts'
import { type IssuerKeys, issuerKeys } from './issuer-keys.ts'
import type { OidcProvider } from './provider-settings.ts'

export interface WebIdentity {
  provider: OidcProvider
  subject: string
  audience: string
  /** Names of policies, some of which may not exist. */
  policies: readonly string[]
  /** When the token expires. */
  expiresMs: number
  /** The claims that policies can test, by lower-case name. */
  claims: Readonly<Record<string, string | readonly string[]>>
}

export interface WebIdentities {
  /** Throws InvalidIdentityToken, ExpiredTokenException, IDPRejectedClaim, IDPCommunicationError, PackedPolicyTooLarge. */
  verify(token: string): Promise<WebIdentity>
}

/** Only algorithms with a public key: a published key can't serve as a shared secret, and `none` is no signature. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

export function openWebIdentities(providers: readonly OidcProvider[], clock: Clock): WebIdentities {
  const keysOf = new Map(providers.map((provider) => [provider, issuerKeys(provider)]))
  return {
    verify: async (token) => {
      const claimed = claimedIssuer(token)
      const candidates = [...keysOf].filter(([{ issuer }]) => issuer === claimed)
      if (candidates.length === 0) throw invalid('No OpenIDConnect provider is configured for the issuer of this token')
      let refusal: unknown
      // An issuer may be trusted for several clients.
      for (const [provider, keys] of candidates) {
        try {
          return webIdentity(provider, await verified(token, provider, keys, clock), clock)
        } catch (error) {
          if (!isWrongAudience(error)) throw stsError(error)
          refusal = error
        }
      }
      throw stsError(refusal)
    },
  }
}

/** The issuer that a token names. Nothing is verified yet. */
function claimedIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    throw invalid('The ID Token provided is not a valid JWT.')
  }
}

async function verified(token: string, provider: OidcProvider, keys: IssuerKeys, clock: Clock): Promise<JWTPayload> {
  const { payload } = await jwtVerify(token, await keys.find(), {
    issuer: provider.issuer,
    audience: provider.clientId,
    algorithms,
    requiredClaims: ['exp', 'sub'],
    // This is for `nbf`: the expiry is checked again below, without tolerance.
    clockTolerance: limits.oidcClockToleranceSeconds,
    currentDate: new Date(clock.now()),
  })
  return payload
}

function webIdentity(provider: OidcProvider, payload: JWTPayload, clock: Clock): WebIdentity {
  const { sub, exp } = payload
  if (typeof sub !== 'string' || sub === '' || sub.length > limits.oidcSubjectCharsMax) {
    throw invalid('The token names no subject that can be a user.')
  }
  const expiresMs = (exp ?? 0) * 1000
  if (expiresMs <= clock.now()) throw expired()
  return {
    provider,
    subject: sub,
    audience: provider.clientId,
    policies: policyNames(payload[provider.claim], provider.claim),
    expiresMs,
    claims: namedClaims(payload),
  }
}

/** Reads a list, or a string of names separated by commas. */
function policyNames(value: unknown, claim: string): readonly string[] {
  if (value === undefined) return []
  const list: unknown[] = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [undefined]
  const names = list.map((item) => (typeof item === 'string' ? item.trim() : undefined))
  if (names.every((name) => name !== undefined)) return [...new Set(names)].filter((name) => name !== '')
  throw new StsError('IDPRejectedClaim', `The claim ${claim} must list names of policies.`)
}

/** The claims that a condition can compare: strings, numbers, booleans, and lists of them. Future policies may name any of them. */
function namedClaims(payload: JWTPayload): WebIdentity['claims'] {
  const claims: Record<string, string | readonly string[]> = Object.create(null)
  let bytes = 0
  for (const [name, value] of Object.entries(payload)) {
    const lowerName = name.toLowerCase()
    const kept = Array.isArray(value) ? value.flatMap((item) => comparable(item) ?? []) : comparable(value)
    if (kept === undefined) continue
    // Conditions ignore case, so the two would be ambiguous.
    if (lowerName in claims) throw invalid('The token has two claims whose names differ in case alone.')
    claims[lowerName] = kept
    bytes += Buffer.byteLength(JSON.stringify([name, kept]))
  }
  if (bytes <= limits.oidcClaimsBytesMax) return claims
  throw new StsError('PackedPolicyTooLarge', 'The claims of the token are too large for a session.')
}

function comparable(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

const invalid = (message: string): StsError => new StsError('InvalidIdentityToken', message)

const expired = (): StsError =>
  new StsError('ExpiredTokenException', 'Token must not be expired. Get a new identity token and try again.')

const isWrongAudience = (error: unknown): boolean =>
  error instanceof errors.JWTClaimValidationFailed && error.claim === 'aud'

/** The error for the client. */
function stsError(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return expired()
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.claim === 'aud'
      ? invalid('Incorrect token audience')
      : invalid(`The claim ${error.claim} of the token is missing or not acceptable.`)
  }
  if (
    error instanceof IssuerUnreachable ||
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid
  ) {
    const reason = error.message
    return new StsError('IDPCommunicationError', "The issuer's keys can't be had. Try again.", reason)
  }
  // The client is not told which check failed: that helps nobody with a valid token.
  if (error instanceof errors.JOSEError) return invalid('The signature of the token is missing or not valid.')
  return error
}
