/** What a process knows about the accounts, users, policies and keys made at run time. Immutable: each change replaces the whole. */
import type { Principal } from './principal.ts'

export interface KnownKey {
  /** The same object as long as nothing that decides about the principal changes. */
  readonly principal: Principal
  readonly secretAccessKey: string
  /** The key is refused from this time on. */
  readonly expiresMs?: number | undefined
}

export interface KnownIdentities {
  /** Counts changes. */
  readonly generation: number
  /** Enabled keys of enabled accounts and users, by access key id. They may have expired. */
  readonly keys: ReadonlyMap<string, KnownKey>
  /** Enabled users of enabled accounts, by identity id. Their temporary keys are made from these. The access key id is empty. */
  readonly users: ReadonlyMap<string, Principal>
  /** Display names by account id. Includes disabled accounts, but not those that the configuration declares. */
  readonly accountNames: ReadonlyMap<string, string>
  /** Ids of the enabled accounts, including those of the configuration. */
  readonly enabledAccounts: ReadonlySet<string>
  /** The document of an account's policy by name. Knows the built-in policies too. */
  policy(accountId: string, name: string): string | undefined
}

export const noIdentities: KnownIdentities = {
  generation: 0,
  keys: new Map(),
  users: new Map(),
  accountNames: new Map(),
  enabledAccounts: new Set(),
  policy: () => undefined,
}
