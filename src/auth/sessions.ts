/** Temporary keys in use: tokens that were opened once and are remembered, and whether what a session stands for still is there. Reads no requests. */
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import type { HmacKey } from './hmac-key.ts'
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

/** What a process knows of keys and accounts, all of them enabled. */
export interface SessionParents {
  key(accessKeyId: string): ParentKey | undefined
  policy(accountId: string, name: string): string | undefined
  account(accountId: string): { name: string } | undefined
}

interface ParentKey {
  /** The same object as long as nothing changes that decides about it. */
  principal: Principal
  secretAccessKey: string
  expiresMs?: number | undefined
}

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
  signer(scope: Scope, nowMs: number): { principal: Principal | undefined; key: HmacKey }
  secret(nowMs: number): { principal: Principal | undefined; secretAccessKey: string }
  /** Throws ExpiredToken. Only whoever signed with the keys may learn that. */
  checkTime(nowMs: number): void
}

export interface SessionsOptions {
  keys: TokenKeys
  /** As it is now: an object that a change replaces. */
  parents(): SessionParents
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
  #from: SessionParents | Principal | undefined
  /** The last secret of the parent key that was compared. */
  #compared: { secret: string; same: boolean } | undefined

  constructor(session: Session, options: SessionsOptions) {
    this.#session = session
    this.#options = options
  }

  get accessKeyId(): string {
    return this.#session.accessKeyId
  }

  signer(scope: Scope, nowMs: number): ReturnType<OpenSession['signer']> {
    return { principal: this.#principalAt(nowMs), key: this.#signingKey(scope) }
  }

  secret(nowMs: number): ReturnType<OpenSession['secret']> {
    return { principal: this.#principalAt(nowMs), secretAccessKey: this.#session.secretAccessKey }
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

  #principalAt(nowMs: number): Principal | undefined {
    const { holder } = this.#session
    const parents = this.#options.parents()
    return holder.kind === 'key' ? this.#ofKey(holder, parents, nowMs) : this.#ofWebIdentity(holder, parents)
  }

  #ofKey(holder: SessionHolder & { kind: 'key' }, parents: SessionParents, nowMs: number): Principal | undefined {
    const parent = parents.key(holder.accessKeyId)
    if (parent === undefined || parent.principal.accountId !== this.#session.accountId) return undefined
    if (parent.expiresMs !== undefined && nowMs >= parent.expiresMs) return undefined
    if (!this.#isStillItsSecret(parent.secretAccessKey, holder.secretTag)) return undefined
    return this.#made(parent.principal, () => parent.principal)
  }

  #isStillItsSecret(secret: string, tag: string): boolean {
    if (this.#compared?.secret !== secret) this.#compared = { secret, same: secretTag(secret) === tag }
    return this.#compared.same
  }

  #ofWebIdentity(holder: SessionHolder & { kind: 'web-identity' }, parents: SessionParents): Principal | undefined {
    const { accountId } = this.#session
    const isKnown = this.#options.issuers.some(
      ({ name, issuer, account }) => name === holder.provider && issuer === holder.issuer && account === accountId,
    )
    const account = parents.account(accountId)
    if (!isKnown || account === undefined) return undefined
    return this.#made(parents, () => webPrincipal(holder, accountId, account.name, parents))
  }

  #made(from: SessionParents | Principal, make: () => Principal): Principal {
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
  displayName: string,
  parents: SessionParents,
): Principal {
  return {
    accountId,
    displayName,
    accessKeyId: '',
    user: webUser(provider, issuer, subject),
    policies: policies.flatMap((name) => {
      const document = parents.policy(accountId, name)
      return document === undefined ? [] : [{ name, document }]
    }),
  }
}
