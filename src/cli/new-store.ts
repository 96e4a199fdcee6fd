/** Looks at a place that is to become a store, and makes nothing there. */
import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemClock } from '../clock.ts'
import type { StoreSettings } from '../config/locations.ts'
import { failureText } from '../file-failure.ts'
import type { StoreNow } from '../jobs/store-now.ts'
import { limits } from '../limits.ts'
import { openDirectoryStore } from '../stores/directory/directory-store.ts'
import { unlessMissing } from '../stores/directory/failures.ts'
import { identityName } from '../stores/directory/layout.ts'
import { nodeFs } from '../stores/node-fs.ts'
import type { Ownership } from '../stores/store-claim.ts'

/** `out`: the server would refuse to start because of it. The identity is one that no shard names, unless the place is a store already. */
export async function lookAtNewStore(
  settings: StoreSettings,
  ownership: Ownership,
): Promise<StoreNow & { storeId: string }> {
  const storeId = `new store ${settings.name}`
  // What lies at a remote place is looked at when the server first opens it; how much room it has, nobody knows.
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

/** Its identity. Throws when it can't be opened, or holds something. */
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

/** Of the nearest directory that is there. */
async function freeBytesAt(path: string): Promise<number> {
  const free = await unlessMissing(nodeFs.freeBytes(path))
  return free ?? freeBytesAt(dirname(path))
}
