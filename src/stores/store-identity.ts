/** Opens the store at a path or in a bucket, and notices when something else lies there. Each kind of store keeps its identity and owner in its own way. */
import { limits } from '../limits.ts'
import { StoreFull, StoreReadOnly } from './shard-store.ts'
import { type Claimant, judgeStore, type Ownership, type StoreOwner, StoreRefused } from './store-claim.ts'

const storeIdPattern = /^[0-9a-f]{32}$/

export interface FoundIdentity {
  storeId: string
  /** Absent: version 0.1.0 wrote none. */
  owner: StoreOwner | undefined
}

export interface IdentityStorage<Found extends FoundIdentity> {
  /** The path or bucket, for messages. */
  readonly name: string
  /** `undefined`: there is no identity. Rejects when it is damaged. */
  find(): Promise<Found | undefined>
  /** The error that says that there is no identity. */
  missing(): Error
  /** Does nothing if another process was first. Rejects where other data lies. */
  create(claimant: Claimant | undefined): Promise<void>
  /** Resolves with false when another claim was first. `anew`: forget the numbers of earlier maintainers. */
  claim(found: Found, owner: StoreOwner, anew: boolean): Promise<boolean>
  isEmpty(): Promise<boolean>
}

export interface IdentityOptions {
  /** Whether to create a store if there is nothing yet. */
  create: boolean
  /** Absent: the owner is not checked, and the store is not claimed. */
  ownership: Ownership | undefined
  warn(message: string): void
}

/** The identity of the opened store, and its owner at the last check. */
export class HeldIdentity<Found extends FoundIdentity> {
  readonly storeId: string
  readonly #storage: IdentityStorage<Found>
  readonly #ownership: Ownership | undefined
  #startSeen: string | undefined

  constructor(storage: IdentityStorage<Found>, storeId: string, ownership: Ownership | undefined) {
    this.storeId = storeId
    this.#storage = storage
    this.#ownership = ownership
  }

  /** Rejects when the opened store is gone: the path or bucket is missing, empty, holds another store, or was claimed by another server. */
  async require(): Promise<Found> {
    const { name } = this.#storage
    const found = await this.#storage.find()
    if (found === undefined) throw this.#storage.missing()
    const { storeId, owner } = found
    if (storeId !== this.storeId) throw new Error(`${name} holds another store than before`)
    if (this.#ownership === undefined || (owner !== undefined && owner.start === this.#startSeen)) return found
    const { claimant } = this.#ownership
    await judgeStore({ name, storeId, owner, isEmpty: async () => false }, { claimant, knows: storeId })
    this.#startSeen = owner?.start
    return found
  }
}

/** Makes or claims the store if need be. Rejects with `StoreRefused`. */
export async function openIdentity<Found extends FoundIdentity>(
  storage: IdentityStorage<Found>,
  options: IdentityOptions,
): Promise<HeldIdentity<Found>> {
  const { create, ownership } = options
  const { name } = storage
  for (let tries = 0; tries < limits.claimTriesMax; tries++) {
    const found = await storage.find()
    if (found === undefined) {
      if (!create) throw storage.missing()
      await storage.create(await ownership?.claimant())
      continue
    }
    const { storeId, owner } = found
    const held = new HeldIdentity(storage, storeId, ownership)
    if (ownership === undefined) return held
    const verdict = await judgeStore({ name, storeId, owner, isEmpty: () => storage.isEmpty() }, ownership)
    if (verdict === 'open' || (await claim(storage, found, options))) return held
  }
  throw new StoreRefused(`${name} is claimed by others again and again, or does not keep what is written to it`)
}

/** Resolves with false when another server was first. A store that can't be written to is opened without a claim, because this server can't harm it. */
async function claim<Found extends FoundIdentity>(
  storage: IdentityStorage<Found>,
  found: Found,
  { ownership, warn }: IdentityOptions,
): Promise<boolean> {
  const owner = (await ownership?.claimant())?.claims
  if (owner === undefined) return true
  try {
    // Metadata that was restored to an earlier day counts its maintainers from there again.
    const anew = ownership?.takes === 'any' || found.owner?.metadataId !== owner.metadataId
    return await storage.claim(found, owner, anew)
  } catch (error) {
    if (!(error instanceof StoreReadOnly || error instanceof StoreFull)) throw error
    warn(`${storage.name} could not be claimed: ${error.message}`)
    return true
  }
}

/** `path`: for messages. `formats`: the formats that this version can read. */
export function parseIdentity(
  text: string,
  path: string,
  formats: readonly number[],
): { content: object; format: number; storeId: string } {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch (cause) {
    throw new Error(`${path} is damaged: it is not JSON`, { cause })
  }
  if (typeof content !== 'object' || content === null || !('format' in content) || !('storeId' in content)) {
    throw new Error(`${path} is damaged: it names no format and no storeId`)
  }
  const { storeId } = content
  const format = formats.find((known) => known === content.format)
  if (format === undefined) {
    throw new Error(`${path} has format ${String(content.format)}; this version knows ${formats.at(-1)}`)
  }
  if (typeof storeId === 'string' && storeIdPattern.test(storeId)) return { content, format, storeId }
  throw new Error(`${path} is damaged: its storeId is not one`)
}
