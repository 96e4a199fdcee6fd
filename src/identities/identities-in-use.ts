/**
 * The identities that one process uses, and for how long it may use them. It looks for changes now and then, and never verifies a request with knowledge older
 * than the lease (ADR 0036).
 */
import { type Account, type Credentials, openCredentials } from '../auth/credentials.ts'
import type { Clock } from '../clock.ts'
import { S3Error } from '../errors.ts'
import type { LeaseTime } from '../lease-time.ts'
import { limits } from '../limits.ts'
import { KnownMaker } from './known.ts'
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
  /** The process knows everything that was committed before this time, in milliseconds of `LeaseTime`. */
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

  /** See `Credentials`. Every request calls this. */
  renewal(): Promise<void> | undefined {
    return this.#isFresh() ? undefined : this.#renew()
  }

  /** Throws when the accounts contradict each other, and then changes nothing. */
  replaceConfigured(accounts: readonly Account[]): void {
    this.credentials.replace(accounts)
    this.#configured = accounts
    this.#warnOfClashes()
    this.credentials.learn(this.#maker.known(this.#stored, accounts))
  }

  /** Resolves when this process knows this generation or a newer one. Rejects with ServiceUnavailable. */
  async learn(generation: number): Promise<void> {
    if (this.#stored.generation !== generation) await this.look()
    if (this.#stored.generation < generation) throw notKnown()
  }

  /** Resolves when this process knows everything that was committed before the call. */
  async look(): Promise<void> {
    // A look that began before the call can have read too early.
    await this.#looking?.catch(() => {})
    await this.keepUp()
  }

  /** Resolves when no look is under way. */
  async settled(): Promise<void> {
    await this.#looking?.catch(() => {})
  }

  /** Starts a look, or joins the one under way. */
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

  /** Looks again when the look took longer than the lease, for instance because the process was stopped in the middle of it. */
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
          this.#warn(`access key ${accessKeyId} of the configuration replaces one that was made at run time`)
  }
}

function notKnown(cause?: unknown): S3Error {
  return new S3Error('ServiceUnavailable', {
    message: 'Access keys cannot be looked up now. Please try again.',
    cause,
  })
}
