/** The data in a data directory's store, which other servers can't reach, and how to move it away. */
import { join } from 'node:path'
import { ownLocation } from '../../blobs/location-policy.ts'
import type { Placement } from '../../config/locations.ts'
import { knownDefaultStore } from '../../instance/default-store.ts'
import type { LocalStore } from '../../instance/moved-placement.ts'
import type { Kv } from '../../kv/kv.ts'
import { MetadataMoveRefused } from '../metadata/metadata-failures.ts'
import { ownerText } from '../placement/placement-refusals.ts'
import { bucketsIn, dataOn } from '../placement/placement-users.ts'

export interface LocalDataOptions {
  path: string
  placement: Placement
  keepLocal: boolean
}

/** Resolves with the store if objects stay in it. Throws `MetadataMoveRefused` when there are some and `keepLocal` is not set. */
export async function localStoreToKeep(
  kv: Kv,
  { path, placement, keepLocal }: LocalDataOptions,
): Promise<LocalStore | undefined> {
  const storeId = await knownDefaultStore(kv)
  if (storeId === undefined) return undefined
  const buckets = (await bucketsIn(kv, [ownLocation])).get(ownLocation) ?? []
  const example = (await dataOn(kv, [storeId])).get(storeId)
  if (buckets.length === 0 && example === undefined) return undefined
  if (keepLocal) return { name: nameOfLocalStore(path, placement), storeId }
  throw new MetadataMoveRefused(
    [
      'these buckets lie in the data directory, which no other server reaches. Start the server, and move them first:',
      ...buckets.map((bucket) => `  holdfast locations move ${bucket} ${destination(placement)}`),
      ...(buckets.length === 0 && example !== undefined
        ? [`  ${ownerText(example)} still lies there: repeat the move of its bucket`]
        : []),
      '`holdfast locations plan BUCKET TO` says what a move writes. --keep-local leaves them where they are, for a single server',
    ].join('\n'),
  )
}

function destination({ defaultLocation, locations }: Placement): string {
  if (defaultLocation !== ownLocation) return defaultLocation
  return locations[0]?.name ?? 'LOCATION'
}

/** The name under which the configuration has the store. */
function nameOfLocalStore(path: string, { stores }: Placement): string {
  const store = join(path, 'store')
  const found = stores.find((settings) => settings.type === 'directory' && settings.path === store)
  if (found !== undefined) return found.name
  throw new MetadataMoveRefused(
    `with --keep-local, the store of the data directory becomes a store like others. Write into the configuration file:

[stores.local]
type = "directory"
path = "${store}"
`,
  )
}
