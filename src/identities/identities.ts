/** The verbs over accounts, users, policies and keys that change while the server runs. */
import type { Account, Credentials } from '../auth/credentials.ts'
import type { PublicAccessBlock } from '../records/bucket-record.ts'
import type { NamedDocument } from '../records/identity-records.ts'
import type { Tag } from '../records/object-attributes.ts'

export type { NamedDocument }

/** What the configuration declares is shown like the rest, and no verb changes it. The root key belongs to it. */
export type Source = 'configuration' | 'run-time'

export interface AccountEntry {
  id: string
  name: string
  source: Source
  /** None of its keys is accepted, nor those of its users. */
  disabled: boolean
  /** Absent: the configuration declares it. */
  createdMs?: number | undefined
  /** Absent: nothing is blocked for all its buckets. */
  publicAccessBlock?: PublicAccessBlock | undefined
}

export interface UserEntry {
  accountId: string
  name: string
  /** Never used again for another user. */
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
  /** Every account has it, and nobody changes it. */
  builtIn: boolean
  /** Absent: it is built in. */
  changedMs?: number | undefined
  /** Names of the users that it is attached to, sorted. */
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
  /** From this time on, it is refused. */
  expiresMs?: number | undefined
  /**
   * The document of the key's own policy, JSON. It narrows the key of a user further. Of an account's own key it is the only policy; without one, the key may do
   * everything that its account may do.
   */
  policy?: string | undefined
  /** What the configuration lets the key do, as patterns. */
  permissions?: readonly string[] | undefined
  description?: string | undefined
  /** Absent: the configuration declares it. */
  createdMs?: number | undefined
  /** When it last got another secret. */
  rotatedMs?: number | undefined
}

/** The only time that the secret is shown. */
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
 * Every verb takes an account by its id, and any account can have users, policies and further keys, be it of the configuration or not. Throws `IdentityRefused`, and
 * `S3Error` (ServiceUnavailable) when the metadata can't be had. A verb that changes something returns once every live process of this server knows it, or can't
 * answer a request before it does.
 */
export interface Identities {
  readonly accounts: AccountVerbs
  readonly users: UserVerbs
  readonly policies: PolicyVerbs
  readonly keys: KeyVerbs
}

export interface AccountVerbs {
  /** `id` absent: twelve random digits. `name` absent: the id. It has no key yet. */
  create(account: { id?: string | undefined; name?: string | undefined }): Promise<AccountEntry>
  /** Sorted by id. */
  list(): Promise<readonly AccountEntry[]>
  get(accountId: string): Promise<AccountEntry>
  setDisabled(accountId: string, disabled: boolean): Promise<AccountEntry>
  /** With its users, policies and keys. DeleteConflict while it owns buckets. */
  remove(accountId: string): Promise<void>
  /** Also of an account of the configuration. `undefined`: no block. */
  setPublicAccessBlock(accountId: string, block: PublicAccessBlock | undefined): Promise<AccountEntry>
}

export interface UserVerbs {
  create(accountId: string, user: { name: string; tags?: readonly Tag[] | undefined }): Promise<UserEntry>
  /** Sorted by name. */
  list(accountId: string): Promise<readonly UserEntry[]>
  get(accountId: string, name: string): Promise<UserEntry>
  setDisabled(accountId: string, name: string, disabled: boolean): Promise<UserEntry>
  /** With its keys. */
  remove(accountId: string, name: string): Promise<void>
  /** Does nothing when it is attached already. */
  attachPolicy(accountId: string, name: string, policy: string): Promise<UserEntry>
  detachPolicy(accountId: string, name: string, policy: string): Promise<UserEntry>
  putInlinePolicy(accountId: string, name: string, policy: NamedDocument): Promise<UserEntry>
  removeInlinePolicy(accountId: string, name: string, policy: string): Promise<UserEntry>
  setTags(accountId: string, name: string, tags: readonly Tag[]): Promise<UserEntry>
}

export interface PolicyVerbs {
  /** In place of one of that name. It applies to all users that have it. */
  put(accountId: string, policy: NamedDocument): Promise<PolicyEntry>
  /** Sorted by name, with the built-in ones. */
  list(accountId: string): Promise<readonly PolicyEntry[]>
  get(accountId: string, name: string): Promise<PolicyEntry>
  /** DeleteConflict while a user has it. */
  remove(accountId: string, name: string): Promise<void>
}

export interface KeyVerbs {
  add(key: NewKey): Promise<IssuedKey>
  /** Of one user; of all users and the account itself, where none is given; of all accounts, where neither is. Sorted by account, user and id. */
  list(holder?: { accountId: string; user?: string | undefined }): Promise<readonly KeyEntry[]>
  get(accessKeyId: string): Promise<KeyEntry>
  setDisabled(accessKeyId: string, disabled: boolean): Promise<KeyEntry>
  /** `undefined`: it doesn't expire. */
  setExpiry(accessKeyId: string, expiresMs: number | undefined): Promise<KeyEntry>
  /** Gives it another secret. The old one ends. `secretAccessKey` absent: a random one. */
  rotate(accessKeyId: string, secretAccessKey?: string): Promise<IssuedKey>
  remove(accessKeyId: string): Promise<void>
}

/**
 * The identities as one process serves them: what it knows, which answers requests, and the verbs that change it. The primary process (or the only one) runs the
 * verbs; workers only learn.
 */
export interface ServedIdentities {
  /** Of the configuration and of run time together. */
  readonly credentials: Credentials
  readonly verbs: Identities
  /** Of the account: what it blocks for all its buckets. */
  publicAccessBlock(accountId: string): PublicAccessBlock | undefined
  /** Resolves once this process knows this generation or a newer one. Rejects with ServiceUnavailable. */
  learn(generation: number): Promise<void>
  /** Other accounts of the configuration apply from now on. Throws when they contradict each other; then nothing changes. */
  renewAccounts(accounts: readonly Account[]): void
  /** `tell` resolves when every other process that answers requests knows the generation, or has ended. A change waits for it, and no longer than the lease. */
  tellOthers(tell: (generation: number) => Promise<void>): void
  close(): Promise<void>
}
