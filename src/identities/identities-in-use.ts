/**
 * What one process knows of the identities, and for how long it may go by that. It looks now and then whether they have changed, and verifies no request by
 * what it last learned longer ago than the lease (ADR 0036).
 */
import { type Account, type Credentials, openCredentials } from '../auth/credentials.ts'
import type { Clock } from '../clock.ts'
import { S3Error } from '../errors.ts'
import { limits } from '../limits.ts'
import { KnownMaker } from './known.ts'
import type { LeaseTime } from './lease-time.ts'
import { type IdentityReader, StoredIdentities } from './stored-identities.ts'

export interface InUseOptions {
  reader: IdentityReader
  accounts: readonly Account[]
  clock: Pick<Clock, 'now'>
  time: LeaseTime
  warn(message: string): void
}

export class IdentitiesInUse {
  readonly credentials: Credentials
  readonly #reader: IdentityReader
  readonly #time: LeaseTime
  readonly #warn: (message: string) => void
  readonly #maker = new KnownMaker()
  #configured: readonly Account[]
  #stored = new StoredIdentities()
  /** Everything that was committed by then is known. */
  #knownMs = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | undefined

  constructor({ reader, accounts, clock, time, warn }: InUseOptions) {
    this.#reader = reader
    this.#time = time
    this.#warn = warn
    this.#configured = accounts
    this.credentials = openCredentials(accounts, { clock, renewal: () => this.renewal() })
  }

  get stored(): StoredIdentities {
    return this.#stored
  }

  get configured(): readonly Account[] {
    return this.#configured
  }

  /** See `Credentials`. Every request comes by here. */
  renewal(): Promise<void> | undefined {
    return this.#isFresh() ? undefined : this.#renew()
  }

  /** Throws when the accounts contradict each other; then nothing changes. */
  replaceConfigured(accounts: readonly Account[]): void {
    this.credentials.replace(accounts)
    this.#configured = accounts
    this.#warnOfClashes()
    this.credentials.learn(this.#maker.known(this.#stored, accounts))
  }

  /** Resolves once this process knows this generation, or a newer one. */
  async learn(generation: number): Promise<void> {
    if (this.#stored.generation !== generation) await this.look()
    if (this.#stored.generation < generation) throw notKnown()
  }

  /** Resolves once everything is known that was committed before the call. */
  async look(): Promise<void> {
    // What began before the call may have read too early.
    await this.#looking?.catch(() => {})
    await this.keepUp()
  }

  /** Resolves when nothing is read any more. */
  async settled(): Promise<void> {
    await this.#looking?.catch(() => {})
  }

  /** Joins a look that is under way. */
  keepUp(): Promise<void> {
    this.#looking ??= this.#readChanges().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #readChanges(): Promise<void> {
    const beganMs = this.#time.nowMs()
    const isFirst = this.#knownMs === Number.NEGATIVE_INFINITY
    if (isFirst || (await this.#reader.generation()) !== this.#stored.generation) {
      this.#stored = await this.#reader.read()
      if (isFirst) this.#warnOfClashes()
      this.credentials.learn(this.#maker.known(this.#stored, this.#configured))
    }
    this.#knownMs = beganMs
  }

  #isFresh(): boolean {
    return this.#time.nowMs() - this.#knownMs <= limits.identityLeaseMs
  }

  /** A process that was stopped in the middle of a look begins another. */
  async #renew(): Promise<void> {
    for (let tries = 0; tries < 3; tries++) {
      await this.keepUp().catch((cause: unknown) => {
        throw notKnown(cause)
      })
      if (this.#isFresh()) return
    }
    throw notKnown()
  }

  #warnOfClashes(): void {
    for (const account of this.#configured)
      for (const { accessKeyId } of account.keys)
        if (this.#stored.keys.has(accessKeyId))
          this.#warn(`access key ${accessKeyId} of the configuration takes the place of one that was made at run time`)
  }
}

function notKnown(cause?: unknown): S3Error {
  return new S3Error('ServiceUnavailable', {
    message: 'Access keys cannot be looked up now. Please try again.',
    headers: { 'Retry-After': String(limits.retryAfterSeconds) },
    cause,
  })
}
