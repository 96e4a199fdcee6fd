/** Makes stores for names that the metadata does not know, and for lost ones. */
import type { StoreSettings } from '../../config/locations.ts'
import { failureText } from '../../file-failure.ts'
import { PlacementRefused } from '../../instance/known-placement.ts'
import { placeName, storeOpener, type Telling } from './open-stores.ts'

/**
 * Resolves with the id of the new store. Its directory or bucket must be empty, because what lies there would be taken for garbage. `first`: no other process can have opened it.
 * Throws `PlacementRefused`.
 */
export async function makeStore(settings: StoreSettings, telling: Telling, { first = true } = {}): Promise<string> {
  const { name } = settings
  const fatal: Error[] = []
  const open = storeOpener(settings, telling)
  const making = open({ first, create: true, onFatal: (error) => fatal.push(error) })
  const store = await making.catch((error: unknown) => {
    throw new PlacementRefused(`stores.${name}: ${failureText(error)}`)
  })
  try {
    for await (const _ of store.list()) {
      throw new PlacementRefused(
        `stores.${name}: ${placeName(settings)} holds data that this server's metadata does not know. If its metadata was lost, run \`holdfast recover\``,
      )
    }
    if (fatal[0] !== undefined) throw fatal[0]
    return store.storeId
  } finally {
    await store.close()
  }
}

/** Throws `PlacementRefused` when two names mean the same store. */
export function refuseTwins(stores: Readonly<Record<string, { storeId: string }>>): void {
  const names = new Map<string, string>()
  for (const [name, { storeId }] of Object.entries(stores)) {
    const other = names.get(storeId)
    if (other !== undefined) throw new PlacementRefused(`stores.${other} and stores.${name} are one and the same store`)
    names.set(storeId, name)
  }
}
