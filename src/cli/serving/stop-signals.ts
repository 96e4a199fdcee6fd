/** SIGTERM and SIGINT: the first one asks the process to stop, the second ends it at once. */
import { endProcess } from '../../process-end.ts'
import { flushLog } from '../log.ts'

export interface StopSignals {
  /** Resolves with the first signal. */
  readonly requested: Promise<NodeJS.Signals>
}

export function watchStopSignals(): StopSignals {
  const requested = new Promise<NodeJS.Signals>((resolve) => {
    let seen = false
    const onSignal = (signal: NodeJS.Signals): void => {
      if (seen) void flushLog().then(() => endProcess(1))
      seen = true
      resolve(signal)
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
  return { requested }
}
