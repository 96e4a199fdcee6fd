/** How stores and locations change when the metadata moves between a data directory, which has a store of its own, and a database, which has none. Pure. */
import { ownLocation } from '../blobs/location-policy.ts'
import type { KnownPlacement } from './known-placement.ts'

/** The store of the data directory, under a name of its own. */
export interface LocalStore {
  name: string
  storeId: string
}

/** `local`: the data directory's store if objects stay in it. It becomes a store like others, and the only one of the location `default`. */
export function placementInDatabase(known: KnownPlacement, local: LocalStore | undefined): KnownPlacement {
  const { defaultLocation, ...rest } = known
  const named = defaultLocation === undefined || defaultLocation === ownLocation ? rest : { ...rest, defaultLocation }
  if (local === undefined) return named
  const { name, storeId } = local
  const policy = { scheme: 'replica', copies: 1, stores: [name], maxPerDomain: 1, writeAck: 1 } as const
  return {
    ...named,
    stores: { ...known.stores, [name]: { storeId } },
    locations: { ...known.locations, [ownLocation]: { version: 1, policy } },
  }
}

/** The id of the data directory's store. `undefined`: no objects stayed in it. */
export function localStoreIn({ stores, locations }: KnownPlacement): string | undefined {
  const name = locations[ownLocation]?.policy.stores[0]
  return name === undefined ? undefined : stores[name]?.storeId
}

/** Undoes `placementInDatabase`. */
export function placementInDirectory(known: KnownPlacement): KnownPlacement {
  const { [ownLocation]: own, ...locations } = known.locations
  const stores = Object.entries(known.stores).filter(([name]) => own?.policy.stores.includes(name) !== true)
  return { ...known, stores: Object.fromEntries(stores), locations }
}
