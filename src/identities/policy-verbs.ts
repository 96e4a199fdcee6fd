/** Verbs on the named policies of an account. */
import { builtInPolicies } from '../access/built-in-policies.ts'
import { type PolicyRecord, policyCodec } from '../records/identity-records.ts'
import { identityKey } from '../records/keyspace.ts'
import { requireAccount } from './account-verbs.ts'
import type { IdentityChanges, Present } from './change.ts'
import { checkPolicy, checkPolicyName } from './checked-input.ts'
import type { PolicyEntry, PolicyVerbs } from './identities.ts'
import { IdentityRefused } from './refusal.ts'

export function policyVerbs(changes: IdentityChanges): PolicyVerbs {
  const { clock } = changes.backend
  return {
    put: async (accountId, policy) => {
      const name = checkPolicyName(policy.name)
      checkPolicy(policy)
      const record: PolicyRecord = { document: policy.document, changedMs: clock.now() }
      return changes.make((present) => {
        requireAccount(present, accountId)
        const key = identityKey('policy', accountId, name)
        return {
          result: { accountId, name, builtIn: false, ...record, users: usersOf(present, accountId, name) },
          puts: [{ key, value: policyCodec.encode(key, record) }],
          adds: 1,
        }
      })
    },
    list: async (accountId) => {
      const present = await changes.present()
      requireAccount(present, accountId)
      const names = [...builtInPolicies.keys(), ...(present.stored.policies.get(accountId)?.keys() ?? [])]
      return names.sort().map((name) => findPolicy(present, accountId, name))
    },
    get: async (accountId, name) => {
      const present = await changes.present()
      requireAccount(present, accountId)
      return findPolicy(present, accountId, name)
    },
    remove: (accountId, name) =>
      changes.make((present) => {
        requireAccount(present, accountId)
        checkPolicyName(name)
        const [user, ...others] = findPolicy(present, accountId, name).users
        if (user !== undefined) {
          const more = others.length === 0 ? '' : ` and ${others.length} more`
          throw new IdentityRefused('DeleteConflict', `The policy '${name}' is attached to the user '${user}'${more}.`)
        }
        return { result: undefined, deletes: [identityKey('policy', accountId, name)] }
      }),
  }
}

/** Throws NoSuchEntity. */
export function findPolicy(present: Present, accountId: string, name: string): PolicyEntry {
  const users = usersOf(present, accountId, name)
  const document = builtInPolicies.get(name)
  if (document !== undefined) return { accountId, name, builtIn: true, document, users }
  const policy = present.stored.policies.get(accountId)?.get(name)
  if (policy === undefined)
    throw new IdentityRefused('NoSuchEntity', `The account '${accountId}' has no policy '${name}'.`)
  return { accountId, name, builtIn: false, document: policy.document, changedMs: policy.changedMs, users }
}

function usersOf({ stored }: Present, accountId: string, policy: string): readonly string[] {
  const users = [...(stored.users.get(accountId) ?? [])]
  return users.flatMap(([name, { policies }]) => (policies.includes(policy) ? [name] : [])).sort()
}
