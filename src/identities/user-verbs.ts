/** Verbs on the users of an account, their policies and their tags. */
import { randomUserId } from '../clock.ts'
import { limits } from '../limits.ts'
import { type UserRecord, userCodec } from '../records/identity-records.ts'
import { accessKeyKey, identityKey } from '../records/keyspace.ts'
import { requireAccount } from './account-verbs.ts'
import type { Change, IdentityChanges, Present } from './change.ts'
import { checkInlinePolicies, checkUserName, checkUserTags } from './checked-input.ts'
import type { NamedDocument, UserEntry, UserVerbs } from './identities.ts'
import { findPolicy } from './policy-verbs.ts'
import { IdentityRefused } from './refusal.ts'

/** `changed` returns the same record when there is nothing to change. */
type ChangeUser = (
  accountId: string,
  name: string,
  changed: (user: UserRecord, present: Present) => UserRecord,
) => Promise<UserEntry>

export function userVerbs(changes: IdentityChanges): UserVerbs {
  const { clock } = changes.backend
  const change: ChangeUser = (accountId, name, changed) =>
    changes.make((present) => {
      const before = findUser(present, accountId, name)
      const after = changed(before, present)
      return after === before ? { result: entryOf(accountId, name, before) } : put(accountId, name, after)
    })
  return {
    create: async (accountId, { name, tags = [] }) => {
      checkUserName(name)
      const record: UserRecord = {
        id: randomUserId(clock),
        createdMs: clock.now(),
        policies: [],
        inlinePolicies: [],
        tags: checkUserTags(tags),
      }
      return changes.make((present) => {
        requireAccount(present, accountId)
        refuseTaken(present, accountId, name)
        return { ...put(accountId, name, record), adds: 1 }
      })
    },
    list: async (accountId) => {
      const present = await changes.present()
      requireAccount(present, accountId)
      const users = [...(present.stored.users.get(accountId) ?? [])]
      return users.map(([name, record]) => entryOf(accountId, name, record)).sort(byName)
    },
    get: async (accountId, name) => entryOf(accountId, name, findUser(await changes.present(), accountId, name)),
    setDisabled: (accountId, name, disabled) =>
      change(accountId, name, ({ disabled: _, ...user }) => (disabled ? { ...user, disabled } : user)),
    remove: (accountId, name) =>
      changes.make((present) => {
        const { id } = findUser(present, accountId, name)
        const keys = [...present.stored.keys].filter(([, { record }]) => record.userId === id)
        const deletes = [identityKey('user', accountId, name), ...keys.map(([key]) => accessKeyKey(key))]
        return { result: undefined, deletes }
      }),
    ...policiesOfUsers(change),
    setTags: async (accountId, name, tags) => {
      const checked = checkUserTags(tags)
      return change(accountId, name, (user) => ({ ...user, tags: checked }))
    },
  }
}

type PolicyVerb = 'attachPolicy' | 'detachPolicy' | 'putInlinePolicy' | 'removeInlinePolicy'

function policiesOfUsers(change: ChangeUser): Pick<UserVerbs, PolicyVerb> {
  return {
    attachPolicy: (accountId, name, policy) =>
      change(accountId, name, (user, present) => {
        findPolicy(present, accountId, policy)
        return user.policies.includes(policy) ? user : withPolicies(user, [...user.policies, policy])
      }),
    detachPolicy: (accountId, name, policy) =>
      change(accountId, name, (user) => {
        if (!user.policies.includes(policy)) throw noSuchPolicy(name, policy)
        return withPolicies(
          user,
          user.policies.filter((attached) => attached !== policy),
        )
      }),
    putInlinePolicy: (accountId, name, { name: policy, document }) =>
      change(accountId, name, (user) =>
        withInline(user, [...policiesWithout(policy, user), { name: policy, document }]),
      ),
    removeInlinePolicy: (accountId, name, policy) =>
      change(accountId, name, (user) => {
        const others = policiesWithout(policy, user)
        if (others.length === user.inlinePolicies.length) throw noSuchPolicy(name, policy)
        return { ...user, inlinePolicies: others }
      }),
  }
}

function put(accountId: string, name: string, record: UserRecord): Change<UserEntry> {
  const key = identityKey('user', accountId, name)
  return { result: entryOf(accountId, name, record), puts: [{ key, value: userCodec.encode(key, record) }] }
}

function entryOf(accountId: string, name: string, record: UserRecord): UserEntry {
  const { id, disabled = false, createdMs, policies, inlinePolicies, tags } = record
  return { accountId, name, id, disabled, createdMs, policies, inlinePolicies, tags }
}

/** Throws NoSuchEntity. */
export function findUser(present: Present, accountId: string, name: string): UserRecord {
  requireAccount(present, accountId)
  const user = present.stored.users.get(accountId)?.get(name)
  if (user === undefined) throw new IdentityRefused('NoSuchEntity', `The account '${accountId}' has no user '${name}'.`)
  return user
}

/** As in IAM, user names that differ only in case count as the same. Throws EntityAlreadyExists. */
function refuseTaken({ stored }: Present, accountId: string, name: string): void {
  const lower = name.toLowerCase()
  const taken = [...(stored.users.get(accountId)?.keys() ?? [])].find((other) => other.toLowerCase() === lower)
  if (taken !== undefined)
    throw new IdentityRefused('EntityAlreadyExists', `The account '${accountId}' has a user '${taken}' already.`)
}

function withPolicies(user: UserRecord, policies: readonly string[]): UserRecord {
  if (policies.length > limits.attachedPoliciesMax)
    throw new IdentityRefused(
      'LimitExceeded',
      `A user can have ${limits.attachedPoliciesMax} attached policies at most.`,
    )
  return { ...user, policies: [...policies].sort() }
}

function withInline(user: UserRecord, inlinePolicies: readonly NamedDocument[]): UserRecord {
  checkInlinePolicies(inlinePolicies)
  return { ...user, inlinePolicies: [...inlinePolicies].sort(byName) }
}

const policiesWithout = (policy: string, { inlinePolicies }: UserRecord): NamedDocument[] =>
  inlinePolicies.filter(({ name }) => name !== policy)

function noSuchPolicy(user: string, policy: string): IdentityRefused {
  return new IdentityRefused('NoSuchEntity', `The user '${user}' does not have the policy '${policy}'.`)
}

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1)
