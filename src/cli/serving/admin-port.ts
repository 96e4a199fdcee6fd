/** Opens a server's admin port. Goes without one when the default address is already in use. */
import type { AuditLog } from '../../audit/audit-log.ts'
import { shownSettings } from '../../config/shown-settings.ts'
import type { S3Processes } from '../../opening/admin/s3-processes.ts'
import { type AdminEndpoint, openAdminEndpoint } from '../../opening/admin-endpoint.ts'
import { ListenFailed } from '../../opening/listen-address.ts'
import { version } from '../../version.ts'
import type { Instance } from '../instance.ts'
import type { Log } from '../log.ts'
import type { KeyPairFiles } from './key-pair-files.ts'
import type { ServedConfiguration } from './worker-count.ts'

export interface AdminPortOptions {
  configuration: ServedConfiguration
  instance: Instance
  /** Absent: plain HTTP. */
  keyPairFiles: KeyPairFiles | undefined
  startedMs: number
  processes: S3Processes
  audit: AuditLog
  /** URL of the S3 port. `undefined` until it is served. */
  endpoint(): string | undefined
  log: Log
  notice(line: string): void
}

/** `undefined`: there is no admin port. Throws `ListenFailed` when a configured address is not available. */
export async function openAdminPort(options: AdminPortOptions): Promise<AdminEndpoint | undefined> {
  const { configuration, instance, keyPairFiles, startedMs, processes, audit, endpoint, log, notice } = options
  const { adminListen, workers } = configuration
  if (adminListen === undefined) return undefined
  try {
    const port = await openAdminEndpoint({
      ...configuration,
      listen: adminListen,
      backend: instance.backend,
      identities: instance.identities,
      keyPair: keyPairFiles?.current,
      dataPath: instance.dataPath,
      member: instance.member,
      settings: () => shownSettings(configuration),
      processes,
      audit,
      metadataAnswers: instance.metadataAnswers,
      serving: () => {
        const url = endpoint()
        return url === undefined ? undefined : { version, workers, startedMs, endpoint: url }
      },
      log,
    })
    keyPairFiles?.watch(port.renewTls)
    return port
  } catch (error) {
    if (!adminListen.isDefault || !(error instanceof ListenFailed)) throw error
    notice(`there is no admin port: ${error.message}. Name another address with --admin-listen, or off`)
    return undefined
  }
}
