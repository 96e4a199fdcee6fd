/** Checks that a directory can become the store that replaces a lost one. If the new disk were not mounted, the store would fill the system's disk. */
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { StoreSettings } from '../../config/locations.ts'
import { PlacementRefused } from '../../instance/known-placement.ts'

/** The directory at a path. `undefined`: there is none. */
type FoundDirectory = { isMount: boolean } | undefined

/** The reason against using the directory; `undefined`: none. Pure. */
export function unfitDirectory(
  path: string,
  directory: FoundDirectory,
  others: readonly FoundDirectory[],
): string | undefined {
  if (directory === undefined) return `${path} does not exist. Mount the new disk there, or make the directory`
  const found = others.filter((other) => other !== undefined)
  if (directory.isMount || found.length === 0 || !found.every(({ isMount }) => isMount)) return undefined
  return `${path} is not a mount, but the other stores are: the new disk is not mounted. Mount it`
}

/** Throws `PlacementRefused`. */
export async function refuseUnfitDirectory(settings: StoreSettings, stores: readonly StoreSettings[]): Promise<void> {
  if (settings.type !== 'directory') return
  const others = stores.flatMap((store) => (store.type === 'directory' && store.name !== settings.name ? [store] : []))
  const directories = await Promise.all(others.map(({ path }) => lookAt(path)))
  const reason = unfitDirectory(settings.path, await lookAt(settings.path), directories)
  if (reason !== undefined) {
    throw new PlacementRefused(`stores.${settings.name}: ${reason}; or repeat this with --force if you mean it`)
  }
}

async function lookAt(path: string): Promise<FoundDirectory> {
  const [own, above] = await Promise.all([deviceOf(path), deviceOf(dirname(path))])
  return own === undefined ? undefined : { isMount: own !== above }
}

async function deviceOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).dev
  } catch {
    return undefined
  }
}
