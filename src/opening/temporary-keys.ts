/** Temporary keys over what a process has: the ring that seals them, the keys that they hang on, and the issuers that are trusted. */
import type { Credentials } from '../auth/credentials.ts'
import type { TokenKeys } from '../auth/session-token.ts'
import { openSessions } from '../auth/sessions.ts'
import type { Clock } from '../clock.ts'
import { type KeyRing, storeKeyName } from '../encryption/key-ring.ts'
import { known } from '../known.ts'
import type { StsContext } from '../sts/action.ts'
import type { OidcProvider } from '../sts/oidc/provider-settings.ts'
import { openWebIdentities } from '../sts/oidc/web-identities.ts'

export interface TemporaryKeysOptions {
  ring: KeyRing
  credentials: Credentials
  oidc: readonly OidcProvider[]
  clock: Clock
}

export function openTemporaryKeys({ ring, credentials, oidc, clock }: TemporaryKeysOptions): StsContext {
  const keys: TokenKeys = {
    newest: () => known(ring.newest(storeKeyName)),
    find: (id) => ring.find(storeKeyName, id),
  }
  const sessions = openSessions({ keys, credentials, issuers: oidc })
  return { clock, keys, sessions, credentials, webIdentities: openWebIdentities(oidc, clock) }
}
