/** Opens the identities of a process from the metadata, and keeps them up to date until they are closed. */
import type { Account } from '../auth/credentials.ts'
import { type LeaseTime, systemLeaseTime } from '../lease-time.ts'
import { limits } from '../limits.ts'
import { accountVerbs } from './account-verbs.ts'
import { type IdentityBackend, IdentityChanges } from './change.ts'
import type { Identities, ServedIdentities } from './identities.ts'
import { IdentitiesInUse } from './identities-in-use.ts'
import { keyVerbs } from './key-verbs.ts'
import { policyVerbs } from './policy-verbs.ts'
import { IdentityReader } from './stored-identities.ts'
import { userVerbs } from './user-verbs.ts'

export interface IdentitiesOptions {
  backend: IdentityBackend
  /** The accounts of the configuration, with the root key. */
  accounts: readonly Account[]
  /** Tells the operator about a fault because of which keys are refused. */
  warn(message: string): void
  time?: LeaseTime
}

/** Throws when the accounts contradict each other. */
export async function openIdentities({
  backend,
  accounts,
  warn,
  time = systemLeaseTime,
}: IdentitiesOptions): Promise<ServedIdentities> {
  const reader = new IdentityReader({ backend, warn })
  const inUse = new IdentitiesInUse({ reader, accounts, clock: backend.clock, time, warn })
  const changes = new IdentityChanges({ backend, inUse, time })
  await inUse.look()
  // A failed look is repeated at the next interval, or before the next request if the lease has ended.
  const stop = time.every(limits.identityLookMs, () => void inUse.keepUp().catch(() => {}))
  return {
    credentials: inUse.credentials,
    verbs: verbsOver(changes),
    publicAccessBlock: (accountId) => inUse.stored.blocks.get(accountId),
    learn: (generation) => inUse.learn(generation),
    renewAccounts: (others) => inUse.replaceConfigured(others),
    tellOthers: (tell) => changes.tellOthers(tell),
    close: async () => {
      stop()
      await inUse.settled()
    },
  }
}

function verbsOver(changes: IdentityChanges): Identities {
  return {
    accounts: accountVerbs(changes),
    users: userVerbs(changes),
    policies: policyVerbs(changes),
    keys: keyVerbs(changes),
  }
}
