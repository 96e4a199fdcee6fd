/** The flag `--rate` of commands that read a lot. */
import { ConfigurationError } from '../../config/configuration-error.ts'
import { rate } from '../../config/kinds.ts'
import type { TaskArguments } from '../../jobs/tasks/tasks.ts'
import type { ExtraFlag, Invocation } from '../command.ts'

export const rateFlag: ExtraFlag = {
  flags: '--rate <SIZE>',
  summary:
    "Most bytes to read in a second, such as 50MiB, or 'unlimited'. Initially what a running server is configured for; without a server, no limit.",
}

/** Empty when the flag was not given. Throws `ConfigurationError`. */
export function askedRate({ extra }: Invocation): TaskArguments {
  if (typeof extra.rate !== 'string') return {}
  try {
    const bytesPerSecond = rate.parse([extra.rate], '')
    return bytesPerSecond === undefined ? { unlimited: true } : { bytesPerSecond }
  } catch (error) {
    if (error instanceof ConfigurationError) throw new ConfigurationError(`--rate: ${error.message}`)
    throw error
  }
}
