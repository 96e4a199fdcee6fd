/** The entry of a worker process: serves what the primary tells it to, until it says to drain, or is gone. */
import { opening } from '../closing-stack.ts'
import { openDataStore, openEndpoint } from '../open.ts'
import { messageOf } from './failure-message.ts'
import { exitOnFatal } from './instance.ts'
import { openLog } from './log.ts'
import type { FromWorker, ToWorker } from './worker-messages.ts'

type ServeOrder = Extract<ToWorker, { kind: 'serve' }>

let serving: Promise<{ url: string; close(): Promise<void> }> | undefined

// A terminal sends its signals to the whole group. The primary alone decides; when it dies, the cluster module ends this process.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('message', (message) => void obey(message as ToWorker))
tell({ kind: 'started' })

async function obey(order: ToWorker): Promise<void> {
  try {
    if (order.kind === 'serve') {
      serving = open(order)
      tell({ kind: 'listening', url: (await serving).url })
    } else {
      await (await serving)?.close()
      process.exit(0)
    }
  } catch (error) {
    tell({ kind: 'failed', message: messageOf(error) }, () => process.exit(1))
  }
}

function open({ configuration, instanceId }: ServeOrder): Promise<{ url: string; close(): Promise<void> }> {
  return opening(async (opened) => {
    const log = openLog(configuration.logLevel)
    const data = await openDataStore({
      path: configuration.data,
      create: false,
      workerOf: instanceId,
      onFatal: (error) => exitOnFatal(log, error),
      warn: (message) => log.warn(message),
    })
    opened.add(data.close)
    const endpoint = await openEndpoint({ ...configuration, store: data.store, log })
    opened.add(endpoint.close)
    return { url: endpoint.url, close: opened.close }
  })
}

function tell(message: FromWorker, sent: () => void = () => {}): void {
  process.send?.(message, sent)
}
