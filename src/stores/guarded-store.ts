/**
 * A store that can fail without taking the service down. After errors it is taken out of use and probed regularly, until it works again.
 * While it is out, every call is refused at once.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { ByteSource } from '../byte-source.ts'
import type { Clock } from '../clock.ts'
import { S3Error } from '../errors.ts'
import { failureText } from '../file-failure.ts'
import { limits } from '../limits.ts'
import {
  type CompactOptions,
  type CompactResult,
  type FoundShard,
  type IsGone,
  type MaintenancePost,
  type NewShard,
  ShardDamaged,
  type ShardId,
  type ShardRange,
  type ShardStore,
  StoreFenced,
  StoreFull,
  StoreOut,
  StoreReadOnly,
  type StoreUsage,
  type UncheckedBatch,
} from './shard-store.ts'

export interface StoreCondition {
  /** `full`: only reads and deletes work. `read-only`: only reads work. `out`: nothing works. */
  state: 'up' | 'full' | 'read-only' | 'out'
  reason: string | undefined
}

export interface GuardOptions {
  name: string
  /** The failure domain: what fails together with it. */
  domain: string
  /** The store that the metadata refers to. No other store is accepted. */
  storeId: string
  /** Reads the same id again, because another store may have replaced a lost one. */
  knownStoreId?(): Promise<string | undefined>
  /** `first`: no other process has the store open. `storeId`: the current id. `onFatal`: called when the opened store can promise nothing any more. */
  open(how: { first: boolean; storeId: string; onFatal(error: Error): void }): Promise<ShardStore>
  /** Whether the process that owns the store opens it for the first time. */
  firstOpener: boolean
  clock: Clock
  warn(message: string): void
}

/** Resolves even if the store can't be opened. It is out then. */
export async function openGuardedStore(options: GuardOptions): Promise<GuardedStore> {
  const guarded = new GuardedStore(options)
  await guarded.start()
  return guarded
}

export class GuardedStore implements ShardStore {
  readonly name: string
  readonly domain: string
  #storeId: string
  readonly #options: GuardOptions
  readonly #probes: NodeJS.Timeout
  #inner: ShardStore | undefined
  /** Why it is out. */
  #reason: string | undefined
  /** The store stays out until this process ends, because a sync has failed. */
  #isFinal = false
  #errorsInARow = 0
  /** Why the store refused new data, and until when to offer it none. */
  #refusal: { state: 'full' | 'read-only'; reason: string; untilMs: number } | undefined
  #looking: Promise<void> | undefined
  #lookingNext: Promise<void> | undefined
  /** Stores that were taken out: their writes under way end first, unless they hang. */
  readonly #closing = new Set<Promise<void>>()
  #closed = false

  constructor(options: GuardOptions) {
    this.#options = options
    this.name = options.name
    this.domain = options.domain
    this.#storeId = options.storeId
    this.#probes = setInterval(() => this.#lookRegularly(), limits.storeProbeMs).unref()
  }

  get storeId(): string {
    return this.#storeId
  }

  start(): Promise<void> {
    return this.#look(this.#options.firstOpener)
  }

