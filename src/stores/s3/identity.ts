/** The object that identifies the store under a prefix and its owner. A bucket that is missing, empty or another store's is refused, because writing to it would hide the loss. */
import { type Clock, randomId } from '../../clock.ts'
import { limits } from '../../limits.ts'
import { requireHeld, tookOver } from '../post.ts'
import { type MaintenancePost, StoreFull } from '../shard-store.ts'
import { judgeStore, type Ownership, ownerOf, type StoreOwner, StoreRefused } from '../store-claim.ts'
import type { ShardBucket } from './bucket.ts'

const identityKey = 'holdfast-store.json'
/** The first format named no metadata. Its `owner` is the creator of the store, which is not checked. */
const firstFormat = 1
const format = 2
const idPattern = /^[0-9a-f]{32}$/

interface Identity {
  /** All that the object says. */
  content: object
  storeId: string
  createdAt: unknown
  owner: StoreOwner | undefined
  /** The greatest number under which the store was maintained for its owner. 0: none. */
  maintainer: number
  /** The ETag of the object, so that a claim replaces this one and no other. */
  etag: string | undefined
}

export interface Opening {
  bucket: ShardBucket
  clock: Clock
  /** Create a store if there is nothing yet. */
  create: boolean
  /** Absent: the owner is not checked, and the store is not claimed. */
  ownership: Ownership | undefined
  warn(message: string): void
}

/** Claims the store if need be, and resolves with its id. Rejects with `StoreRefused`. */
export async function openIdentity(opening: Opening): Promise<string> {
  const { bucket, create, ownership } = opening
  for (let tries = 0; tries < limits.claimTriesMax; tries++) {
    const found = await findIdentity(bucket)
    if (found === undefined) {
      if (!create) throw missingIdentity(bucket)
      await createIdentity(opening)
      continue
    }
    if (ownership === undefined) return found.storeId
    const verdict = await judgeStore({ name: bucket.name, isEmpty: () => isEmpty(bucket), ...found }, ownership)
    if (verdict === 'open' || (await claim(opening, found))) return found.storeId
  }
  throw new StoreRefused(`${bucket.name} is claimed by others again and again, or does not keep what is written to it`)
}

/** The identity of the opened store, and its owner at the last check. */
export class HeldIdentity {
  readonly #bucket: ShardBucket
  readonly #storeId: string
  readonly #ownership: Ownership | undefined
  #startSeen: string | undefined

  constructor(bucket: ShardBucket, storeId: string, ownership: Ownership | undefined) {
    this.#bucket = bucket
    this.#storeId = storeId
    this.#ownership = ownership
  }

  /** Rejects when the opened store is gone, or claimed by another server. */
  async require(): Promise<void> {
    await this.#required()
  }

  /**
   * Keeps the number of the post in the identity, if it is the greatest one so far; otherwise rejects with `StoreFenced`. Each request of maintenance follows such a call. At an endpoint
   * without conditional writes, a smaller number can replace a greater one that was written at the same moment.
   */
  async takeNumber(post: MaintenancePost): Promise<void> {
    for (let tries = 0; tries < limits.claimTriesMax; tries++) {
      requireHeld(post)
      const { content, maintainer, etag } = await this.#required()
      if (maintainer > post.number) throw tookOver(post, maintainer)
      if (maintainer === post.number) return
      await this.#bucket.replace(identityKey, bytesOf({ ...content, maintainer: post.number }), etag)
    }
    throw new Error(`${this.#bucket.name} does not keep the number of its maintainer`)
  }

  async #required(): Promise<Identity> {
    const found = await findIdentity(this.#bucket)
    if (found === undefined) throw missingIdentity(this.#bucket)
    const { storeId, owner } = found
    const name = this.#bucket.name
    if (storeId !== this.#storeId) throw new Error(`${name} holds another store than before`)
    if (this.#ownership === undefined || (owner !== undefined && owner.start === this.#startSeen)) return found
    const { claimant } = this.#ownership
    await judgeStore({ name, storeId, owner, isEmpty: async () => false }, { claimant, knows: storeId })
    this.#startSeen = owner?.start
    return found
  }
}

function missingIdentity(bucket: ShardBucket): Error {
  return new Error(`${bucket.name} holds no ${identityKey}: not a Holdfast store, or another bucket in its place`)
}

async function createIdentity({ bucket, clock, ownership }: Opening): Promise<void> {
  await requireVacant(bucket)
  const owner = (await ownership?.claimant())?.claims
  const identity = { format, storeId: randomId(clock), createdAt: new Date(clock.now()).toISOString(), owner }
  // If another process was first, its object stays.
  await bucket.putAbsent(identityKey, bytesOf(identity))
}

/** Resolves with false when another server was first. A full store is opened without a claim. */
async function claim({ bucket, clock, ownership, warn }: Opening, found: Identity): Promise<boolean> {
  const owner = (await ownership?.claimant())?.claims
  if (owner === undefined) return true
  const { storeId, createdAt, etag } = found
  // Other metadata counts its maintainers anew.
  const maintainer = found.owner?.metadataId === owner.metadataId ? found.maintainer : 0
  const claimedAt = new Date(clock.now()).toISOString()
  const claimed = { format, storeId, createdAt, owner: { ...owner, claimedAt }, ...(maintainer > 0 && { maintainer }) }
  try {
    if (!(await bucket.replace(identityKey, bytesOf(claimed), etag))) return false
  } catch (error) {
    if (!(error instanceof StoreFull)) throw error
    warn(`${bucket.name} could not be claimed: ${error.message}`)
    return true
  }
  // At an endpoint without conditional writes, two claims can both replace the object. The last one counts.
  return (await findIdentity(bucket))?.owner?.start === owner.start
}

function bytesOf(identity: object): Buffer {
  return Buffer.from(`${JSON.stringify(identity, undefined, 2)}\n`)
}

async function findIdentity(bucket: ShardBucket): Promise<Identity | undefined> {
  const found = await bucket.find(identityKey, limits.remoteProbeMs)
  if (found === undefined) return undefined
  const name = `${bucket.name}${identityKey}`
  let identity: unknown
  try {
    identity = JSON.parse(found.bytes.toString())
  } catch (cause) {
    throw new Error(`${name} is damaged: it is not JSON`, { cause })
  }
  if (typeof identity !== 'object' || identity === null || !('format' in identity) || !('storeId' in identity)) {
    throw new Error(`${name} is damaged: it names no format and no storeId`)
  }
  if (identity.format !== firstFormat && identity.format !== format) {
    throw new Error(`${name} has format ${String(identity.format)}; this version knows ${format}`)
  }
  const { storeId } = identity
  if (typeof storeId !== 'string' || !idPattern.test(storeId))
    throw new Error(`${name} is damaged: its storeId is not one`)
  const owner = identity.format === format && 'owner' in identity ? ownerOf(identity.owner, name) : undefined
  const maintainer = 'maintainer' in identity ? identity.maintainer : 0
  if (typeof maintainer !== 'number') throw new Error(`${name} is damaged: its maintainer is no number`)
  return {
    content: identity,
    storeId,
    createdAt: 'createdAt' in identity ? identity.createdAt : undefined,
    owner,
    maintainer,
    etag: found.etag,
  }
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
