/** The object that says which store lies under a prefix. A bucket that is missing, empty or another's is refused: to fill it anew would hide the loss. */
import { type Clock, randomId } from '../../clock.ts'
import { limits } from '../../limits.ts'
import type { ShardBucket } from './bucket.ts'

const identityKey = 'holdfast-store.json'
const format = 1
const idPattern = /^[0-9a-f]{32}$/

interface Identity {
  storeId: string
  /** Whoever made the store. */
  owner: string
}

/** The id of the store that is there. */
export async function readIdentity(bucket: ShardBucket): Promise<string> {
  const found = await findIdentity(bucket)
  if (found !== undefined) return found.storeId
  throw new Error(`${bucket.name} holds no ${identityKey}: not a Holdfast store, or another bucket in its place`)
}

/** Throws when what was opened is no longer there. */
export async function requireIdentity(bucket: ShardBucket, storeId: string): Promise<void> {
  if ((await readIdentity(bucket)) !== storeId) throw new Error(`${bucket.name} holds another store than before`)
}

/**
 * Makes a store where nothing is yet; one of the same owner, which it could not take note of, is taken again. Another's is refused even while it is empty: two
 * servers on one store would each take the other's shards for garbage.
 */
export async function createIdentity(bucket: ShardBucket, clock: Clock, owner: string): Promise<string> {
  if ((await findIdentity(bucket)) === undefined) {
    await requireVacant(bucket)
    const identity = { format, storeId: randomId(clock), owner, createdAt: new Date(clock.now()).toISOString() }
    await bucket.putAbsent(identityKey, Buffer.from(`${JSON.stringify(identity, undefined, 2)}\n`))
  }
  // Whoever came first has made it.
  const found = await findIdentity(bucket)
  if (found === undefined) throw new Error(`${bucket.name} does not keep what is written to it`)
  if (found.owner === owner) return found.storeId
  throw new Error(`${bucket.name} holds a store that another server made`)
}

async function findIdentity(bucket: ShardBucket): Promise<Identity | undefined> {
  const bytes = await bucket.read(identityKey, limits.remoteProbeMs)
  if (bytes === undefined) return undefined
  const place = `${bucket.name}${identityKey}`
  let identity: unknown
  try {
    identity = JSON.parse(bytes.toString())
  } catch (cause) {
    throw new Error(`${place} is damaged: it is not JSON`, { cause })
  }
  if (typeof identity !== 'object' || identity === null || !('format' in identity) || !('storeId' in identity)) {
    throw new Error(`${place} is damaged: it names no format and no storeId`)
  }
  if (identity.format !== format) {
    throw new Error(`${place} has format ${String(identity.format)}; this version knows ${format}`)
  }
  const { storeId } = identity
  if (typeof storeId !== 'string' || !idPattern.test(storeId))
    throw new Error(`${place} is damaged: its storeId is not one`)
  return { storeId, owner: 'owner' in identity ? String(identity.owner) : '' }
}

async function requireVacant(bucket: ShardBucket): Promise<void> {
  for await (const { key } of bucket.list('')) {
    // Another process of ours may just have made it.
    if (key === identityKey) continue
    throw new Error(
      `${bucket.name} is not empty (${key}) and holds no ${identityKey}: no store is made over other data`,
    )
  }
}
