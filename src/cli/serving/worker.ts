/** The entry of a worker process: serves the connections that the primary sends, until the primary says to drain, or is gone. */
import './no-debugger.ts'
import { Socket } from 'node:net'
import { setDefaultHighWaterMark } from 'node:stream'
import type { LogLevel } from '../../admin/services.ts'
import { divideChunkMemory } from '../../chunk-pool.ts'
import { systemClock } from '../../clock.ts'
import { opening } from '../../closing-stack.ts'
import { socketBufferBytes } from '../../http/connections/server.ts'
import type { KeyPair } from '../../http/connections/tls-front.ts'
import { LocalRequests } from '../../http/telemetry/request-feed.ts'
import { Traffic } from '../../http/telemetry/traffic.ts'
import { openIdentities } from '../../identities/open-identities.ts'
import { openProcessLoad } from '../../metrics/process-load.ts'
import { openAccountBlocks } from '../../opening/account-blocks.ts'
import { openAuditLog } from '../../opening/audit.ts'
import { openS3Port } from '../../opening/endpoint.ts'
import { patientStart } from '../../opening/metadata/patient-start.ts'
import { openData } from '../../opening/open.ts'
import { openTraces } from '../../opening/open-telemetry.ts'
import { endProcess } from '../../process-end.ts'
import { messageOf } from '../failure-message.ts'
import { exitOnFatal, flushLog, openLog, reopenLog } from '../log.ts'
import { collectLessOften, collectWhenIdle } from './collector.ts'
import { primaryCommits } from './worker-count.ts'
import { commitPipe, type FromWorker, type Renewal, readToWorker, type ToWorker } from './worker-messages.ts'
import { openRequestSender } from './worker-requests.ts'

type ServeOrder = Extract<ToWorker, { kind: 'serve' }>

interface Serving {
  accept(socket: Socket): void
  renewTls(pair: KeyPair): void
  renew(renewal: Renewal): void
  /** See `ServedIdentities`. */
  learn(generation: number): Promise<void>
  setLogLevel(level: LogLevel): void
  close(): Promise<void>
}

let serving: Promise<Serving> | undefined
let consoleOrigins: readonly string[] = []
const requests = new LocalRequests(() => systemClock.now())
const traffic = new Traffic()
const load = openProcessLoad()
const sender = openRequestSender(requests, (lines) => tell({ kind: 'requests', lines }))

collectLessOften()
collectWhenIdle()
// Sockets that come over the channel take their buffer sizes from here, not from the server.
setDefaultHighWaterMark(false, socketBufferBytes)
// A terminal sends its signals to the whole process group, but the primary decides. If it dies, the cluster module ends this process.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('SIGHUP', () => {})
process.on('message', (message, handle) => void obey(message, handle))
tell({ kind: 'started' })

async function obey(message: unknown, handle: unknown): Promise<void> {
  try {
    const order = readToWorker(message)
    if (order.kind === 'serve') {
      consoleOrigins = order.consoleOrigins
      serving = open(order)
      await serving
      tell({ kind: 'ready' })
    } else if (order.kind === 'drain') {
      await (await serving)?.close()
      await flushLog()
      process.exit(0)
    } else if (order.kind === 'renew-tls') {
      ;(await serving)?.renewTls(order.keyPair)
    } else if (order.kind === 'console-origins') {
      consoleOrigins = order.consoleOrigins
    } else if (order.kind === 'learn') {
      await learn(order.generation)
    } else if (order.kind === 'ask-report') {
      tell({
        kind: 'report',
        id: order.id,
        report: { recent: requests.recent(), traffic: traffic.snapshot(), load: load.report() },
      })
    } else if (order.kind === 'watch-requests') {
      sender.watch(order.on)
    } else if (order.kind === 'log-level') {
      ;(await serving)?.setLogLevel(order.level)
    } else if (order.kind === 'renew') {
      ;(await serving)?.renew(order.renewal)
    } else {
      tell({ kind: 'took', id: order.id })
      // The handle is missing when the client has gone meanwhile.
      if (handle instanceof Socket) (await serving)?.accept(handle)
    }
  } catch (error) {
    tell({ kind: 'failed', message: messageOf(error) }, () => endProcess(1))
  }
}

/** A worker that is still opening loads the newest identities. Without an answer, the primary waits until the worker's known identities are out of date. */
async function learn(generation: number): Promise<void> {
  try {
    await (await serving)?.learn(generation)
  } catch {
    return
  }
  tell({ kind: 'knows', generation })
}

function open({ configuration, instanceId, keyPair }: ServeOrder): Promise<Serving> {
  return opening(async (opened) => {
    divideChunkMemory(configuration.workers)
    const log = openLog(configuration)
    const warn = (message: string): void => log.warn(message)
    const data = await openData({
      path: configuration.data,
      metadata: configuration.metadata,
      create: false,
      keys: configuration,
      placement: configuration.placement,
      workerOf: instanceId,
      commitsOver: primaryCommits(configuration) ? new Socket({ fd: commitPipe }) : undefined,
      onFatal: (error) => exitOnFatal(log, error),
      warn,
      inform: (message) => log.info(message),
    })
    opened.add(data.close)
    const { backend, metadataAnswers } = data
    const { accounts, metadata } = configuration
    const identities = await patientStart(metadata?.url, () => openIdentities({ backend, accounts, warn }))
    opened.add(identities.close)
    // A worker can't tell the others. They know a change that a request makes here when their lease is over.
    identities.tellOthers(() => new Promise(() => {}))
    const audit = openAuditLog(configuration, log)
    opened.add(audit.close)
    const traces = await openTraces(warn)
    if (traces !== undefined) opened.add(traces.flush)
    const accountBlocks = openAccountBlocks(identities, configuration)
    const port = await openS3Port({
      ...configuration,
      keyPair,
      backend,
      credentials: identities.credentials,
      accountBlocks,
      metadataAnswers,
      requests,
      traffic,
      audit,
      traces,
      consoleOrigins: () => consoleOrigins,
      log,
    })
    opened.add(port.close)
    const renew = ({ accounts: renewed, logFile }: Renewal): void => {
      identities.renewAccounts(renewed)
      try {
        reopenLog({ logFile })
      } catch (error) {
        // The worker continues, because the primary just opened the file, and ending would cut off requests.
        log.error({ reason: messageOf(error) }, 'the log file cannot be reopened: lines still go to the old one')
      }
    }
    const { accept, renewTls } = port
    const setLogLevel = (level: LogLevel): void => {
      log.level = level
    }
    return { accept, renewTls, renew, learn: identities.learn, setLogLevel, close: opened.close }
  })
}

function tell(message: FromWorker, sent: () => void = () => {}): void {
  process.send?.(message, sent)
}
