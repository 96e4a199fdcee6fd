/** How identities change: decided over all that is stored, committed with the number of the change, and answered when every process knows it. */
import type { Account } from '../auth/credentials.ts'
import { commitDecision, type Decision } from '../commits/commit.ts'
import type { Wrapping } from '../commits/encryption.ts'
import { generationPut } from '../commits/identity-generation.ts'
import type { Check, Key, Kv, Put } from '../kv/kv.ts'
import { limits } from '../limits.ts'
import type { IdentitiesInUse } from './identities-in-use.ts'
import type { LeaseTime } from './lease-time.ts'
import { IdentityRefused } from './refusal.ts'
import type { StoredIdentities } from './stored-identities.ts'

/** All that there is when a change is decided. */
export interface Present {
  stored: StoredIdentities
  configured: readonly Account[]
}

export interface Change<T> {
  result: T
  puts?: readonly Put[]
  deletes?: readonly Key[]
  /** Of what is no identity. */
  checks?: readonly Check[]
  /** How many records it adds. */
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

  /** All that is committed by now. */
  async present(): Promise<Present> {
    await this.#inUse.look()
    return { stored: this.#inUse.stored, configured: this.#inUse.configured }
  }

  /**
   * `decide` may be asked again, when another change came between. All changes check the number of the last one, so what it is given is what it changes. Throws
   * what it throws. Without puts and deletes nothing is changed, but what is there already is known to every process, too, once this resolves.
   */
  async make<T>(decide: (present: Present) => Change<T> | Promise<Change<T>>): Promise<T> {
    const { result, generation } = await commitDecision<Made<T>>(this.backend, async () => {
      const present = await this.present()
      return committed(present.stored, await decide(present))
    })
    await this.#spread(generation)
    return result
  }

  /** Whoever has not said that it knows the change by the end of the lease reads it before its next request. */
  async #spread(generation: number): Promise<void> {
    const lease = this.#time.sleep(limits.identityLeaseMs)
    const known = Promise.all([this.#inUse.learn(generation), this.#tell(generation)]).catch(() => lease.ended)
    await Promise.race([known, lease.ended])
    lease.cancel()
  }
}

interface Made<T> {
  result: T
  /** Of the change, or of the last one where there is nothing to change. */
  generation: number
}

function committed<T>(
  { generation, entries, check }: StoredIdentities,
  { result, puts = [], deletes = [], checks = [], adds }: Change<T>,
): Decision<Made<T>> {
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
