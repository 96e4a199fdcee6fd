/** Locks are asked by the commit itself: what was decided before a lock came, and commits after it, is decided again. */
import { describe, expect, it } from 'vitest'
import { compactStores } from '../../src/jobs/compact.ts'
import { expireUploads } from '../../src/jobs/expire-uploads.ts'
import type { Commit, Key, Kv } from '../../src/kv/kv.ts'
import { memoryKv } from '../../src/kv/memory.ts'
import { bucketKey, objectKey } from '../../src/records/keyspace.ts'
import { DirectClient } from './direct-client.ts'
import { aftermathViolations, stateViolations } from './lock-matrix-checker.ts'
import { churn, directoryWorld } from './lock-matrix-churn.ts'
import { type Race, races } from './lock-matrix-race-rows.ts'
import { key, World } from './lock-matrix-world.ts'

type Interrupt = (commit: Commit) => Promise<unknown> | undefined

const touches = ({ puts = [], deletes = [] }: Commit, touched: Key): boolean =>
  [...puts.map((put) => put.key), ...deletes].some((each) => each.equals(touched))

/** Metadata in which something happens before a commit that `interrupt` picks. */
class InterruptedKv implements Kv {
  readonly #kv = memoryKv()
  readonly #checking: boolean
  interrupt: Interrupt | undefined

  /** `checking: false` is the planted bug: commits apply whatever has changed since they were decided. */
  constructor(checking = true) {
    this.#checking = checking
  }

  readonly integrity = this.#kv.integrity
  get: Kv['get'] = (keys) => this.#kv.get(keys)
  range: Kv['range'] = (query) => this.#kv.range(query)
  snapshot: Kv['snapshot'] = () => this.#kv.snapshot()
  now: Kv['now'] = () => this.#kv.now()
  view: Kv['view'] = (keys, queries, read) => this.#kv.view(keys, queries, read)
  close: Kv['close'] = () => this.#kv.close()

  async commit(commit: Commit): Promise<boolean> {
    const work = this.interrupt?.(commit)
    if (work !== undefined) {
      this.interrupt = undefined
      await work
    }
    return this.#kv.commit(this.#checking ? commit : { ...commit, checks: [] })
  }
}

/** Another process on the same data. */
const otherProcess = ({ backend }: World): DirectClient => new DirectClient({ ...backend }, 'bucket')

async function violationsOf(race: Race, kv = new InterruptedKv()): Promise<string[]> {
  const world = new World({ kv })
  await race.build(world)
  kv.interrupt = (commit) => {
    // An upload that is only being prepared is not what the row is about.
    const decided = touches(commit, bucketKey('bucket')) || touches(commit, objectKey('bucket', key))
    return decided ? race.meanwhile(otherProcess(world), world) : undefined
  }
  const code = await race.first(world)
  world.lock = race.lock(world)
  const violations = code === race.code ? [] : [`answered ${code}, must be ${race.code}`]
  violations.push(...(await stateViolations(world, false)))
  if (race.latest !== undefined) {
    const { answer } = await world.client.ask('HeadObject', { key })
    for (const [name, value] of Object.entries(race.latest))
      if (answer[name] !== value) violations.push(`${name} of the latest version is ${String(answer[name])}`)
  }
  return violations.length > 0 ? violations : aftermathViolations(world)
}

const named = races.map((race) => [race.name, race] as const)

describe('meanwhile', () => {
  it.each(named)('%s', async (_, race) => {
    expect(await violationsOf(race)).toEqual([])
  })
})

describe('where commits check nothing', () => {
  it.each(named)('it is found: %s', async (_, race) => {
    expect(await violationsOf(race, new InterruptedKv(false))).not.toEqual([])
  })
})

it('an upload that is completed while it expires keeps the parts of its locked object', async () => {
  const kv = new InterruptedKv()
  const world = new World({ kv })
  await world.client.must('CreateBucket', {}, { objectLockEnabled: true })
  const completion = await world.client.upload(key, world.bytes, { hold: true })
  world.clock.advance(1)
  kv.interrupt = async () => {
    const { versionId } = await otherProcess(world).must('CompleteMultipartUpload', { key }, completion)
    world.versionId = String(versionId)
  }
  expect(await expireUploads(world.backend, { abandonedUploadMs: 0 })).toBe(0)
  world.lock = { hold: true }
  expect(await aftermathViolations(world)).toEqual([])
})

it('a hold put while compaction moves the version is there after the move', async () => {
  const kv = new InterruptedKv()
  const { world, close } = await directoryWorld(kv)
  await world.build({ name: 'none' }, 'latest')
  await churn(world)
  let moves = 0
  kv.interrupt = (commit) => {
    if (!touches(commit, objectKey('bucket', key))) return undefined
    moves++
    const input = { versionId: world.versionId, body: { Status: 'ON' } }
    return otherProcess(world).must('PutObjectLegalHold', { key }, input)
  }
  await compactStores(world.backend, { graceMs: 0 })
  expect(moves).toBe(1)
  world.lock = { hold: true }
  expect(await aftermathViolations(world)).toEqual([])
  await close()
})
