/** Everything that owns a served data directory: metadata, stores, accounts and background jobs. Serves nothing itself. */

import type { Account } from '../auth/credentials.ts'
import { systemClock } from '../clock.ts'
import { opening } from '../closing-stack.ts'
import type { Backend } from '../commits/backend.ts'
import { withRootKey } from '../config/accounts.ts'
import type { Configuration } from '../config/configuration.ts'
import { ConfigurationError } from '../config/configuration-error.ts'
import type { ServedIdentities } from '../identities/identities.ts'
import { openIdentities } from '../identities/open-identities.ts'
import { hostDirectory } from '../instance/data-directory.ts'
import { keptRootKey, type RootKey, readRootKey } from '../instance/root-key.ts'
import { LateCopyRights } from '../opening/copy-rights.ts'
import { urlOf } from '../opening/listen-address.ts'
import { patientStart } from '../opening/metadata/patient-start.ts'
import { openServedData } from '../opening/open-served-data.ts'
import { exitOnFatal, type Log } from './log.ts'

export interface Instance {
  id: string
  backend: Backend
  /** Absolute. */
  dataPath: string
  /** The id of this process among those that share the metadata. Absent: no other does. */
  member: string | undefined
  accounts: readonly Account[]
  identities: ServedIdentities
  /** See `OpenData`. */
  metadataAnswers(): boolean
  /** Tells the other servers over shared metadata which accounts the configuration has, and warns about those that differ. */
  announceAccounts(accounts: readonly Account[]): Promise<void>
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
    // This comes before anything is created, so that an operator can set the key first.
    if (configuration.metadata !== undefined)
      await accountsOf(configuration, hostDirectory(configuration.data).credentials)
    const copyRights = new LateCopyRights()
    const data = await openServedData(
      {
        path: configuration.data,
        metadata: configuration.metadata,
        address: addressOf(configuration),
        create: true,
        keys: configuration,
        placement: configuration.placement,
        onFatal: (error) => exitOnFatal(log, error),
      },
      { ...configuration, copyRights },
      log,
    )
    opened.add(data.close)
    const { accounts, shownKey } = await accountsOf(configuration, data.directory.credentials)
    const { backend, shared } = data
    const announce = async (now: readonly Account[]): Promise<void> => {
      if (shared === undefined) return
      const { announceAccounts, differingAccounts } = await import('../instance/member-accounts.ts')
      const others = await announceAccounts(backend.kv, shared, now, backend.keys)
      if (others.length > 0) log.warn(differingAccounts(others))
    }
    const database = configuration.metadata?.url
    await patientStart(database, () => announce(accounts))
    const identities = await patientStart(database, () =>
      openIdentities({ backend, accounts, warn: (message) => log.warn(message) }),
    )
    opened.add(identities.close)
    copyRights.learn(identities)
    // This process can't tell other servers of a change. They know it when their lease has ended.
    if (configuration.metadata !== undefined) identities.tellOthers(() => new Promise(() => {}))
    return {
      id: data.instanceId,
      backend,
      dataPath: data.directory.path,
      member: shared?.member,
      accounts,
      identities,
      metadataAnswers: data.metadataAnswers,
      announceAccounts: announce,
      shownKey,
      credentialsFile: data.directory.credentials,
      close: opened.close,
    }
  })
}

/** `undefined`: the system picks the port. */
function addressOf({ listen, tls }: Configuration): string | undefined {
  return listen.port === 0 ? undefined : urlOf(listen.host, listen.port, { secure: tls !== undefined })
}

export async function accountsOf(
  { accounts, root, metadata }: Configuration,
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
  const key =
    metadata === undefined ? await keptRootKey(credentialsFile, systemClock) : await sharedRootKey(credentialsFile)
  const shownKey = { accessKeyId: key.accessKeyId, keptIn: credentialsFile }
  return {
    accounts: withRootKey([], key),
    shownKey: key.generated ? { ...shownKey, secretAccessKey: key.secretAccessKey } : shownKey,
  }
}

/** The other servers would not know a key that this server makes. A directory that once had metadata of its own still has its key. */
async function sharedRootKey(credentialsFile: string): Promise<RootKey> {
  const key = await readRootKey(credentialsFile)
  if (key !== undefined) return { ...key, generated: false }
  throw new ConfigurationError(
    'with metadata in PostgreSQL, every server needs the same key of the root account: set HOLDFAST_ACCESS_KEY_ID and HOLDFAST_SECRET_ACCESS_KEY, or name accounts in the configuration file',
  )
}
