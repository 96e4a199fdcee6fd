/** The flag `--rate` of commands that read a lot. */
import { rate } from '../../config/kinds.ts'
import type { TaskArguments } from '../../jobs/tasks/tasks.ts'
import type { ExtraFlag, Invocation } from '../command.ts'
import { flagValue } from '../flag-values.ts'

export const rateFlag: ExtraFlag = {
  flags: '--rate <SIZE>',
  summary:
    "Most bytes to read in a second, such as 50MiB, or 'unlimited'. Initially what a running server is configured for; without a server, no limit.",
}

/** Empty when the flag was not given. Throws `ConfigurationError`. */
export function askedRate({ extra }: Invocation): TaskArguments {
  if (typeof extra.rate !== 'string') return {}
  const bytesPerSecond = flagValue('--rate', rate, extra.rate)
  return bytesPerSecond === undefined ? { unlimited: true } : { bytesPerSecond }
}
