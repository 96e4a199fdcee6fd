/** Everything that owns a served data directory: metadata, stores, accounts and background jobs. Serves nothing itself. */

import type { Account } from '../auth/credentials.ts'
import { systemClock } from '../clock.ts'
import { opening } from '../closing-stack.ts'
import type { Backend } from '../commits/backend.ts'
import { withRootKey } from '../config/accounts.ts'
import type { Configuration } from '../config/configuration.ts'
import type { ServedIdentities } from '../identities/identities.ts'
import { openIdentities } from '../identities/open-identities.ts'
import { announceAccounts } from '../instance/member-accounts.ts'
import { keptRootKey } from '../instance/root-key.ts'
import { openServedData } from '../opening/open-served-data.ts'
import { exitOnFatal, type Log } from './log.ts'

export interface Instance {
  id: string
  backend: Backend
  /** Absolute. */
  dataPath: string
  accounts: readonly Account[]
  identities: ServedIdentities
  shownKey: ShownKey
  /** The file that keeps the root account's key when the configuration names none. */
  credentialsFile: string
  close(): Promise<void>
}

/** The key that a person sees at start. */
export interface ShownKey {
  accessKeyId: string
  /** Present only when this start made the key, so that nobody has seen it yet. */
  secretAccessKey?: string
  /** Where the secret is kept: a variable, or a file. */
  keptIn: string
}

export function openInstance(configuration: Configuration, log: Log): Promise<Instance> {
  return opening(async (opened) => {
    const data = await openServedData(
      {
        path: configuration.data,
        create: true,
        keys: configuration,
        placement: configuration.placement,
        onFatal: (error) => exitOnFatal(log, error),
      },
      configuration,
      log,
    )
    opened.add(data.close)
    const { accounts, shownKey } = await accountsOf(configuration, data.directory.credentials)
    const { backend, shared } = data
    if (shared !== undefined) {
      const others = await announceAccounts(backend.kv, shared, accounts, backend.keys)
      if (others.length > 0) log.warn(otherAccounts(others))
    }
    const identities = await openIdentities({ backend, accounts, warn: (message) => log.warn(message) })
    opened.add(identities.close)
    return {
      id: data.instanceId,
      backend,
      dataPath: data.directory.path,
      accounts,
      identities,
      shownKey,
      credentialsFile: data.directory.credentials,
      close: opened.close,
    }
  })
}

const otherAccounts = (others: readonly string[]): string =>
  `the accounts of this configuration differ from those of ${others.join(', ')}: a client's key may work at one server and not at another. Give all servers the same accounts, or make them with holdfast accounts`

export async function accountsOf(
  { accounts, root }: Configuration,
  credentialsFile: string,
): Promise<{ accounts: readonly Account[]; shownKey: ShownKey }> {
  if (root !== undefined) {
    const { accessKeyId, secretVariable } = root
    return { accounts, shownKey: { accessKeyId, keptIn: `the environment variable ${secretVariable}` } }
  }
  const [firstKey] = accounts.flatMap((account) => account.keys)
  if (firstKey !== undefined) {
    return { accounts, shownKey: { accessKeyId: firstKey.accessKeyId, keptIn: 'the configuration file' } }
  }
  const key = await keptRootKey(credentialsFile, systemClock)
  const shownKey = { accessKeyId: key.accessKeyId, keptIn: credentialsFile }
  return {
    accounts: withRootKey([], key),
    shownKey: key.generated ? { ...shownKey, secretAccessKey: key.secretAccessKey } : shownKey,
  }
}
