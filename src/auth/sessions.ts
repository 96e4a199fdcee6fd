/** Temporary keys in use: tokens that were opened once and are remembered, and whether what a session stands for still is there. Reads no requests. */
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

/** What sessions are looked up in, as it is now. */
type Parents = Pick<Credentials, 'keyOf' | 'hasAccount' | 'nameOf' | 'identities'>

/** An issuer of web identities that the configuration has. */
export interface KnownIssuer {
  /** Names its users, and tells two issuers apart: see `webUser`. */
  name: string
  issuer: string
  account: string
}

export interface Sessions {
  /** Throws InvalidToken: nobody sealed it, or it is another key's. */
  open(token: string, accessKeyId: string): OpenSession
  /** What the temporary keys of a verified request hang on. */
  holderOf(principal: Principal): SessionHolder
}

/** Temporary keys, and their token. */
export interface OpenSession {
  /** As of credentials that last. No principal: what the session stands for has ended. */
  signer(scope: Scope): { principal: Principal | undefined; key: HmacKey }
  secret(): { principal: Principal | undefined; secretAccessKey: string }
  /** Throws ExpiredToken. Only whoever signed with the keys may learn that. */
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
      // What is used goes last, and what was not used for long is forgotten first.
      opened.set(token, session)
      if (session.accessKeyId !== accessKeyId) throw invalidToken()
      return session
    },
  }
}

/** Where there are no temporary keys. */
export const noSessions: Sessions = {
  holderOf,
  open: () => {
    throw invalidToken()
  },
}

/** A user that an issuer names, apart from those of the account: no name of theirs has a slash. */
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

/** A scope changes with each day and region. */
const signingKeysMax = 4

class RememberedSession implements OpenSession {
  readonly #session: Session
  readonly #options: SessionsOptions
  readonly #signingKeys = new Map<string, HmacKey>()
  /** Made from `#from`, and good as long as that is. */
  #principal: Principal | undefined
  #from: KnownIdentities | Principal | undefined
  /** The last secret of the parent key that was compared. */
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

  /** `undefined`: what the session stands for has ended. */
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

/** Policies that are gone allow nothing; those that are back allow again. */
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
