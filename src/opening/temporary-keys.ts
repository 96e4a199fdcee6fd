/** Wires temporary keys to the process's key ring, which seals them, to their parent keys, and to the trusted issuers. */
import type { Credentials } from '../auth/credentials.ts'
import { openSessions } from '../auth/sessions.ts'
import type { Clock } from '../clock.ts'
import type { KeysInUse } from '../commits/backend.ts'
import { storeKeyName } from '../encryption/key-ring.ts'
import { known } from '../known.ts'
import type { SealingKeys, StsContext } from '../sts/action.ts'
import type { OidcProvider } from '../sts/oidc/provider-settings.ts'
import { openWebIdentities } from '../sts/oidc/web-identities.ts'

export interface TemporaryKeysOptions {
  ring: KeysInUse
  credentials: Credentials
  oidc: readonly OidcProvider[]
  clock: Clock
}

export function openTemporaryKeys({ ring, credentials, oidc, clock }: TemporaryKeysOptions): StsContext {
  const keys: SealingKeys = {
    newest: () => known(ring.newest(storeKeyName)),
    find: (id) => ring.find(storeKeyName, id),
    refresh: () => ring.refresh(),
  }
  const sessions = openSessions({ keys, credentials, issuers: oidc })
  return { clock, keys, sessions, credentials, webIdentities: openWebIdentities(oidc, clock) }
}
