/** Inspects a directory or bucket that is to become a store. Makes nothing there. */
import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemClock } from '../../clock.ts'
import type { StoreSettings } from '../../config/locations.ts'
import { failureText } from '../../file-failure.ts'
import type { StoreNow } from '../../jobs/locations/store-now.ts'
import { limits } from '../../limits.ts'
import { openDirectoryStore } from '../../stores/directory/directory-store.ts'
import { unlessMissing } from '../../stores/directory/failures.ts'
import { identityName } from '../../stores/directory/layout.ts'
import { nodeFs } from '../../stores/node-fs.ts'
import type { Ownership } from '../../stores/store-claim.ts'

/** `out`: the server would refuse to start with this store. The identity is a placeholder that no shard names, unless there is a store already. */
export async function inspectNewStore(
  settings: StoreSettings,
  ownership: Ownership,
): Promise<StoreNow & { storeId: string }> {
  const storeId = `new store ${settings.name}`
  // The server checks a remote store when it first opens it. A remote store does not tell its free space.
  if (settings.type !== 'directory')
    return { storeId, state: 'up', reason: undefined, usedBytes: 0, freeBytes: undefined }
  const { path } = settings
  try {
    const entries = await unlessMissing(readdir(path))
    const found = entries?.includes(identityName) === true ? await emptyStoreAt(path, ownership) : storeId
    const foreign = entries?.find((entry) => entry !== 'lost+found')
    if (found === storeId && foreign !== undefined) {
      return refused(storeId, `${path} is not empty, and no store`)
    }
    const free = (await freeBytesAt(path)) - limits.storeReserveBytes
    return { storeId: found, state: 'up', reason: undefined, usedBytes: 0, freeBytes: Math.max(0, free) }
  } catch (error) {
    return refused(storeId, failureText(error))
  }
}

function refused(storeId: string, reason: string): StoreNow & { storeId: string } {
  return { storeId, state: 'out', reason, usedBytes: undefined, freeBytes: undefined }
}

/** The store's identity. Throws when the store can't be opened, or is not empty. */
async function emptyStoreAt(path: string, ownership: Ownership): Promise<string> {
  const store = await openDirectoryStore({
    path,
    clock: systemClock,
    create: false,
    ownership,
    firstOpener: false,
    onFatal: () => {},
  })
  try {
    for await (const _ of store.list()) throw new Error(`${path} holds data that this server's metadata does not know`)
    return store.storeId
  } finally {
    await store.close()
  }
}

/** Free bytes at the nearest existing parent directory. */
async function freeBytesAt(path: string): Promise<number> {
  const free = await unlessMissing(nodeFs.freeBytes(path))
  return free ?? freeBytesAt(dirname(path))
}
