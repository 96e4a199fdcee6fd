/** Opens a data directory for a command that works on it and exits: that of a server that is not running, or beside one that may be. */
import { type OpenDataStore, openDataStore } from '../open.ts'
import type { Invocation } from './command.ts'
import { exitOnFatal } from './instance.ts'
import { openLog } from './log.ts'

/** Closes the directory when `use` has settled. Throws `InstanceInUse` while a server runs on it. */
export function withStoppedData<T>(invocation: Invocation, use: (data: OpenDataStore) => Promise<T>): Promise<T> {
  return withData(invocation, false, use)
}

/** The same, whether a server runs on it or not. `use` must only read. */
export function withDataBeside<T>(invocation: Invocation, use: (data: OpenDataStore) => Promise<T>): Promise<T> {
  return withData(invocation, true, use)
}

async function withData<T>(
  { configuration }: Invocation,
  beside: boolean,
  use: (data: OpenDataStore) => Promise<T>,
): Promise<T> {
  const log = openLog(configuration.logLevel)
  const data = await openDataStore({
    path: configuration.data,
    create: false,
    beside,
    keys: configuration,
    placement: configuration.placement,
    onFatal: (error) => exitOnFatal(log, error),
    warn: (message) => log.warn(message),
    inform: (message) => log.info(message),
  })
  try {
    return await use(data)
  } finally {
    await data.close()
  }
}
