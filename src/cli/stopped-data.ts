/** Opens the data directory of a server that is not running, for a command that works on it and exits. */
import { type OpenDataStore, openDataStore } from '../open.ts'
import type { Invocation } from './command.ts'
import { exitOnFatal } from './instance.ts'
import { openLog } from './log.ts'

/** Closes the directory when `use` has settled. Throws `InstanceInUse` while a server runs on it. */
export async function withStoppedData<T>(
  { configuration }: Invocation,
  use: (data: OpenDataStore) => Promise<T>,
): Promise<T> {
  const log = openLog(configuration.logLevel)
  const data = await openDataStore({
    path: configuration.data,
    create: false,
    keys: configuration,
    placement: configuration.placement,
    onFatal: (error) => exitOnFatal(log, error),
    warn: (message) => log.warn(message),
  })
  try {
    return await use(data)
  } finally {
    await data.close()
  }
}
