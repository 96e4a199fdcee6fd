/** What owns a data directory while it is served: the store, the accounts, the background jobs. Serves nothing itself. */
import { opening } from '../assembly/closing-stack.ts'
import type { Account } from '../auth/credentials.ts'
import { systemClock } from '../clock.ts'
import { withRootKey } from '../config/accounts.ts'
import type { Configuration } from '../config/configuration.ts'
import { keptRootKey } from '../instance/root-key.ts'
import { startJobs } from '../jobs/runner.ts'
import { taskKinds } from '../jobs/task-kinds.ts'
import { openDataStore } from '../open.ts'
import type { Store } from '../store/store.ts'
import type { Log } from './log.ts'

export interface Instance {
  id: string
  store: Store
  /** Absolute. */
  dataPath: string
  accounts: readonly Account[]
  shownKey: ShownKey
  close(): Promise<void>
}

/** The key that a person is shown at start. */
export interface ShownKey {
  accessKeyId: string
  /** Only when it was made by this start: nobody has seen it yet. */
  secretAccessKey?: string
  /** Where the secret is kept: a variable, or a file. */
  keptIn: string
}

export function openInstance(configuration: Configuration, log: Log): Promise<Instance> {
  return opening(async (opened) => {
    const data = await openDataStore({
      path: configuration.data,
      create: true,
      keys: configuration,
      placement: configuration.placement,
      onFatal: (error) => exitOnFatal(log, error),
      warn: (message) => log.warn(message),
      inform: (message) => log.info(message),
    })
    opened.add(data.close)
    const { accounts, shownKey } = await accountsOf(configuration, data.directory.credentials)
    const jobs = startJobs({
      store: data.store,
      intervalMs: configuration.reclaimIntervalMs,
      graceMs: configuration.reclaimGraceMs,
      abandonedUploadMs: configuration.abandonedUploadMs,
      onError: (error) => log.error({ err: error }, 'a background job failed'),
      warn: (message) => log.warn(message),
      tasks: taskKinds(data.store, configuration),
      repairBytesPerSecond: configuration.repairBytesPerSecond,
    })
    opened.add(() => jobs.stop())
    return {
      id: data.instanceId,
      store: data.store,
      dataPath: data.directory.path,
      accounts,
      shownKey,
      close: opened.close,
    }
  })
}

/** After a failed fsync nothing that this process believes to be stored can be trusted. The next start recovers. */
export function exitOnFatal(log: Log, error: Error): never {
  log.fatal({ err: error }, 'the store cannot go on')
  process.exit(1)
}

async function accountsOf(
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
