/** A bucket with one version under a lock, and those who try to get rid of it. Says what is still there of the version and its lock. */
import type { Principal } from '../../src/auth/principal.ts'
import { openBlobs } from '../../src/blobs/blobs.ts'
import type { Backend } from '../../src/commits/backend.ts'
import { advanceLockClock } from '../../src/commits/lock-clock.ts'
import type { Kv } from '../../src/kv/kv.ts'
import { memoryKv } from '../../src/kv/memory.ts'
import { operations } from '../../src/operations/table.ts'
import type { Retention, RetentionMode } from '../../src/records/object-attributes.ts'
import { memoryShardStore } from '../../src/stores/memory.ts'
import type { ShardStore } from '../../src/stores/shard-store.ts'
import { noThreads } from '../../src/threads/threads.ts'
import { testKeys } from '../objects/fixture.ts'
import { patternBytes, seededClock, seededRandom, type TestClock } from '../support/seeded.ts'
import { bytesOf, DirectClient, type Lock, owner, putInputs } from './direct-client.ts'

export const hourMs = 60 * 60 * 1000

export interface LockState {
  name: string
  /** Asked for with the write. */
  mode?: RetentionMode
  hold?: boolean
  /** The bucket's default, in place of what the write asks for. */
  byDefault?: RetentionMode
  /** Its time is over when the attempts begin. */
  expired?: boolean
}

export const lockStates: readonly LockState[] = [
  { name: 'none' },
  { name: 'governance', mode: 'GOVERNANCE' },
  { name: 'compliance', mode: 'COMPLIANCE' },
  { name: 'hold', hold: true },
  { name: 'governance and hold', mode: 'GOVERNANCE', hold: true },
  { name: 'compliance and hold', mode: 'COMPLIANCE', hold: true },
  { name: 'governance, expired', mode: 'GOVERNANCE', expired: true },
  { name: 'compliance, expired', mode: 'COMPLIANCE', expired: true },
  { name: 'compliance, expired, and hold', mode: 'COMPLIANCE', expired: true, hold: true },
  { name: 'governance by default', byDefault: 'GOVERNANCE' },
  { name: 'compliance by default', byDefault: 'COMPLIANCE' },
]

/** Where among the versions of its key the locked one lies, and what it is made of. */
export const places = ['latest', 'older', 'under a marker', 'null', 'of parts'] as const
export type Place = (typeof places)[number]

/** A default retention is given by the write alone, which for the null version came before the bucket had Object Lock. */
export function isPossible({ byDefault }: LockState, place: Place): boolean {
  return byDefault === undefined || place !== 'null'
}

const everyPermission = [
  ...new Set(
    operations.flatMap(({ permission, versionPermission = permission }) => [permission, versionPermission].flat()),
  ),
  's3:BypassGovernanceRetention',
]

export interface Actor {
  name: string
  principal: Principal
  owns: boolean
  may(permission: string): boolean
}

/** Whoever may try `permission`. */
export function actorsFor(permission: string): Actor[] {
  const without = (...lacking: string[]): Actor => {
    const permissions = everyPermission.filter((each) => !lacking.includes(each))
    return {
      name: `a key without ${lacking.join(' and ')}`,
      principal: { ...owner, permissions },
      owns: true,
      may: (asked) => permissions.includes(asked),
    }
  }
  return [
    { name: 'the owner', principal: owner, owns: true, may: () => true },
    { name: 'another account', principal: { ...owner, accountId: 'other' }, owns: false, may: () => true },
    without('s3:BypassGovernanceRetention'),
    without(permission),
  ]
}

/** The version can't be read as it must be. */
export class Unreadable extends Error {}

/** What there is of the locked version. */
export interface Found {
  /** `undefined`: it is gone. */
  bytes: Buffer | undefined
  lock: Lock
}

export const key = 'key'
const writtenBytes = 100
const lockedHours = 10
const defaultDays = 1

interface Parts {
  clock?: TestClock
  kv?: Kv
  shards?: ShardStore
}

export class World {
  readonly backend: Backend
  readonly clock: TestClock
  readonly client: DirectClient
  readonly bytes = patternBytes(7, writtenBytes)
  /** Of the version under the lock. */
  versionId = ''
  /** The upload that it was made by, where it was. */
  uploadId: string | undefined
  /** The lock as it was given, and as the rule says it has become. */
  lock: Lock = {}
  /** The time that the server may believe: what has truly passed. */
  believedMs: number

  constructor({
    clock = seededClock(seededRandom(1)),
    kv = memoryKv(),
    shards = memoryShardStore({ clock }),
  }: Parts = {}) {
    const blobs = openBlobs([{ name: 'default', version: 1, scheme: 'replica', stores: [shards] }])
    this.clock = clock
    this.backend = { kv, blobs, clock, keys: testKeys, threads: noThreads() }
    this.client = new DirectClient(this.backend, 'bucket')
    this.believedMs = clock.now()
  }

