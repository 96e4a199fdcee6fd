/** The server's operations and the model of it, side by side, and what commands mean to both. */
import { expect } from 'vitest'
import { openBlobs } from '../../src/blobs/blobs.ts'
import type { Backend } from '../../src/commits/backend.ts'
import { lockNow } from '../../src/commits/lock-clock.ts'
import type { Kv } from '../../src/kv/kv.ts'
import type { Retention } from '../../src/records/object-attributes.ts'
import { memoryShardStore } from '../../src/stores/memory.ts'
import { noThreads } from '../../src/threads/threads.ts'
import { testKeys } from '../objects/fixture.ts'
import { seededClock, seededRandom, type TestClock } from '../support/seeded.ts'
import { type Code, DirectClient, type Lock, type Outcome } from './direct-client.ts'
import { ModelBucket, type ModelVersion, type VersionId } from './version-model.ts'
import type { LockAsk, Pick, RetentionAsk } from './version-model-commands.ts'

export const hourMs = 60 * 60 * 1000

export class Twins {
  readonly clock: TestClock = seededClock(seededRandom(1))
  readonly backend: Backend
  readonly client: DirectClient
  readonly #lock: boolean
  model: ModelBucket
  /** By key, in the order in which they were given. */
  readonly #idsGiven = new Map<string, string[]>()

  constructor(lock: boolean, seen: Set<string>, kv: Kv) {
    const shards = memoryShardStore({ clock: this.clock })
    const blobs = openBlobs([{ name: 'default', version: 1, scheme: 'replica', stores: [shards] }])
    this.backend = { kv, blobs, clock: this.clock, keys: testKeys, threads: noThreads() }
    this.client = new DirectClient(this.backend, 'bucket', (name, { code }) => seen.add(`${name} ${code}`))
    this.#lock = lock
    this.model = new ModelBucket(lock)
  }

  /** Makes the bucket, for the first time or again. */
  async begin(): Promise<void> {
    await this.client.must('CreateBucket', {}, { objectLockEnabled: this.#lock })
    this.model = new ModelBucket(this.#lock)
  }

  nowMs(): Promise<number> {
    return lockNow(this.backend)
  }

  markerMade(): boolean {
    return this.model.versioning !== 'unversioned'
  }

  versionOf(key: string, id: string): ModelVersion | undefined {
    return this.model.versionsOf(key).find((version) => version.id === id)
  }

  /** What an answer says of a version's name. */
  shown(id: string): string | undefined {
    return this.model.versioning === 'unversioned' ? undefined : id
  }

  /** The name of something newly written is what versioning says it must be. */
  expectFresh(key: string, id: unknown, made: 'object' | 'marker'): void {
    expect(this.model.isFreshId(id, made), `version ${String(id)} in a bucket that is ${this.model.versioning}`).toBe(
      true,
    )
    if (typeof id === 'string') this.#idsGiven.set(key, [...(this.#idsGiven.get(key) ?? []), id])
  }

  named(key: string, pick: Pick): VersionId {
    if (pick === 'latest') return undefined
    if (pick === 'null') return 'null'
    if ('given' in pick) return nth(this.#idsGiven.get(key) ?? [], pick.given)
    if ('others' in pick) return nth([...this.#idsGiven.values()].flat(), pick.others)
    // A name that leads to a place where there may be another version.
    return pick.unknown.toString(16).padStart(12, '0') + '0'.repeat(20)
  }

  lockOf({ retention, hold }: LockAsk): Lock {
    return { retention: this.retentionOf(retention), hold }
  }

  retentionOf(ask: RetentionAsk | undefined): Retention | undefined {
    return ask && { mode: ask.mode, untilMs: this.clock.now() + ask.hours * hourMs }
  }
}

const nth = (ids: readonly string[], n: number): string => ids[n % ids.length] ?? 'null'

export function expectCode({ code }: Outcome, ...expected: readonly Code[]): void {
  expect(expected).toContain(code)
}
