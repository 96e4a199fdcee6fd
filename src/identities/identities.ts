/** The verbs on accounts, users, policies and keys that can change while the server runs. */
import type { Account, Credentials } from '../auth/credentials.ts'
import type { PublicAccessBlock } from '../records/bucket-record.ts'
import type { NamedDocument } from '../records/identity-records.ts'
import type { Tag } from '../records/object-attributes.ts'

export type { NamedDocument }

/** Where an account or key comes from. Verbs list what the configuration declares, but never change it. The root key belongs to the configuration. */
export type Source = 'configuration' | 'run-time'

export interface AccountEntry {
  id: string
  name: string
  source: Source
  /** Neither its keys nor those of its users are accepted. */
  disabled: boolean
  /** Absent: the configuration declares it. */
  createdMs?: number | undefined
  /** The block of all its buckets. Absent: none. */
  publicAccessBlock?: PublicAccessBlock | undefined
}

export interface UserEntry {
  accountId: string
  name: string
  /** Never reused for another user. */
  id: string
  disabled: boolean
  createdMs: number
  /** Names of attached policies, sorted. */
  policies: readonly string[]
  /** Sorted by name. */
  inlinePolicies: readonly NamedDocument[]
  tags: readonly Tag[]
}

export interface PolicyEntry extends NamedDocument {
  accountId: string
  /** Every account has the policy, and no verb changes it. */
  builtIn: boolean
  /** Absent: the policy is built in. */
  changedMs?: number | undefined
  /** Names of the users that have the policy attached, sorted. */
  users: readonly string[]
}

/** An access key, without its secret. */
export interface KeyEntry {
  accessKeyId: string
  accountId: string
  /** Name of the user. Absent: a key of the account itself. */
  user?: string | undefined
  source: Source
  disabled: boolean
  /** The key is refused from this time on. */
  expiresMs?: number | undefined
  /**
   * The document of the key's own policy, JSON. For a user's key, it narrows the user's policies. For an account's own key, it is the only policy; without it, the
   * key may do everything that the account may do.
   */
  policy?: string | undefined
  /** Patterns of the actions that the configuration allows the key. */
  permissions?: readonly string[] | undefined
  description?: string | undefined
  /** Absent: the configuration declares it. */
  createdMs?: number | undefined
  /** When the key last got a new secret. */
  rotatedMs?: number | undefined
}

/** A key with its secret, which is never shown again. */
export interface IssuedKey extends KeyEntry {
  secretAccessKey: string
}

export interface NewKey {
  accountId: string
  /** Name of the user. Absent: the account's own key. */
  user?: string | undefined
  /** Absent: a random one. */
  accessKeyId?: string | undefined
  /** Absent: a random one. */
  secretAccessKey?: string | undefined
  expiresMs?: number | undefined
  /** See `KeyEntry`. */
  policy?: string | undefined
  description?: string | undefined
}

/**
 * Verbs take accounts by id. Every account, also one of the configuration, can have users, policies and further keys. Verbs throw `IdentityRefused`, and `S3Error`
 * (ServiceUnavailable) when the metadata is unreachable. A verb that changes something returns when every live process of this server knows the change, or
 * must learn it before it answers another request.
 */
export interface Identities {
  readonly accounts: AccountVerbs
  readonly users: UserVerbs
  readonly policies: PolicyVerbs
  readonly keys: KeyVerbs
}

export interface AccountVerbs {
  /** `id` absent: twelve random digits. `name` absent: the id. The new account has no keys. */
  create(account: { id?: string | undefined; name?: string | undefined }): Promise<AccountEntry>
  /** Sorted by id. */
  list(): Promise<readonly AccountEntry[]>
  get(accountId: string): Promise<AccountEntry>
  setDisabled(accountId: string, disabled: boolean): Promise<AccountEntry>
  /** Removes its users, policies and keys too. DeleteConflict while the account owns buckets. */
  remove(accountId: string): Promise<void>
  /** Also works for an account of the configuration. `undefined` removes the block. */
  setPublicAccessBlock(accountId: string, block: PublicAccessBlock | undefined): Promise<AccountEntry>
}

export interface UserVerbs {
  create(accountId: string, user: { name: string; tags?: readonly Tag[] | undefined }): Promise<UserEntry>
  /** Sorted by name. */
  list(accountId: string): Promise<readonly UserEntry[]>
  get(accountId: string, name: string): Promise<UserEntry>
  setDisabled(accountId: string, name: string, disabled: boolean): Promise<UserEntry>
  /** Removes the user's keys too. */
  remove(accountId: string, name: string): Promise<void>
  /** Does nothing when the policy is already attached. */
  attachPolicy(accountId: string, name: string, policy: string): Promise<UserEntry>
  detachPolicy(accountId: string, name: string, policy: string): Promise<UserEntry>
  putInlinePolicy(accountId: string, name: string, policy: NamedDocument): Promise<UserEntry>
  removeInlinePolicy(accountId: string, name: string, policy: string): Promise<UserEntry>
  setTags(accountId: string, name: string, tags: readonly Tag[]): Promise<UserEntry>
}

export interface PolicyVerbs {
  /** Creates or replaces a policy. A replacement takes effect for all users that have the policy. */
  put(accountId: string, policy: NamedDocument): Promise<PolicyEntry>
  /** Sorted by name, built-in ones included. */
  list(accountId: string): Promise<readonly PolicyEntry[]>
  get(accountId: string, name: string): Promise<PolicyEntry>
  /** DeleteConflict while a user has it. */
  remove(accountId: string, name: string): Promise<void>
}

export interface KeyVerbs {
  add(key: NewKey): Promise<IssuedKey>
  /** The keys of one user; without `user`, of the account and all its users; without `holder`, of all accounts. Sorted by account, user and id. */
  list(holder?: { accountId: string; user?: string | undefined }): Promise<readonly KeyEntry[]>
  get(accessKeyId: string): Promise<KeyEntry>
  setDisabled(accessKeyId: string, disabled: boolean): Promise<KeyEntry>
  /** `undefined`: the key does not expire. */
  setExpiry(accessKeyId: string, expiresMs: number | undefined): Promise<KeyEntry>
  /** Replaces the secret; the old one stops working. `secretAccessKey` absent: a random one. */
  rotate(accessKeyId: string, secretAccessKey?: string): Promise<IssuedKey>
  remove(accessKeyId: string): Promise<void>
}

/**
 * The identities in one process: the credentials that it uses for requests, and the verbs that change them. Only the primary process (or the only one) runs verbs;
 * workers just learn changes.
 */
export interface ServedIdentities {
  /** Those of the configuration and those made at run time. */
  readonly credentials: Credentials
  readonly verbs: Identities
  /** The account's block of all its buckets. `undefined`: none. */
  publicAccessBlock(accountId: string): PublicAccessBlock | undefined
  /** Resolves when this process knows this generation or a newer one. Rejects with ServiceUnavailable. */
  learn(generation: number): Promise<void>
  /** Replaces the accounts of the configuration. Throws when they contradict each other, and then changes nothing. */
  renewAccounts(accounts: readonly Account[]): void
  /** Sets how a change reaches other processes. `tell` resolves when each of them knows the generation or has ended. A change waits for it, at most for the lease. */
  tellOthers(tell: (generation: number) => Promise<void>): void
  close(): Promise<void>
}
