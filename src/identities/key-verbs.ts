/** Verbs on access keys of accounts and users. Only the verb that sets a secret shows it. */
import type { Account, AccountKey } from '../auth/credentials.ts'
import { randomAccessKeyId, randomSecret } from '../clock.ts'
import { sealSecret } from '../commits/sealed-secrets.ts'
import { type KeyRecord, keyCodec } from '../records/identity-records.ts'
import { accessKeyKey } from '../records/keyspace.ts'
import { requireAccount } from './account-verbs.ts'
import type { Change, IdentityBackend, IdentityChanges, Present } from './change.ts'
import { checkDescription, checkExpiry, checkKeyPolicy, checkNewAccessKeyId, checkSecret } from './checked-input.ts'
import type { IssuedKey, KeyEntry, KeyVerbs, NewKey } from './identities.ts'
import { IdentityRefused } from './refusal.ts'
import type { StoredKey } from './stored-identities.ts'
import { findUser } from './user-verbs.ts'

export function keyVerbs(changes: IdentityChanges): KeyVerbs {
  const { backend } = changes
  const { clock } = backend
  const change = (id: string, changed: (key: KeyRecord) => KeyRecord): Promise<KeyEntry> =>
    changes.make((present) => {
      const { record, secretAccessKey } = changeableKey(present, id)
      return put(backend, present, id, changed(record), secretAccessKey)
    })
  return {
    add: async (key) => {
      const secretAccessKey = checkSecret(key.secretAccessKey ?? randomSecret(clock))
      const id = key.accessKeyId ?? randomAccessKeyId(clock)
      const checked = checkedKey(key, clock.now())
      return changes.make((present) => {
        requireAccount(present, key.accountId)
        const userId = key.user === undefined ? undefined : findUser(present, key.accountId, key.user).id
        checkNewAccessKeyId(id, present)
        const added = put(backend, present, id, { ...checked, userId }, secretAccessKey)
        return { ...added, result: { ...added.result, secretAccessKey }, adds: 1 }
      })
    },
    list: async (holder) => {
      const present = await changes.present()
      if (holder?.user !== undefined) findUser(present, holder.accountId, holder.user)
      else if (holder !== undefined) requireAccount(present, holder.accountId)
      return allKeys(present).filter((key) => isOf(key, holder))
    },
    get: async (accessKeyId) => {
      const found = allKeys(await changes.present()).find((key) => key.accessKeyId === accessKeyId)
      if (found === undefined) throw noKey(accessKeyId)
      return found
    },
    setDisabled: (id, disabled) => change(id, ({ disabled: _, ...key }) => (disabled ? { ...key, disabled } : key)),
    setExpiry: async (id, expiresMs) => {
      const checked = expiresMs === undefined ? undefined : checkExpiry(expiresMs, clock.now())
      return change(id, (key) => ({ ...key, expiresMs: checked }))
    },
    rotate: async (id, secret) => {
      const secretAccessKey = checkSecret(secret ?? randomSecret(clock))
      return changes.make((present): Change<IssuedKey> => {
        const { record } = changeableKey(present, id)
        const rotated = put(backend, present, id, { ...record, rotatedMs: clock.now() }, secretAccessKey)
        return { ...rotated, result: { ...rotated.result, secretAccessKey } }
      })
    },
    remove: (id) =>
      changes.make((present) => {
        changeableKey(present, id)
        return { result: undefined, deletes: [accessKeyKey(id)] }
      }),
  }
}

type UnsealedKey = Omit<KeyRecord, 'secret'>

/** Throws `IdentityRefused`. A user's key has a session policy, which narrows the user's; an account's own key has an identity policy. */
function checkedKey(key: NewKey, nowMs: number): UnsealedKey {
  const { accountId, user, expiresMs, policy, description } = key
  return {
    accountId,
    createdMs: nowMs,
    expiresMs: expiresMs === undefined ? undefined : checkExpiry(expiresMs, nowMs),
    policy: policy === undefined ? undefined : checkKeyPolicy(policy, user === undefined ? 'identity' : 'session'),
    description: description === undefined ? undefined : checkDescription(description),
  }
}

/**
 * Seals the secret again with every change, so that no record written after a key of the ring was replaced is sealed with the old one. `secretAccessKey`
 * absent: the ring can't open the secret, and it stays as it is.
 */
function put(
  backend: IdentityBackend,
  present: Present,
  id: string,
  record: UnsealedKey & Partial<Pick<KeyRecord, 'secret'>>,
  secretAccessKey: string | undefined,
): Change<KeyEntry> {
  const secret = secretAccessKey === undefined ? record.secret : sealSecret(backend, id, secretAccessKey)
  if (secret === undefined) throw new Error(`access key ${id} is to be stored without a secret`)
  const key = accessKeyKey(id)
  return {
    result: entryOf(present, id, record),
    puts: [{ key, value: keyCodec.encode(key, { ...record, secret }) }],
    checks: backend.keys.checks,
  }
}

function allKeys(present: Present): KeyEntry[] {
  const stored = [...present.stored.keys].filter(([id]) => declaredKey(present.configured, id) === undefined)
  return [
    ...present.configured.flatMap((account) => account.keys.map((key) => declaredEntry(account, key))),
    ...stored.map(([id, { record }]) => entryOf(present, id, record)),
  ].sort(byHolder)
}

function declaredEntry({ id }: Account, { accessKeyId, permissions }: AccountKey): KeyEntry {
  return { accessKeyId, accountId: id, source: 'configuration', disabled: false, permissions }
}

function entryOf({ stored }: Present, accessKeyId: string, record: UnsealedKey): KeyEntry {
  const { accountId, userId, disabled = false, expiresMs, policy, description, createdMs, rotatedMs } = record
  const users = [...(stored.users.get(accountId) ?? [])]
  const user = userId === undefined ? undefined : users.find(([, { id }]) => id === userId)?.[0]
  const set = { user, disabled, expiresMs, policy, description, createdMs, rotatedMs }
  return { accessKeyId, accountId, source: 'run-time', ...set }
}

function isOf(key: KeyEntry, holder: { accountId: string; user?: string | undefined } | undefined): boolean {
  if (holder === undefined) return true
  return key.accountId === holder.accountId && (holder.user === undefined || key.user === holder.user)
}

const sortText = ({ accountId, user = '', accessKeyId }: KeyEntry): string => `${accountId} ${user} ${accessKeyId}`
const byHolder = (a: KeyEntry, b: KeyEntry): number => (sortText(a) < sortText(b) ? -1 : 1)

const declaredKey = (configured: readonly Account[], id: string): AccountKey | undefined =>
  configured.flatMap(({ keys }) => keys).find(({ accessKeyId }) => accessKeyId === id)

function changeableKey({ stored, configured }: Present, id: string): StoredKey {
  if (declaredKey(configured, id) !== undefined)
    throw new IdentityRefused(
      'UnmodifiableEntity',
      `The configuration declares the access key '${id}': it is changed there.`,
    )
  const key = stored.keys.get(id)
  if (key === undefined) throw noKey(id)
  return key
}

function noKey(id: string): IdentityRefused {
  return new IdentityRefused('NoSuchEntity', `There is no access key '${id}'.`)
}
