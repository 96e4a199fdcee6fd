/** Changes of identities. Each is decided from all stored identities, committed with a new generation number, and done when every process knows it. */
import type { Account } from '../auth/credentials.ts'
import { commitDecision, type Decision } from '../commits/commit.ts'
import type { Wrapping } from '../commits/encryption.ts'
import { generationPut } from '../commits/identity-generation.ts'
import type { Check, Key, Kv, Put } from '../kv/kv.ts'
import type { LeaseTime } from '../lease-time.ts'
import { limits } from '../limits.ts'
import type { IdentitiesInUse } from './identities-in-use.ts'
import { IdentityRefused } from './refusal.ts'
import type { StoredIdentities } from './stored-identities.ts'

/** All identities at the time of a decision. */
export interface Present {
  stored: StoredIdentities
  configured: readonly Account[]
}

export interface Change<T> {
  result: T
  puts?: readonly Put[]
  deletes?: readonly Key[]
  /** Checks of records that are not identities. */
  checks?: readonly Check[]
  /** The number of records that the change adds. Absent: none. */
  adds?: number
}

export type IdentityBackend = Wrapping & { kv: Kv }

export interface ChangeOptions {
  backend: IdentityBackend
  inUse: IdentitiesInUse
  time: LeaseTime
}

export class IdentityChanges {
  readonly backend: IdentityBackend
  readonly #inUse: IdentitiesInUse
  readonly #time: LeaseTime
  #tell: (generation: number) => Promise<void> = async () => {}

  constructor({ backend, inUse, time }: ChangeOptions) {
    this.backend = backend
    this.#inUse = inUse
    this.#time = time
  }

  tellOthers(tell: (generation: number) => Promise<void>): void {
    this.#tell = tell
  }

  /** Everything that was committed before the call. */
  async present(): Promise<Present> {
    await this.#inUse.look()
    return { stored: this.#inUse.stored, configured: this.#inUse.configured }
  }

  /**
   * Calls `decide` again when another change was committed meanwhile. Every commit checks the generation that the decision saw, so a decision is never based on old
   * records. Throws what `decide` throws. A decision without puts and deletes changes nothing, but also waits until every process knows the present state.
   */
  async make<T>(decide: (present: Present) => Change<T> | Promise<Change<T>>): Promise<T> {
    const { result, generation } = await commitDecision<Committed<T>>(this.backend, async () => {
      const present = await this.present()
      return committed(present.stored, await decide(present))
    })
    await this.#spread(generation)
    return result
  }

  /** Waits for the other processes, but not longer than the lease: by then, a process must read the change before it answers another request. */
  async #spread(generation: number): Promise<void> {
    const lease = this.#time.sleep(limits.identityLeaseMs)
    const known = Promise.all([this.#inUse.learn(generation), this.#tell(generation)]).catch(() => lease.ended)
    await Promise.race([known, lease.ended])
    lease.cancel()
  }
}

interface Committed<T> {
  result: T
  /** The generation of this change, or the last one when nothing changes. */
  generation: number
}

function committed<T>(
  { generation, entries, check }: StoredIdentities,
  { result, puts = [], deletes = [], checks = [], adds }: Change<T>,
): Decision<Committed<T>> {
  if (puts.length === 0 && deletes.length === 0) return { commit: {}, result: { result, generation } }
  if (adds !== undefined && entries + adds > limits.identitiesMax) throw tooMany()
  const next = generation + 1
  return {
    commit: { checks: [check, ...checks], puts: [...puts, generationPut(next)], deletes, grows: adds !== undefined },
    result: { result, generation: next },
  }
}

function tooMany(): IdentityRefused {
  return new IdentityRefused(
    'LimitExceeded',
    `There are ${limits.identitiesMax} accounts, users, policies and keys, which is the most that there can be.`,
  )
}
