/** Reads a running server's configuration again, and applies accounts, certificates and the log file. Nothing else changes. */
import type { Account } from '../../auth/credentials.ts'
import type { Configuration } from '../../config/configuration.ts'
import { messageOf } from '../failure-message.ts'
import { accountsOf } from '../instance.ts'
import { type Log, reopenLog } from '../log.ts'
import type { KeyPairFiles } from './key-pair-files.ts'
import type { Renewal } from './worker-messages.ts'

interface Reloading {
  /** The configuration that the server was started with. */
  configuration: Configuration
  load(): Promise<Configuration>
  credentialsFile: string
  keyPairFiles: KeyPairFiles | undefined
  renew(renewal: Renewal): void
  announceAccounts(accounts: readonly Account[]): Promise<void>
  log: Log
}

/** When something is wrong, logs it and keeps the old configuration. Never rejects. */
export async function reload({
  configuration,
  load,
  credentialsFile,
  keyPairFiles,
  renew,
  announceAccounts,
  log,
}: Reloading): Promise<void> {
  try {
    const wanted = await load()
    const { accounts, shownKey } = await accountsOf(wanted, credentialsFile)
    reopenLog(wanted)
    renew({ accounts, logFile: wanted.logFile })
    if (shownKey.secretAccessKey !== undefined) {
      const { accessKeyId, keptIn } = shownKey
      log.warn({ accessKeyId, keptIn }, 'the configuration gives no key: a new one was made for the root account')
    }
    const later = changedOtherwise(configuration, wanted)
    if (later.length > 0) log.warn({ settings: later }, 'these changed settings apply at the next start')
    log.info('the configuration was read again')
    await announceAccounts(accounts).catch((error: unknown) => {
      log.warn({ reason: messageOf(error) }, 'the other servers could not be told about the accounts')
    })
  } catch (error) {
    log.error({ reason: messageOf(error) }, 'the new configuration is not used: the old one stays in force')
  }
  // This happens even after a refused configuration, because the signal may be for a renewed certificate.
  await keyPairFiles?.look()
}

const takenOver = new Set(['accounts', 'root', 'logFile'])

function changedOtherwise(before: Configuration, now: Configuration): string[] {
  const texts = new Map(Object.entries(before).map(([name, value]) => [name, JSON.stringify(value)]))
  return Object.entries(now).flatMap(([name, value]) =>
    takenOver.has(name) || texts.get(name) === JSON.stringify(value) ? [] : [name],
  )
}
