/** Access keys: their accounts, and the signing keys derived from their secrets. Reads no configuration. */
import { randomBytes } from 'node:crypto'
import { limits } from '../limits.ts'
import type { HmacKey } from './hmac-key.ts'
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

interface Credential {
  principal: Principal
  secretAccessKey: string
}

interface Signer {
  /** `undefined`: there is no such access key. Then `key` is one that nobody can know. */
  principal: Principal | undefined
  key: HmacKey
}

export interface Credentials {
  /** The secret behind a signature of Version 2. An unknown access key gets a random one, so that refusing it takes as long. */
  secretOf(accessKeyId: string): { principal: Principal | undefined; secretAccessKey: string }
  /** Whether this is the secret of any key, which must not be shown. */
  isSecret(text: string): boolean
  /** Of an account, as lists show it; its id if there is no such account. */
  nameOf(accountId: string): string
  hasAccount(accountId: string): boolean
  /** Takes equally long whether the access key exists or not. */
  signer(scope: Scope): Signer
  /** Other accounts apply from now on. Throws when they contradict each other; then nothing changes. */
  replace(accounts: readonly Account[]): void
}

/** Throws when the accounts contradict each other. */
export function openCredentials(accounts: readonly Account[]): Credentials {
  let byAccessKey = credentialsByAccessKey(accounts)
  const decoySecret = randomBytes(32).toString('hex')
  let secrets = secretsOf(byAccessKey)
  let names = namesOf(accounts)
  const signers = new Map<string, Signer>()

  function derive(scope: Scope): Signer {
    const credential = byAccessKey.get(scope.accessKeyId)
    return {
      principal: credential?.principal,
      key: deriveSigningKey(credential?.secretAccessKey ?? decoySecret, scope),
    }
  }

  return {
    secretOf: (accessKeyId) => byAccessKey.get(accessKeyId) ?? { principal: undefined, secretAccessKey: decoySecret },
    isSecret: (text) => secrets.has(text),
    nameOf: (accountId) => names.get(accountId) ?? accountId,
    hasAccount: (accountId) => names.has(accountId),
    signer: (scope) => {
      const known = signers.get(scope.credential)
      if (known !== undefined) return known
      const signer = derive(scope)
      // The oldest goes first. A scope that is still in use is derived again, at the cost of four hashes.
      if (signers.size >= limits.signingKeysMax)
        for (const oldest of signers.keys()) {
          signers.delete(oldest)
          break
        }
      signers.set(scope.credential, signer)
      return signer
    },
    replace: (others) => {
      byAccessKey = credentialsByAccessKey(others)
      secrets = secretsOf(byAccessKey)
      names = namesOf(others)
      signers.clear()
    },
  }
}

const namesOf = (accounts: readonly Account[]): ReadonlyMap<string, string> =>
  new Map(accounts.map(({ id, name }) => [id, name]))

function secretsOf(byAccessKey: ReadonlyMap<string, Credential>): ReadonlySet<string> {
  return new Set([...byAccessKey.values()].map(({ secretAccessKey }) => secretAccessKey))
}

function credentialsByAccessKey(accounts: readonly Account[]): ReadonlyMap<string, Credential> {
  const accountIds = new Set<string>()
  const byAccessKey = new Map<string, Credential>()
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
