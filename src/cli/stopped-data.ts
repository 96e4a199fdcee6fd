/** Opens a data directory for a command. Some commands need the server to be stopped; others work while it runs. */
import { openData, openMetadata } from '../opening/open.ts'
import type { OpenData, OpenDataOptions, OpenMetadata } from '../opening/open-backend.ts'
import type { Invocation } from './command.ts'
import { exitOnFatal, openCommandLog } from './log.ts'
import { asOnlyMaintainer } from './maintainer-post.ts'

/** Closes the directory when `use` has settled. Throws `InstanceInUse` or `MembersAtWork` while a server runs on the metadata. */
export function withStoppedData<T>(invocation: Invocation, use: (data: OpenData) => Promise<T>): Promise<T> {
  const isShared = invocation.configuration.metadata !== undefined
  return withData(invocation, {}, (data) => (isShared ? asOnlyMaintainer(data, use) : use(data)))
}

/** Opens shared metadata and its stores while servers may run. `use` may write to stores only while it holds the post of `OpenData.maintain`. */
export function withSharedData<T>(invocation: Invocation, use: (data: OpenData) => Promise<T>): Promise<T> {
  return withData(invocation, {}, use)
}

/** Like `withStoppedData`, for work that another process can continue: `use` must end soon when `isOwnershipWanted`. */
export function withYieldedData<T>(invocation: Invocation, use: (data: OpenData) => Promise<T>): Promise<T> {
  return withData(invocation, { yieldsOwnership: true }, use)
}

/** Works whether a server runs or not. `use` must only read: a starting server would remove shards written here as leftovers. */
export function withReadOnlyData<T>(invocation: Invocation, use: (data: OpenData) => Promise<T>): Promise<T> {
  return withData(invocation, { readOnly: true }, use)
}

/** Like `withReadOnlyData`, but the configuration may differ from the one that the data directory knows. Opens what both know. */
export function withDataForDryRun<T>(invocation: Invocation, use: (data: OpenData) => Promise<T>): Promise<T> {
  return withData(invocation, { readOnly: true, dryRun: true }, use)
}

/** Opens only the metadata, whether a server runs or not. `use` may write records, but no shards. */
export async function withMetadata<T>(
  { configuration, json }: Invocation,
  use: (metadata: OpenMetadata) => Promise<T>,
): Promise<T> {
  const log = openCommandLog(configuration, { json })
  const metadata = await openMetadata({
    path: configuration.data,
    metadata: configuration.metadata,
    onFatal: (error) => exitOnFatal(log, error),
    warn: (message) => log.warn(message),
  })
  try {
    return await use(metadata)
  } finally {
    await metadata.close()
  }
}

async function withData<T>(
  { configuration, json }: Invocation,
  how: Pick<OpenDataOptions, 'readOnly' | 'dryRun' | 'yieldsOwnership'>,
  use: (data: OpenData) => Promise<T>,
): Promise<T> {
  const log = openCommandLog(configuration, { json })
  const data = await openData({
    path: configuration.data,
    metadata: configuration.metadata,
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
