/** `holdfast serve`: serves a data directory until a signal, from this process or from several workers. */
import { setDefaultHighWaterMark } from 'node:stream'
import { openEndpoint } from '../assembly/endpoint.ts'
import type { Configuration } from '../config/configuration.ts'
import { socketBufferBytes } from '../http/server.ts'
import { announce } from './announce.ts'
import { collectLessOften, collectWhenIdle } from './collector.ts'
import type { Invocation } from './command.ts'
import { type Instance, openInstance } from './instance.ts'
import { type KeyPairFiles, openKeyPairFiles } from './key-pair-files.ts'
import { type Log, openLog } from './log.ts'
import { watchStopSignals } from './stop-signals.ts'
import { startWorkers, type Workers } from './workers.ts'

export async function serve(invocation: Invocation): Promise<number> {
  const { configuration } = invocation
  collectLessOften()
  collectWhenIdle()
  const signals = watchStopSignals()
  const log = openLog(configuration.logLevel)
  // Before anything is made: a wrong file is the operator's to set right first.
  const keyPairFiles = configuration.tls && (await openKeyPairFiles(configuration.tls, log))
  const instance = await openInstance(configuration, log)
  try {
    const serving = await startServing(configuration, instance, keyPairFiles, log)
    try {
      announce(invocation, instance, serving.url)
      const signal = await Promise.race([signals.requested, serving.failed])
      log.info({ signal }, 'finishing the requests under way')
    } finally {
      await serving.close()
    }
  } finally {
    keyPairFiles?.close()
    await instance.close()
  }
  return 0
}

async function startServing(
  configuration: Configuration,
  instance: Instance,
  keyPairFiles: KeyPairFiles | undefined,
  log: Log,
): Promise<Workers> {
  const { store, id: instanceId, accounts } = instance
  if (configuration.workers > 1) {
    return startWorkers({ configuration: { ...configuration, accounts: [...accounts] }, instanceId, keyPairFiles, log })
  }
  // Connections of TLS take their buffer sizes from here, not from the server.
  if (keyPairFiles !== undefined) setDefaultHighWaterMark(false, socketBufferBytes)
  const endpoint = await openEndpoint({ ...configuration, keyPair: keyPairFiles?.current, store, accounts, log })
  keyPairFiles?.watch(endpoint.renewTls)
  // A process that serves by itself fails by ending.
  return { ...endpoint, failed: new Promise<never>(() => {}) }
}
