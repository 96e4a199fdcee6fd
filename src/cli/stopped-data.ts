/** Opens a data directory for a command that works on it and exits: that of a server that is not running, or beside one that may be. */
import { type DataStoreOptions, type OpenDataStore, type OpenMetadata, openDataStore, openMetadata } from '../open.ts'
import type { Invocation } from './command.ts'
import { exitOnFatal } from './instance.ts'
import { openLog } from './log.ts'

/** Closes the directory when `use` has settled. Throws `InstanceInUse` while a server runs on it. */
export function withStoppedData<T>(invocation: Invocation, use: (data: OpenDataStore) => Promise<T>): Promise<T> {
  return withData(invocation, {}, use)
}

/** The same, for work that others can go on with: `use` is to end soon when `isOwnershipWanted`. */
export function withDataForNow<T>(invocation: Invocation, use: (data: OpenDataStore) => Promise<T>): Promise<T> {
  return withData(invocation, { givesWay: true }, use)
}

/** The same, whether a server runs on it or not. `use` must only read: a server that starts would take shards written here for left behind. */
export function withDataBeside<T>(invocation: Invocation, use: (data: OpenDataStore) => Promise<T>): Promise<T> {
  return withData(invocation, { beside: true }, use)
}

/** The same, with a configuration that may be another than the one the data directory knows: what both know is opened. */
export function withDataForeseen<T>(invocation: Invocation, use: (data: OpenDataStore) => Promise<T>): Promise<T> {
  return withData(invocation, { beside: true, foresee: true }, use)
}

/** The metadata, whether a server runs on it or not. `use` may write records: never shards. */
export async function withMetadataBeside<T>(
  { configuration }: Invocation,
  use: (metadata: OpenMetadata) => Promise<T>,
): Promise<T> {
  const log = openLog(configuration.logLevel)
  const metadata = await openMetadata({ path: configuration.data, onFatal: (error) => exitOnFatal(log, error) })
  try {
    return await use(metadata)
  } finally {
    await metadata.close()
  }
}

async function withData<T>(
  { configuration }: Invocation,
  how: Pick<DataStoreOptions, 'beside' | 'foresee' | 'givesWay'>,
  use: (data: OpenDataStore) => Promise<T>,
): Promise<T> {
  const log = openLog(configuration.logLevel)
  const data = await openDataStore({
    path: configuration.data,
    create: false,
    ...how,
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