  async build(state: LockState, place: Place): Promise<this> {
    await advanceLockClock(this.backend)
    if (place === 'null') await this.#writeBeforeLock(state)
    else await this.#writeLocked(state, place)
    await this.client.must('PutObject', { key: 'source' }, putInputs(Buffer.from('source')))
    if (place === 'older') await this.client.must('PutObject', { key }, putInputs(Buffer.from('newer')))
    if (place === 'under a marker') await this.client.must('DeleteObject', { key })
    if (state.expired === true) await this.pass(lockedHours + 1)
    return this
  }

  /** Time passes, and the server runs. */
  async pass(hours: number): Promise<void> {
    this.clock.advance(hours * hourMs)
    this.believedMs += hours * hourMs
    await advanceLockClock(this.backend)
  }

  /** What the owner reads of the version by its name, by each way of reading. Throws Unreadable, also when they contradict each other. */
  async find(): Promise<Found> {
    const { versionId } = this
    const { code, answer } = await this.client.ask('GetObject', { key }, { versionId })
    if (code === 'NoSuchVersion') return { bytes: undefined, lock: {} }
    if (code !== 'ok') throw new Unreadable(`GET of the version is answered ${code}`)
    const { objectLockMode: mode, objectLockRetainUntilDate: until, objectLockLegalHold: hold } = answer
    const lock = {
      retention: mode === undefined ? undefined : ({ mode, untilMs: Date.parse(String(until)) } as Retention),
      hold: hold === undefined ? undefined : hold === 'ON',
    }
    await this.#expectLockElements(lock)
    return { bytes: await bytesOf(answer), lock }
  }

  async #expectLockElements({ retention, hold }: Lock): Promise<void> {
    const { versionId } = this
    const retained = await this.client.ask('GetObjectRetention', { key }, { versionId })
    const held = await this.client.ask('GetObjectLegalHold', { key }, { versionId })
    const { Mode, RetainUntilDate } = (retained.answer.body ?? {}) as Record<string, unknown>
    const { Status } = (held.answer.body ?? {}) as Record<string, unknown>
    const agree =
      Mode === retention?.mode &&
      RetainUntilDate === retention?.untilMs &&
      Status === (hold === undefined ? undefined : hold ? 'ON' : 'OFF')
    if (!agree) throw new Unreadable('GetObject, GetObjectRetention and GetObjectLegalHold contradict each other')
  }

  async #writeLocked({ mode, hold, byDefault }: LockState, place: Place): Promise<void> {
    await this.client.must('CreateBucket', {}, { objectLockEnabled: true })
    if (byDefault !== undefined) await this.configure({ DefaultRetention: { Mode: byDefault, Days: defaultDays } })
    const asked = { retention: mode && { mode, untilMs: this.clock.now() + lockedHours * hourMs }, hold }
    if (place === 'of parts') {
      const upload = await this.client.upload(key, this.bytes, asked)
      const { versionId } = await this.client.must('CompleteMultipartUpload', { key }, upload)
      this.uploadId = String(upload.uploadId)
      this.versionId = String(versionId)
    } else {
      this.versionId = String((await this.client.must('PutObject', { key }, putInputs(this.bytes, asked))).versionId)
    }
    const given = byDefault && { mode: byDefault, untilMs: this.clock.now() + defaultDays * 24 * hourMs }
    this.lock = { retention: asked.retention ?? given, hold }
  }

  async #writeBeforeLock({ mode, hold }: LockState): Promise<void> {
    await this.client.must('CreateBucket')
    await this.client.must('PutObject', { key }, putInputs(this.bytes))
    await this.client.must('PutBucketVersioning', {}, { body: { Status: 'Enabled' } })
    await this.configure(undefined)
    this.versionId = 'null'
    const address = { versionId: 'null' }
    const retention = mode && { mode, untilMs: this.clock.now() + lockedHours * hourMs }
    if (retention !== undefined) {
      const body = { Mode: retention.mode, RetainUntilDate: retention.untilMs }
      await this.client.must('PutObjectRetention', { key }, { ...address, body })
    }
    if (hold !== undefined) {
      await this.client.must('PutObjectLegalHold', { key }, { ...address, body: { Status: 'ON' } })
    }
    this.lock = { retention, hold }
  }

  async configure(Rule: Record<string, unknown> | undefined): Promise<void> {
    await this.client.must('PutObjectLockConfiguration', {}, { body: { ObjectLockEnabled: 'Enabled', Rule } })
  }
}
