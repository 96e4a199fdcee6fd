/** The entries whose values a move changes, because they tell what only one of the two sides has. */
import { knownDefaultStore, sealedDefaultStore } from '../../instance/default-store.ts'
import { readKnownPlacement, sealedPlacement } from '../../instance/known-placement.ts'
import {
  type LocalStore,
  localStoreIn,
  placementInDatabase,
  placementInDirectory,
} from '../../instance/moved-placement.ts'
import { readRecord } from '../../instance/sealed-record.ts'
import type { Kv } from '../../kv/kv.ts'
import { postRecord } from '../../members/member-records.ts'
import type { ChangedEntry } from './metadata-copy.ts'

/** `local`: as for `placementInDatabase`. */
export async function changedInDatabase(source: Kv, local: LocalStore | undefined): Promise<ChangedEntry[]> {
  const { known, version } = await readKnownPlacement(source)
  const isChanged = version !== undefined || local !== undefined
  return [...(await vacantPost(source)), ...(isChanged ? [sealedPlacement(placementInDatabase(known, local))] : [])]
}

/** `storeId`: the store in the data directory. Absent: there is none yet; the first start makes one. */
export async function changedInDirectory(source: Kv, storeId: string | undefined): Promise<ChangedEntry[]> {
  const { known, version } = await readKnownPlacement(source)
  return [
    ...(await vacantPost(source)),
    ...(version === undefined ? [] : [sealedPlacement(placementInDirectory(known))]),
    sealedDefaultStore(storeId),
  ]
}

/** Why the data directory with this store can't take the metadata back. */
export async function whyNotInDirectory(source: Kv, storeId: string | undefined): Promise<string | undefined> {
  const local = localStoreIn((await readKnownPlacement(source)).known)
  if (local !== undefined && local !== storeId) return `does not hold store ${local}, in which objects lie`
  const known = await knownDefaultStore(source)
  if (storeId === undefined || storeId === known) return undefined
  return `holds store ${storeId}, which this metadata does not know. Name an empty one`
}

/** Members do not move with the metadata, so nobody holds the post. Its number is kept, because stores refuse a maintainer with a number below the last one. */
async function vacantPost(source: Kv): Promise<ChangedEntry[]> {
  const post = (await readRecord(source, postRecord))?.value
  if (post === undefined) return []
  return [{ key: postRecord.key, value: postRecord.seal({ ...post, member: null }) }]
}
