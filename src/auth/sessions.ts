/** Temporary keys in use: remembers tokens that it has opened, and checks that a session's parent still exists. Reads no requests. */
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Credentials } from './credentials.ts'
import type { HmacKey } from './hmac-key.ts'
import type { KnownIdentities } from './known-identities.ts'
import type { Principal, PrincipalUser } from './principal.ts'
import {
  invalidToken,
  openSession,
  type Session,
  type SessionHolder,
  secretTag,
  type TokenKeys,
} from './session-token.ts'
import { deriveSigningKey, type Scope } from './sigv4.ts'

/** The current credentials, in which sessions look up their parents. */
type Parents = Pick<Credentials, 'keyOf' | 'hasAccount' | 'nameOf' | 'identities'>

/** An issuer of web identities from the configuration. */
export interface KnownIssuer {
  /** Part of its users' names, which keeps issuers apart: see `webUser`. */
  name: string
  issuer: string
  account: string
}

export interface Sessions {
  /** Throws InvalidToken when the token is forged, or belongs to another key. */
  open(token: string, accessKeyId: string): OpenSession
  /** The parent of the temporary keys that signed a verified request. */
  holderOf(principal: Principal): SessionHolder
}

/** Temporary keys, and their token. */
export interface OpenSession {
  /** Like `Credentials.signer`. No principal: the session's parent no longer exists. */
  signer(scope: Scope): { principal: Principal | undefined; key: HmacKey }
  secret(): { principal: Principal | undefined; secretAccessKey: string }
  /** Throws ExpiredToken. Call it after the signature is verified: only the keys' owner may learn that they expired. */
  checkTime(nowMs: number): void
}

export interface SessionsOptions {
  keys: TokenKeys
  credentials: Parents
  issuers: readonly KnownIssuer[]
}

export function openSessions(options: SessionsOptions): Sessions {
  const opened = new Map<string, RememberedSession>()
  return {
    holderOf,
    open: (token, accessKeyId) => {
      let session = opened.get(token)
      if (session === undefined) {
        session = new RememberedSession(openSession(token, options.keys), options)
        if (opened.size >= limits.sessionsRemembered) forgetFirst(opened)
      } else opened.delete(token)
      // Moves the session to the end, so that the least recently used one is forgotten first.
      opened.set(token, session)
      if (session.accessKeyId !== accessKeyId) throw invalidToken()
      return session
    },
  }
}

/** For servers without temporary keys. */
export const noSessions: Sessions = {
  holderOf,
  open: () => {
    throw invalidToken()
  },
}

/** A user that an issuer names. The slash keeps its name apart from those of the account's own users. */
export function webUser(provider: string, issuer: string, subject: string): PrincipalUser {
  return { name: `${provider}/${subject}`, id: `oidc:${issuer}#${subject}` }
}

function forgetFirst(map: Map<string, unknown>): void {
  for (const first of map.keys()) {
    map.delete(first)
    return
  }
}

const holders = new WeakMap<Principal, SessionHolder>()

function holderOf(principal: Principal): SessionHolder {
  const holder = holders.get(principal)
  if (holder === undefined) throw new Error('a principal without temporary keys is asked what they hang on')
  return holder
}

/** Keys for several scopes: a scope has a day and a region. */
const signingKeysMax = 4

class RememberedSession implements OpenSession {
  readonly #session: Session
  readonly #options: SessionsOptions
  readonly #signingKeys = new Map<string, HmacKey>()
  /** Derived from `#from`, and valid until that changes. */
  #principal: Principal | undefined
  #from: KnownIdentities | Principal | undefined
  /** The parent key's secret that was compared last. */
  #compared: { secret: string; same: boolean } | undefined

  constructor(session: Session, options: SessionsOptions) {
    this.#session = session
    this.#options = options
  }

  get accessKeyId(): string {
    return this.#session.accessKeyId
  }

  signer(scope: Scope): ReturnType<OpenSession['signer']> {
    return { principal: this.#principalNow(), key: this.#signingKey(scope) }
  }

  secret(): ReturnType<OpenSession['secret']> {
    return { principal: this.#principalNow(), secretAccessKey: this.#session.secretAccessKey }
  }

  #signingKey(scope: Scope): HmacKey {
    const known = this.#signingKeys.get(scope.credential)
    if (known !== undefined) return known
    const key = deriveSigningKey(this.#session.secretAccessKey, scope)
    if (this.#signingKeys.size >= signingKeysMax) forgetFirst(this.#signingKeys)
    this.#signingKeys.set(scope.credential, key)
    return key
  }

  checkTime(nowMs: number): void {
    if (nowMs >= this.#session.expiresMs) throw new S3Error('ExpiredToken')
  }

  /** `undefined`: the session's parent no longer exists. */
  #principalNow(): Principal | undefined {
    const { holder } = this.#session
    return holder.kind === 'key' ? this.#ofKey(holder) : this.#ofWebIdentity(holder)
  }

  #ofKey(holder: SessionHolder & { kind: 'key' }): Principal | undefined {
    const parent = this.#options.credentials.keyOf(holder.accessKeyId)
    if (parent === undefined || parent.principal.accountId !== this.#session.accountId) return undefined
    if (!this.#isStillItsSecret(parent.secretAccessKey, holder.secretTag)) return undefined
    return this.#made(parent.principal, () => parent.principal)
  }

  #isStillItsSecret(secret: string, tag: string): boolean {
    if (this.#compared?.secret !== secret) this.#compared = { secret, same: secretTag(secret) === tag }
    return this.#compared.same
  }

  #ofWebIdentity(holder: SessionHolder & { kind: 'web-identity' }): Principal | undefined {
    const { credentials, issuers } = this.#options
    const { accountId } = this.#session
    const isTrusted = issuers.some(
      ({ name, issuer, account }) => name === holder.provider && issuer === holder.issuer && account === accountId,
    )
    if (!isTrusted || !credentials.hasAccount(accountId)) return undefined
    return this.#made(credentials.identities, () => webPrincipal(holder, accountId, credentials))
  }

  #made(from: KnownIdentities | Principal, make: () => Principal): Principal {
    if (this.#principal !== undefined && this.#from === from) return this.#principal
    const { accessKeyId, kind, name, policy, issuedMs, expiresMs, claims } = this.#session
    const session = { kind, name, policy, issuedMs, expiresMs, claims: claims && new Map(Object.entries(claims)) }
    const made = { ...make(), accessKeyId, session }
    holders.set(made, this.#session.holder)
    this.#principal = made
    this.#from = from
    return made
  }
}

/** Policies that were deleted allow nothing. If they are created again, they apply again. */
function webPrincipal(
  { provider, issuer, subject, policies }: SessionHolder & { kind: 'web-identity' },
  accountId: string,
  { nameOf, identities }: Parents,
): Principal {
  return {
    accountId,
    displayName: nameOf(accountId),
    accessKeyId: '',
    user: webUser(provider, issuer, subject),
    policies: policies.flatMap((name) => {
      const document = identities.policy(accountId, name)
      return document === undefined ? [] : [{ name, document }]
    }),
  }
}
