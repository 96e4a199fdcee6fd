/** The object that identifies the store under a prefix and its owner. A bucket that is missing, empty or another store's is refused, because writing to it would hide the loss. */
import { type Clock, randomId } from '../../clock.ts'
import { limits } from '../../limits.ts'
import { requireHeld, tookOver } from '../post.ts'
import type { MaintenancePost } from '../shard-store.ts'
import { ownerOf } from '../store-claim.ts'
import { type FoundIdentity, type HeldIdentity, type IdentityStorage, parseIdentity } from '../store-identity.ts'
import type { ShardBucket } from './bucket.ts'

const identityKey = 'holdfast-store.json'
/** The first format named no metadata. Its `owner` is the creator of the store, which is not checked. */
const firstFormat = 1
const format = 2

export interface BucketIdentity extends FoundIdentity {
  /** The whole content of the object. */
  content: object
  createdAt: unknown
  /** The greatest number of a post under which the store was maintained for its owner. 0: none. */
  maintainer: number
  /** The ETag of the object, so that a claim replaces this one and no other. */
  etag: string | undefined
}

export function bucketIdentity(bucket: ShardBucket, clock: Clock): IdentityStorage<BucketIdentity> {
  return {
    name: bucket.name,
    find: () => findIdentity(bucket),
    missing: () =>
      new Error(`${bucket.name} holds no ${identityKey}: not a Holdfast store, or another bucket in its place`),
    create: async (claimant) => {
      await requireVacant(bucket)
      const owner = claimant?.claims
      const identity = { format, storeId: randomId(clock), createdAt: new Date(clock.now()).toISOString(), owner }
      // If another process was first, its object stays.
      await bucket.putAbsent(identityKey, bytesOf(identity))
    },
    claim: async (found, owner, anew) => {
      const { storeId, createdAt, etag, maintainer } = found
      const claimedAt = new Date(clock.now()).toISOString()
      const kept = anew || maintainer === 0 ? {} : { maintainer }
      const claimed = { format, storeId, createdAt, owner: { ...owner, claimedAt }, ...kept }
      if (!(await bucket.replace(identityKey, bytesOf(claimed), etag))) return false
      // At an endpoint without conditional writes, two claims can both replace the object. The last one counts.
      return (await findIdentity(bucket))?.owner?.start === owner.start
    },
    isEmpty: () => isEmpty(bucket),
  }
}

/**
 * Records the number of the post in the identity if it is the greatest so far; otherwise rejects with `StoreFenced`. Each request of maintenance follows such a call. At endpoints
 * without conditional writes, a smaller number can replace a greater one that was written at the same moment.
 */
export async function takeNumber(
  bucket: ShardBucket,
  identity: HeldIdentity<BucketIdentity>,
  post: MaintenancePost,
): Promise<void> {
  for (let tries = 0; tries < limits.claimTriesMax; tries++) {
    requireHeld(post)
    const { content, maintainer, etag } = await identity.require()
    if (maintainer > post.number) throw tookOver(post, maintainer)
    if (maintainer === post.number) return
    await bucket.replace(identityKey, bytesOf({ ...content, maintainer: post.number }), etag)
  }
  throw new Error(`${bucket.name} does not keep the number of its maintainer`)
}

function bytesOf(identity: object): Buffer {
  return Buffer.from(`${JSON.stringify(identity, undefined, 2)}\n`)
}

async function findIdentity(bucket: ShardBucket): Promise<BucketIdentity | undefined> {
  const found = await bucket.find(identityKey, limits.remoteProbeMs)
  if (found === undefined) return undefined
  const name = `${bucket.name}${identityKey}`
  const { content, storeId, ...identity } = parseIdentity(found.bytes.toString(), name, [firstFormat, format])
  const owner = identity.format === format && 'owner' in content ? ownerOf(content.owner, name) : undefined
  const maintainer = 'maintainer' in content ? content.maintainer : 0
  if (typeof maintainer !== 'number') throw new Error(`${name} is damaged: its maintainer is not a number`)
  const createdAt = 'createdAt' in content ? content.createdAt : undefined
  return { content, storeId, createdAt, owner, maintainer, etag: found.etag }
}

async function isEmpty(bucket: ShardBucket): Promise<boolean> {
  for await (const { key } of bucket.list('')) if (key !== identityKey) return false
  return true
}

async function requireVacant(bucket: ShardBucket): Promise<void> {
  for await (const { key } of bucket.list('')) {
    // Another process of this server may have just created it.
    if (key === identityKey) continue
    throw new Error(
      `${bucket.name} is not empty (${key}) and holds no ${identityKey}: no store is made over other data`,
    )
  }
}