  condition(): StoreCondition {
    if (this.#reason !== undefined) return { state: 'out', reason: this.#reason }
    const refusal = this.#refusal
    if (refusal === undefined || this.#options.clock.now() >= refusal.untilMs) return { state: 'up', reason: undefined }
    return { state: refusal.state, reason: refusal.reason }
  }

  /** Checks whether the right store is there, and takes it out of use or back in accordingly. Never rejects. */
  probe(): Promise<void> {
    if (this.#closed) return Promise.resolve()
    this.#looking ??= this.#look(false).finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  /** While the store is out, checks whether another store has replaced it. Errors: those of `knownStoreId`. */
  async follow(): Promise<void> {
    if (this.#inner !== undefined) return
    const known = await this.#options.knownStoreId?.()
    if (known === undefined || known === this.#storeId) return
    this.#options.warn(`store ${this.name} is a new one from now on`)
    this.#storeId = known
    this.#isFinal = false
    this.#refusal = undefined
  }

  /** Records an error of the store, and checks the store if need be. */
  blame(error: unknown): void {
    void this.#judge(error)
  }

  takeOut(error: unknown): void {
    const reason = failureText(error)
    if (this.#reason === undefined) this.#options.warn(`store ${this.name} is taken out of use: ${reason}`)
    this.#reason ??= reason
    const inner = this.#inner
    this.#inner = undefined
    if (inner === undefined) return
    const closing = inner
      .close()
      .catch(() => {})
      .finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }

  async put({ payload, describe }: NewShard): Promise<ShardId> {
    let payloadFailed = false
    const noting = noteFailure(payload, () => {
      payloadFailed = true
    })
    try {
      const id = await this.#required().put({ payload: noting, describe })
      this.#errorsInARow = 0
      this.#accepted()
      return id
    } catch (error) {
      payload.cancel()
      // A client that retries, or a caller that chooses another store, must not meet a store that is known to be gone.
      if (!payloadFailed) await withinMs(this.#judge(error), limits.storeLookMsMax)
      throw error
    }
  }

  /** The caller reports errors through `blame`, both of this call and of the source. */
  async get(id: ShardId, range: ShardRange): Promise<ByteSource> {
    return this.#required().get(id, range)
  }

  description(id: ShardId): Promise<Buffer> {
    return this.#ask((store) => store.description(id))
  }

  delete(ids: readonly ShardId[], post?: MaintenancePost): Promise<void> {
    return this.#ask((store) => store.delete(ids, post))
  }

  unchecked(): Promise<UncheckedBatch[]> {
    return this.#ask((store) => store.unchecked())
  }

  async *list(batchId?: string): AsyncGenerator<FoundShard> {
    yield* this.#required().list(batchId)
  }

  markChecked(batchId: string, post?: MaintenancePost): Promise<void> {
    return this.#ask((store) => store.markChecked(batchId, post))
  }

  closeAbandoned(isGone: IsGone, post?: MaintenancePost): Promise<number> {
    return this.#ask((store) => store.closeAbandoned(isGone, post))
  }

  compact(options: CompactOptions, post?: MaintenancePost): Promise<CompactResult> {
    return this.#ask((store) => store.compact(options, post))
  }

  async check(): Promise<void> {
    await this.probe()
    this.#required()
  }

  usage(): Promise<StoreUsage> {
    return this.#ask((store) => store.usage())
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#probes)
    await this.#looking
    await this.#inner?.close()
    await Promise.race([Promise.all(this.#closing), delay(limits.storeProbeMs, undefined, { ref: false })])
  }

  /** Resolves after a check of the store, if the error calls for one. Never rejects. */
  async #judge(error: unknown): Promise<void> {
    if (error instanceof StoreOut || error instanceof S3Error || error instanceof StoreFenced) return
    if (error instanceof StoreFull) return this.#refused('full', 'it has no room left')
    if (error instanceof StoreReadOnly) return this.#refused('read-only', error.message)
    // A damaged shard is not an error of the store, but a reason to check it: more may be gone.
    if (!(error instanceof ShardDamaged)) this.#errorsInARow++
    if (this.#errorsInARow >= limits.storeErrorsMax) this.takeOut(error)
    else await this.#lookAnew()
  }

  /** Warns only once, however long the state lasts. */
  #refused(state: 'full' | 'read-only', reason: string): void {
    if (this.#refusal?.state !== state) this.#options.warn(`store ${this.name} takes no new data: ${reason}`)
    this.#refusal = { state, reason, untilMs: this.#options.clock.now() + limits.storeFullMs }
  }

  #accepted(): void {
    if (this.#refusal !== undefined) this.#options.warn(`store ${this.name} takes new data again`)
    this.#refusal = undefined
  }

  #lookRegularly(): void {
    this.#errorsInARow = 0
    void this.probe()
  }

  /** A check that begins after the call. Calls during a running check share the next one. */
  #lookAnew(): Promise<void> {
    if (this.#looking === undefined) return this.probe()
    this.#lookingNext ??= this.#looking.then(() => {
      this.#lookingNext = undefined
      return this.probe()
    })
    return this.#lookingNext
  }

  async #look(first: boolean): Promise<void> {
    try {
      if (this.#inner === undefined) {
        await this.follow()
        if (this.#isFinal) return
        this.#inner = await this.#open(first)
      } else await this.#inner.check()
      if (this.#reason === undefined) return
      this.#options.warn(`store ${this.name} is back in use`)
      this.#reason = undefined
      this.#errorsInARow = 0
    } catch (error) {
      this.takeOut(error)
    }
  }

  async #open(first: boolean): Promise<ShardStore> {
    const { storeId } = this
    const store = await this.#options.open({ first, storeId, onFatal: (error) => this.#end(error) })
    if (store.storeId === storeId) return store
    await store.close()
    throw new Error('another store lies in its place')
  }

  #end(error: Error): void {
    this.#isFinal = true
    this.takeOut(error)
  }

  #required(): ShardStore {
    if (this.#inner === undefined) throw new StoreOut(this.name, this.#reason ?? 'it is not open yet')
    return this.#inner
  }

  async #ask<T>(question: (store: ShardStore) => Promise<T>): Promise<T> {
    try {
      return await question(this.#required())
    } catch (error) {
      this.blame(error)
      throw error
    }
  }
}

async function withinMs(work: Promise<void>, ms: number): Promise<void> {
  const timeout = new AbortController()
  await Promise.race([work, delay(ms, undefined, { signal: timeout.signal, ref: false }).catch(() => {})])
  timeout.abort()
}

/** `payload`, which also calls `failed` when it fails itself, as opposed to its reader. */
function noteFailure(payload: ByteSource, failed: () => void): ByteSource {
  return {
    size: payload.size,
    async drain(sink) {
      let sinkFailed = false
      const watched = async (busy: Promise<void>): Promise<void> => {
        try {
          await busy
        } catch (error) {
          sinkFailed = true
          throw error
        }
      }
      try {
        await payload.drain((chunk) => {
          try {
            const busy = sink(chunk)
            return busy === undefined ? undefined : watched(busy)
          } catch (error) {
            sinkFailed = true
            throw error
          }
        })
      } catch (error) {
        if (!sinkFailed) failed()
        throw error
      }
    },
    read: () =>
      payload.read().catch((error) => {
        failed()
        throw error
      }),
    cancel: () => payload.cancel(),
  }
}
