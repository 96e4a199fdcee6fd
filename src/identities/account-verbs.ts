/** Verbs on accounts: create, disable and remove them, and set the public access block of all their buckets. */
import { randomAccountId } from '../clock.ts'
import { type AccountRecord, accountCodec, accountSettingsCodec } from '../records/identity-records.ts'
import { accessKeyKey, identityKey, ownedBucketName, ownedBuckets } from '../records/keyspace.ts'
import type { IdentityChanges, Present } from './change.ts'
import { checkAccountId, checkAccountName } from './checked-input.ts'
import type { AccountEntry, AccountVerbs } from './identities.ts'
import { IdentityRefused } from './refusal.ts'
import type { StoredIdentities } from './stored-identities.ts'

export function accountVerbs(changes: IdentityChanges): AccountVerbs {
  const { clock, kv } = changes.backend
  const put = (present: Present, id: string, record: AccountRecord) => {
    const key = identityKey('account', id, '')
    return { puts: [{ key, value: accountCodec.encode(key, record) }], result: entryOf(present.stored, id, record) }
  }
  return {
    create: async ({ id, name }) => {
      const random = randomAccountId(clock)
      const created = checkAccountId(id ?? random)
      const record: AccountRecord = { name: checkAccountName(name ?? created), createdMs: clock.now() }
      return changes.make((present) => {
        if (isAccount(present, created))
          throw new IdentityRefused('EntityAlreadyExists', `There is an account '${created}' already.`)
        // An account that the configuration declared earlier can have left records under this id.
        const deletes = recordsOf(present.stored, created)
        return { ...put(present, created, record), deletes, adds: 1 }
      })
    },
    list: async () => {
      const present = await changes.present()
      const ids = new Set([...present.stored.accounts.keys(), ...present.configured.map(({ id }) => id)])
      return [...ids].sort().map((id) => accountOf(present, id))
    },
    get: async (accountId) => accountOf(await changes.present(), accountId),
    setDisabled: (accountId, disabled) =>
      changes.make((present) => {
        const { disabled: _, ...record } = changeableAccount(present, accountId)
        return put(present, accountId, disabled ? { ...record, disabled } : record)
      }),
    remove: (accountId) =>
      changes.make(async (present) => {
        changeableAccount(present, accountId)
        const { start, end } = ownedBuckets(accountId, '')
        const [bucket] = await kv.range({ start, end, limit: 1 })
        if (bucket !== undefined)
          throw new IdentityRefused(
            'DeleteConflict',
            `The account '${accountId}' owns buckets, such as '${ownedBucketName(bucket.key)}'.`,
          )
        return {
          result: undefined,
          deletes: [identityKey('account', accountId, ''), ...recordsOf(present.stored, accountId)],
          checks: [{ emptyFrom: start, emptyTo: end }],
        }
      }),
    setPublicAccessBlock: (accountId, block) =>
      changes.make((present) => {
        const account = accountOf(present, accountId)
        const key = identityKey('settings', accountId, '')
        const result = { ...account, publicAccessBlock: block }
        if (block === undefined) return { result, deletes: present.stored.blocks.has(accountId) ? [key] : [] }
        return {
          result,
          puts: [{ key, value: accountSettingsCodec.encode(key, { publicAccessBlock: block }) }],
          adds: 1,
        }
      }),
  }
}

function entryOf({ blocks }: StoredIdentities, id: string, record: AccountRecord): AccountEntry {
  const { name, createdMs, disabled = false } = record
  return { id, name, source: 'run-time', disabled, createdMs, publicAccessBlock: blocks.get(id) }
}

const isAccount = ({ stored, configured }: Present, id: string): boolean =>
  stored.accounts.has(id) || configured.some((account) => account.id === id)

function noAccount(id: string): IdentityRefused {
  return new IdentityRefused('NoSuchEntity', `There is no account '${id}'.`)
}

/** Throws NoSuchEntity. */
export function requireAccount(present: Present, id: string): void {
  if (!isAccount(present, id)) throw noAccount(id)
}

function accountOf({ stored, configured }: Present, id: string): AccountEntry {
  const declared = configured.find((account) => account.id === id)
  const publicAccessBlock = stored.blocks.get(id)
  if (declared !== undefined)
    return { id, name: declared.name, source: 'configuration', disabled: false, publicAccessBlock }
  const record = stored.accounts.get(id)
  if (record === undefined) throw noAccount(id)
  return entryOf(stored, id, record)
}

function changeableAccount({ stored, configured }: Present, id: string): AccountRecord {
  if (configured.some((account) => account.id === id))
    throw new IdentityRefused(
      'UnmodifiableEntity',
      `The configuration declares the account '${id}': it is changed there.`,
    )
  const record = stored.accounts.get(id)
  if (record === undefined) throw noAccount(id)
  return record
}

/** The keys of all records that belong to an account. */
function recordsOf(stored: StoredIdentities, accountId: string) {
  const names = (of: ReadonlyMap<string, ReadonlyMap<string, unknown>>) => [...(of.get(accountId)?.keys() ?? [])]
  return [
    ...(stored.blocks.has(accountId) ? [identityKey('settings', accountId, '')] : []),
    ...names(stored.users).map((name) => identityKey('user', accountId, name)),
    ...names(stored.policies).map((name) => identityKey('policy', accountId, name)),
    ...[...stored.keys].flatMap(([id, { record }]) => (record.accountId === accountId ? [accessKeyKey(id)] : [])),
  ]
}
