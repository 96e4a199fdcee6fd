/** SIGTERM and SIGINT: the first asks to stop, the second ends the process at once. */
import { flushLog } from './log.ts'

export interface StopSignals {
  /** Resolves with the first signal. */
  readonly requested: Promise<NodeJS.Signals>
}

export function watchStopSignals(): StopSignals {
  const requested = new Promise<NodeJS.Signals>((resolve) => {
    let seen = false
    const onSignal = (signal: NodeJS.Signals): void => {
      if (seen) void flushLog().then(() => process.exit(1))
      seen = true
      resolve(signal)
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
  return { requested }
}
