/** Access keys: their accounts, and the signing keys derived from their secrets. Reads neither the configuration nor the metadata. */
import { randomBytes } from 'node:crypto'
import { type Clock, systemClock } from '../clock.ts'
import { limits } from '../limits.ts'
import type { HmacKey } from './hmac-key.ts'
import { type KnownIdentities, type KnownKey, noIdentities } from './known-identities.ts'
import type { Principal } from './principal.ts'
import { deriveSigningKey, type Scope } from './sigv4.ts'

export interface Account {
  id: string
  name: string
  keys: readonly AccountKey[]
}

export interface AccountKey {
  accessKeyId: string
  secretAccessKey: string
  /** See `Principal`. */
  permissions?: readonly string[] | undefined
}

interface Signer {
  /** `undefined`: there is no such access key, and `key` is derived from a random secret. */
  principal: Principal | undefined
  key: HmacKey
  expiresMs?: number | undefined
}

export interface Credentials {
  /** The secret for a signature of Version 2. An unknown access key gets a random one, so that refusing it takes equally long. */
  secretOf(accessKeyId: string): { principal: Principal | undefined; secretAccessKey: string }
  /** Whether the text is the secret of any key, and so must not be shown. */
  isSecret(text: string): boolean
  /** An account's display name; its id if there is no such account. */
  nameOf(accountId: string): string
  /** Takes equally long whether the access key exists or not. */
  signer(scope: Scope): Signer
  /** The principal of a key that is accepted now. */
  find(accessKeyId: string): Principal | undefined
  /** The key itself, as the parent of temporary keys. */
  keyOf(accessKeyId: string): KnownKey | undefined
  /** Whether the account exists and is enabled. */
  hasAccount(accountId: string): boolean
  /** The identities made at run time, in addition to the configuration's accounts. */
  readonly identities: KnownIdentities
  /**
   * Call before verifying a request. `undefined`: the known identities are recent enough. Otherwise they are when the promise resolves. Rejects with
   * ServiceUnavailable.
   */
  renewal(): Promise<void> | undefined
  /** Replaces the configuration's accounts. Throws when the new ones contradict each other, and then changes nothing. */
  replace(accounts: readonly Account[]): void
  /** Replaces the identities made at run time. When the configuration has a key with the same id, the configuration's key wins. */
  learn(identities: KnownIdentities): void
}

interface CredentialsOptions {
  clock?: Pick<Clock, 'now'>
  /** See `Credentials`. Absent: only `replace` and `learn` change anything. */
  renewal?: Credentials['renewal']
}

/** Throws when the accounts contradict each other. */
export function openCredentials(
  accounts: readonly Account[],
  { clock = systemClock, renewal = () => undefined }: CredentialsOptions = {},
): Credentials {
  let configured = credentialsByAccessKey(accounts)
  let [names, identities] = [namesOf(accounts), noIdentities]
  let secrets = secretsOf(configured, identities.keys)
  const decoySecret = randomBytes(32).toString('hex')
  const signers = new Map<string, Signer>()

  const isOver = (expiresMs: number | undefined): boolean => expiresMs !== undefined && clock.now() >= expiresMs

  function find(accessKeyId: string): KnownKey | undefined {
    const found = configured.get(accessKeyId) ?? identities.keys.get(accessKeyId)
    return isOver(found?.expiresMs) ? undefined : found
  }

  function derive(scope: Scope): Signer {
    const found = find(scope.accessKeyId)
    return {
      principal: found?.principal,
      key: deriveSigningKey(found?.secretAccessKey ?? decoySecret, scope),
      expiresMs: found?.expiresMs,
    }
  }

  const changed = (): void => {
    secrets = secretsOf(configured, identities.keys)
    signers.clear()
  }

  return {
    secretOf: (accessKeyId) => find(accessKeyId) ?? { principal: undefined, secretAccessKey: decoySecret },
    isSecret: (text) => secrets.has(text),
    nameOf: (accountId) => names.get(accountId) ?? identities.accountNames.get(accountId) ?? accountId,
    signer: (scope) => {
      const known = signers.get(scope.credential)
      if (known !== undefined && !isOver(known.expiresMs)) return known
      const signer = derive(scope)
      remember(signers, scope.credential, signer)
      return signer
    },
    find: (accessKeyId) => find(accessKeyId)?.principal,
    keyOf: find,
    hasAccount: (accountId) => names.has(accountId) || identities.enabledAccounts.has(accountId),
    get identities() {
      return identities
    },
    renewal,
    replace: (others) => {
      configured = credentialsByAccessKey(others)
      names = namesOf(others)
      changed()
    },
    learn: (newer) => {
      identities = newer
      changed()
    },
  }
}

/** Evicts the oldest signer. One that is still in use is derived again, at the cost of four hashes. */
function remember(signers: Map<string, Signer>, credential: string, signer: Signer): void {
  if (signers.size >= limits.signingKeysMax)
    for (const oldest of signers.keys()) {
      signers.delete(oldest)
      break
    }
  signers.set(credential, signer)
}

const namesOf = (accounts: readonly Account[]): ReadonlyMap<string, string> =>
  new Map(accounts.map(({ id, name }) => [id, name]))

function secretsOf(...keys: readonly ReadonlyMap<string, KnownKey>[]): ReadonlySet<string> {
  return new Set(keys.flatMap((some) => [...some.values()].map(({ secretAccessKey }) => secretAccessKey)))
}

function credentialsByAccessKey(accounts: readonly Account[]): ReadonlyMap<string, KnownKey> {
  const accountIds = new Set<string>()
  const byAccessKey = new Map<string, KnownKey>()
  for (const { id, name, keys } of accounts) {
    if (id === '') throw new Error('an account has no id')
    if (accountIds.has(id)) throw new Error(`account ${id} is given twice`)
    accountIds.add(id)
    for (const { accessKeyId, secretAccessKey, permissions } of keys) {
      if (accessKeyId === '' || secretAccessKey === '')
        throw new Error(`account ${id} has an empty access key or secret`)
      if (byAccessKey.has(accessKeyId)) throw new Error(`access key ${accessKeyId} is given twice`)
      byAccessKey.set(accessKeyId, {
        principal: { accountId: id, displayName: name, accessKeyId, permissions },
        secretAccessKey,
      })
    }
  }
  return byAccessKey
}
