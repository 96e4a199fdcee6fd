/** Wires temporary keys to the process's key ring, which seals them, to their parent keys, and to the trusted issuers. */
import type { Credentials } from '../auth/credentials.ts'
import { openSessions } from '../auth/sessions.ts'
import type { Clock } from '../clock.ts'
import type { KeysInUse } from '../commits/backend.ts'
import { storeKeyName } from '../encryption/key-ring.ts'
import { known } from '../known.ts'
import type { SealingKeys, StsContext } from '../sts/action.ts'
import type { OidcProvider } from '../sts/oidc/provider-settings.ts'
import type { WebIdentities } from '../sts/oidc/web-identities.ts'

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
  return { clock, keys, sessions, credentials, webIdentities: webIdentities(oidc, clock) }
}

/** Loaded for the first token, because most servers trust no issuer. */
function webIdentities(oidc: readonly OidcProvider[], clock: Clock): WebIdentities {
  let opened: Promise<WebIdentities> | undefined
  const open = async (): Promise<WebIdentities> => {
    const { openWebIdentities } = await import('../sts/oidc/web-identities.ts')
    return openWebIdentities(oidc, clock)
  }
  return {
    verify: async (token) => {
      opened ??= open()
      return (await opened).verify(token)
    },
  }
}
