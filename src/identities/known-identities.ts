/** What a process knows of accounts, users, policies and keys: one immutable object, replaced whole by each change. */
import type { Principal } from '../auth/principal.ts'
import type { PublicAccessBlock } from '../records/bucket-record.ts'

export interface KnownKey {
  /** The same object as long as nothing changes that decides about it. */
  principal: Principal
  secretAccessKey: string
  /** From this time on, it is refused. */
  expiresMs?: number | undefined
}

/** Holds what is enabled only. Of accounts of the configuration, too. */
export interface KnownIdentities {
  /** Counts changes. */
  readonly generation: number
  /** Of an account that exists and is enabled, by a user that is. Its expiry is for the caller to check. */
  key(accessKeyId: string): KnownKey | undefined
  /** By the user's identity id, for temporary keys: as a key of it without a policy of its own, whose access key id is empty. */
  user(userId: string): Principal | undefined
  /** The document of a policy of an account by name, built-in ones included. */
  policy(accountId: string, name: string): string | undefined
  /** Display name. `undefined`: there is no such account, or it is disabled. */
  account(accountId: string): { name: string; publicAccessBlock?: PublicAccessBlock | undefined } | undefined
}
