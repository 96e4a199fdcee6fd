/** `holdfast serve`: serves a data directory until a signal, from this process or from several workers. */
import { systemClock } from '../../clock.ts'
import { opening } from '../../closing-stack.ts'
import type { Configuration } from '../../config/configuration.ts'
import { unfollowedMinioVariables } from '../../config/minio-variables.ts'
import { unknownVariables } from '../../config/unknown-variables.ts'
import { isFirstStart } from '../../instance/data-directory.ts'
import { consoleOriginsOf } from '../../opening/admin/console-origins.ts'
import { laterProcesses } from '../../opening/admin/s3-processes.ts'
import { openAuditLog } from '../../opening/audit.ts'
import { refuseTakenAddress } from '../../opening/listen-address.ts'
import { openTraces } from '../../opening/open-telemetry.ts'
import type { Invocation } from '../command.ts'
import { openInstance } from '../instance.ts'
import { openLog } from '../log.ts'
import { openAdminPort } from './admin-port.ts'
import { announce } from './announce.ts'
import { collectLessOften, collectWhenIdle } from './collector.ts'
import { WorkersAhead } from './fork-workers.ts'
import { watchHangups } from './hangups.ts'
import { openKeyPairFiles } from './key-pair-files.ts'
import { machineShare } from './machine-share.ts'
import { reload } from './reload.ts'
import type { Serving, ServingParts } from './serving.ts'
import { watchStopSignals } from './stop-signals.ts'
import { openSystemd } from './systemd.ts'
import { type ServedConfiguration, type ServedInvocation, workerCount } from './worker-count.ts'
import type { Renewal } from './worker-messages.ts'
import { startWorkers } from './workers.ts'

export async function serve(asked: Invocation): Promise<number> {
  const { workers, reason } = workerCount(asked.configuration.workers, machineShare)
  const configuration = { ...asked.configuration, workers }
  const invocation = { ...asked, configuration }
  collectLessOften()
  collectWhenIdle()
  const signals = watchStopSignals()
  const hangups = watchHangups()
  warnOfIgnoredVariables(invocation)
  const log = openLog(configuration)
  const systemd = openSystemd(process.env, log)
  // This comes before anything is created, so that an operator can correct a wrong file first.
  const keyPairFiles = configuration.tls && (await openKeyPairFiles(configuration.tls, log))
  if (await isFirstStart(configuration.data)) await refuseTakenAddresses(configuration)
  const ahead = new WorkersAhead(configuration.workers > 1 ? configuration.workers : 0)
  try {
    const instance = await openInstance(configuration, log)
    try {
      const { serving, adminUrl, close } = await openPorts(invocation, { instance, keyPairFiles, ahead, log })
      try {
        announce(invocation, instance, { endpoint: serving.url, adminEndpoint: adminUrl, workersReason: reason })
        const { credentialsFile, announceAccounts } = instance
        const { load } = invocation
        const { renew } = serving
        const reloading = { configuration, load, credentialsFile, keyPairFiles, renew, announceAccounts, log }
        const status = `serving S3 on ${serving.url}`
        systemd.ready(status)
        hangups.handle(async () => {
          systemd.reloading()
          await reload(reloading)
          systemd.ready(status)
        })
        const signal = await Promise.race([signals.requested, serving.failed])
        systemd.stopping()
        log.info({ signal }, 'finishing the requests under way')
      } finally {
        await close()
      }
    } finally {
      await instance.close()
    }
  } finally {
    keyPairFiles?.close()
    ahead.end()
  }
  return 0
}

async function refuseTakenAddresses({ listen, adminListen }: Configuration): Promise<void> {
  await refuseTakenAddress(listen)
  if (adminListen?.isDefault === false) await refuseTakenAddress(adminListen)
}

interface Ports {
  serving: Serving
  adminUrl: string | undefined
  close(): Promise<void>
}

function openPorts(
  { configuration, notice }: ServedInvocation,
  { instance, keyPairFiles, ahead, log }: Pick<ServingParts, 'instance' | 'keyPairFiles' | 'ahead' | 'log'>,
): Promise<Ports> {
  return opening(async (opened) => {
    let serving: Serving | undefined
    const audit = openAuditLog(configuration, log)
    opened.add(audit.close)
    const startedMs = systemClock.now()
    const endpoint = (): string | undefined => serving?.url
    const openAdmin = async (): Promise<string | undefined> => {
      const port = await openAdminPort({
        configuration,
        instance,
        keyPairFiles,
        startedMs,
        audit,
        processes: laterProcesses(() => serving?.processes),
        endpoint,
        log,
        notice,
      })
      if (port !== undefined) opened.add(port.close)
      return port?.url
    }
    // Which origins the S3 port admits depends on the admin port, so that one opens first; except where both want the same port, because then the S3 port must win.
    const isFirst = !isSamePort(configuration)
    const first = isFirst ? await openAdmin() : undefined
    let origins = consoleOriginsOf(configuration, first)
    const traces = await openTraces((message) => log.warn(message))
    if (traces !== undefined) opened.add(traces.flush)
    serving = await startServing(configuration, {
      instance,
      keyPairFiles,
      ahead,
      log,
      audit,
      traces,
      consoleOrigins: () => origins,
    })
    opened.add(serving.close)
    const adminUrl = isFirst ? first : await openAdmin()
    origins = consoleOriginsOf(configuration, adminUrl)
    if (!isFirst) serving.renewConsoleOrigins()
    return { serving, adminUrl, close: opened.close }
  })
}

/** Whether the default admin port may be in the way of a configured S3 port. */
function isSamePort({ listen, adminListen }: Configuration): boolean {
  return adminListen?.isDefault === true && adminListen.port === listen.port
}

function warnOfIgnoredVariables({ configuration: { root, accounts }, notice }: Invocation): void {
  for (const { name, instead } of unfollowedMinioVariables(process.env)) {
    notice(`${name} is set, but not followed: ${instead}`)
  }
  for (const name of unknownVariables(process.env)) notice(`nothing reads the variable ${name}`)
  if (process.env.AWS_ACCESS_KEY_ID && root === undefined && accounts.length === 0) {
    notice("AWS_ACCESS_KEY_ID is set, but is not this server's key; --root-from-aws-env makes it one")
  }
}

async function startServing(configuration: ServedConfiguration, parts: ServingParts): Promise<Serving> {
  if (configuration.workers > 1) return serveByWorkers(configuration, parts)
  // Loaded only here, because a process whose workers serve needs no S3 port.
  const { serveAlone } = await import('./serve-alone.ts')
  return serveAlone(configuration, parts)
}

async function serveByWorkers(
  configuration: ServedConfiguration,
  { instance, keyPairFiles, ahead, log, consoleOrigins }: ServingParts,
): Promise<Serving> {
  const { backend, id: instanceId, accounts, identities } = instance
  const onCrash = async (signal: string): Promise<void> => {
    log.warn({ signal }, 'a worker may have met damage in the metadata: nothing is written before it has been checked')
    await backend.kv.integrity.distrust()
  }
  const workers = await startWorkers({
    configuration: { ...configuration, accounts: [...accounts] },
    instanceId,
    kv: backend.kv,
    keyPairFiles,
    log,
    ahead,
    consoleOrigins,
    onCrash,
  })
  if (configuration.metadata === undefined) identities.tellOthers(workers.teach)
  const renew = (renewal: Renewal): void => {
    identities.renewAccounts(renewal.accounts)
    workers.renew(renewal)
  }
  return { ...workers, renew }
}
