/** Converts stored identities to what requests need: the accepted keys, and the principal of each. */
import { builtInPolicies } from '../access/built-in-policies.ts'
import type { Account } from '../auth/credentials.ts'
import type { KnownIdentities, KnownKey } from '../auth/known-identities.ts'
import type { IdentityPolicy, Principal } from '../auth/principal.ts'
import type { UserRecord } from '../records/identity-records.ts'
import type { StoredIdentities, StoredKey } from './stored-identities.ts'

/** A value, and everything that it is made from. */
interface Derived<T> {
  sources: readonly unknown[]
  value: T
}

const builtIn: ReadonlyMap<string, IdentityPolicy> = new Map(
  [...builtInPolicies].map(([name, document]) => [name, { name, document }]),
)

/** Replaces an attached policy that is missing. It denies everything, because the missing policy can have contained a Deny. */
const denyAll = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Sid: 'ThePolicyIsLost', Effect: 'Deny', Action: '*', Resource: '*' }],
})

/** Keeps keys and users whose sources have not changed as the same objects, because policies are compiled once per object. */
export class KnownMaker {
  #keys = new Map<string, Derived<KnownKey>>()
  #users = new Map<string, Derived<Principal>>()
  #lostPolicies = new Map<string, IdentityPolicy>()

  known(stored: StoredIdentities, configured: readonly Account[]): KnownIdentities {
    const names = accountNames(stored, configured)
    const keys = new Map<string, Derived<KnownKey>>()
    const users = new Map<string, Derived<Principal>>()
    for (const [accountId, displayName] of names.enabled) {
      for (const [name, record] of stored.users.get(accountId) ?? []) {
        if (record.disabled) continue
        const policies = this.#policiesOf(stored, accountId, record)
        const made = derived(this.#users.get(record.id), [displayName, accountId, name, record, ...policies], () =>
          userPrincipal({ accountId, displayName, name, record, policies }),
        )
        users.set(record.id, made)
      }
    }
    for (const [accessKeyId, key] of stored.keys) {
      const made = this.#key(accessKeyId, key, names.enabled, users)
      if (made !== undefined) keys.set(accessKeyId, made)
    }
    this.#keys = keys
    this.#users = users
    return {
      generation: stored.generation,
      keys: values(keys),
      users: values(users),
      accountNames: names.all,
      enabledAccounts: new Set(names.enabled.keys()),
      policy: (accountId, name) => policyOf(stored, accountId, name)?.document,
    }
  }

  #policiesOf(stored: StoredIdentities, accountId: string, record: UserRecord): readonly IdentityPolicy[] {
    const attached = record.policies.map((name) => policyOf(stored, accountId, name) ?? this.#lostPolicy(name))
    return [...attached, ...record.inlinePolicies]
  }

  #lostPolicy(name: string): IdentityPolicy {
    const policy = this.#lostPolicies.get(name) ?? { name, document: denyAll }
    this.#lostPolicies.set(name, policy)
    return policy
  }

  #key(
    accessKeyId: string,
    key: StoredKey,
    enabled: ReadonlyMap<string, string>,
    users: ReadonlyMap<string, Derived<Principal>>,
  ): Derived<KnownKey> | undefined {
    const { record, secretAccessKey } = key
    const displayName = enabled.get(record.accountId)
    if (secretAccessKey === undefined || displayName === undefined || record.disabled) return undefined
    const user = record.userId === undefined ? undefined : users.get(record.userId)?.value
    if (record.userId !== undefined && user?.accountId !== record.accountId) return undefined
    return derived(this.#keys.get(accessKeyId), [key, displayName, user], () => ({
      principal:
        user === undefined
          ? ownPrincipal(accessKeyId, displayName, key)
          : { ...user, accessKeyId, keyPolicy: record.policy },
      secretAccessKey,
      expiresMs: record.expiresMs,
    }))
  }
}

/** An account's own key may do everything, or what its own policy allows. */
function ownPrincipal(accessKeyId: string, displayName: string, { record }: StoredKey): Principal {
  const { accountId, policy } = record
  const principal = { accountId, displayName, accessKeyId }
  return policy === undefined
    ? principal
    : { ...principal, policies: [{ name: `of key ${accessKeyId}`, document: policy }] }
}

function userPrincipal({
  accountId,
  displayName,
  name,
  record: { id, tags },
  policies,
}: {
  accountId: string
  displayName: string
  name: string
  record: UserRecord
  policies: readonly IdentityPolicy[]
}): Principal {
  const byKey = new Map(tags.map(({ key, value }) => [key.toLowerCase(), value]))
  return { accountId, displayName, accessKeyId: '', user: { name, id, tags: byKey }, policies }
}

function policyOf(stored: StoredIdentities, accountId: string, name: string): IdentityPolicy | undefined {
  return builtIn.get(name) ?? stored.policies.get(accountId)?.get(name)
}

function accountNames(stored: StoredIdentities, configured: readonly Account[]) {
  const all = new Map([...stored.accounts].map(([id, { name }]) => [id, name]))
  const enabled = new Map([...stored.accounts].flatMap(([id, { name, disabled }]) => (disabled ? [] : [[id, name]])))
  // The configuration wins over an account of the same id made at run time, even a disabled one.
  for (const { id, name } of configured) enabled.set(id, name)
  return { all, enabled }
}

function derived<T>(before: Derived<T> | undefined, sources: readonly unknown[], make: () => T): Derived<T> {
  const isSame = before?.sources.length === sources.length && sources.every((one, i) => one === before.sources[i])
  return isSame ? before : { sources, value: make() }
}

const values = <T>(entries: ReadonlyMap<string, Derived<T>>): ReadonlyMap<string, T> =>
  new Map([...entries].map(([name, { value }]) => [name, value]))
