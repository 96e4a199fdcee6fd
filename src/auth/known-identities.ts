/** What a process knows of the accounts, users, policies and keys that are made at run time: immutable, and replaced whole by each change. */
import type { Principal } from './principal.ts'

export interface KnownKey {
  /** The same object as long as nothing changes that decides about it. */
  readonly principal: Principal
  readonly secretAccessKey: string
  /** From this time on, it is refused. */
  readonly expiresMs?: number | undefined
}

export interface KnownIdentities {
  /** Counts changes. */
  readonly generation: number
  /** By access key id: those of accounts and users that are enabled, if they are enabled themselves. They may have expired. */
  readonly keys: ReadonlyMap<string, KnownKey>
  /** Enabled users of enabled accounts, by identity id: what temporary keys of them are made from. The access key id is empty. */
  readonly users: ReadonlyMap<string, Principal>
  /** Display names by account id: also of accounts that are disabled, and without those that the configuration declares. */
  readonly accountNames: ReadonlyMap<string, string>
  /** The document of an account's policy by name, built-in ones included. */
  policy(accountId: string, name: string): string | undefined
}

export const noIdentities: KnownIdentities = {
  generation: 0,
  keys: new Map(),
  users: new Map(),
  accountNames: new Map(),
  policy: () => undefined,
}
