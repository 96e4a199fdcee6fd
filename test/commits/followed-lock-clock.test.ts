/** The time that locks are judged by in processes of other hosts, which follow the mark of the one that advances it. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { Backend } from '../../src/commits/backend.ts'
import { advanceLockClock, FollowedLockClock, lockNow } from '../../src/commits/lock-clock.ts'
import { limits } from '../../src/limits.ts'
import { createBucket } from '../../src/objects/buckets.ts'
import { setRetention } from '../../src/objects/change-version.ts'
import { deleteObject } from '../../src/objects/delete-object.ts'
import { lockClockKey } from '../../src/records/keyspace.ts'
import { memoryStore, outcome, put, scope, type TestStore } from '../objects/fixture.ts'
import { seededClock, seededRandom } from '../support/seeded.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** One member: all share the database's clock, and each measures by the uptime of its own host. */
interface Member {
  backend: Backend
  /** Of this member's host. */
  upMs: number
}

let made: TestStore
let databaseMs: number
let members: Member[]
let versionId: string

/** `follows: false`: the maintainer. */
function join(boot: string, { follows = true } = {}): Member {
  const member: Member = { upMs: 1_000 * (members.length + 1), backend: made.backend }
  const uptime = () => ({ boot, ms: member.upMs })
  const clock = { ...seededClock(seededRandom(members.length)), now: () => databaseMs, uptime }
  member.backend = { ...made.backend, clock, ...(follows ? { lockClock: new FollowedLockClock() } : {}) }
  members.push(member)
  return member
}

/** Time passes for all. `advancing`: by whom the mark is advanced once a minute. */
async function passes(ms: number, advancing?: Member): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += minuteMs) {
    databaseMs += minuteMs
    for (const member of members) member.upMs += minuteMs
    if (advancing !== undefined) await advanceLockClock(advancing.backend)
  }
}

const removal = ({ backend }: Member): Promise<string> =>
  outcome(deleteObject(backend, scope, { key: 'key', versionId, bypassGovernance: true }))

let maintainer: Member
let follower: Member

beforeEach(async () => {
  made = memoryStore()
  members = []
  databaseMs = Date.UTC(2026, 0, 1)
  maintainer = join('first host', { follows: false })
  follower = join('second host')
  const { backend } = maintainer
  const objectLock = { defaultRetention: undefined }
  await createBucket(backend, {
    name: 'bucket',
    owner: 'main',
    location: 'default',
    locationConstraint: undefined,
    objectLock,
  })
  versionId = (await put({ backend }, 'key')).versionId
  const untilMs = (await lockNow(backend)) + hourMs
  await setRetention(backend, scope, { key: 'key' }, { mode: 'COMPLIANCE', untilMs }, false)
})

describe('a lock of an hour', () => {
  it('ends after an hour on each member', async () => {
    await passes(59 * minuteMs, maintainer)
    expect(await removal(follower)).toBe('AccessDenied')
    await passes(minuteMs, maintainer)
    expect(await removal(follower)).toBe('ok')
  })

  it.each<[string, aheadMs: number]>([
    ['set ahead by 20 days', 20 * dayMs],
    ['set ahead by what one machine would believe as downtime', limits.lockClockDowntimeMs - hourMs],
    ['set ahead by what one machine would believe as a step', limits.lockClockStepsMs - hourMs],
    ['set back', -20 * dayMs],
  ])('is not judged by any follower by a database clock that was %s', async (_, aheadMs) => {
    await lockNow(follower.backend)
    databaseMs += aheadMs
    expect(await removal(follower)).toBe('AccessDenied')
    expect(await removal(join('third host'))).toBe('AccessDenied')
    await passes(59 * minuteMs)
    expect(await removal(follower)).toBe('AccessDenied')
    await passes(minuteMs)
    expect(await removal(follower)).toBe('ok')
  })

  it('stays on every member, whoever becomes the maintainer, when the database clock is set ahead by 20 days', async () => {
    databaseMs += 20 * dayMs
    for (let host = 0; host < 20; host++) {
      const next = join(`host ${host}`, { follows: false })
      await advanceLockClock(next.backend)
      expect(await removal(next)).toBe('AccessDenied')
      expect(await removal(follower)).toBe('AccessDenied')
      expect(await removal(join(`follower ${host}`))).toBe('AccessDenied')
    }
  })

  it('ends later, never sooner, on a member that starts while nobody advances the mark', async () => {
    await passes(30 * minuteMs)
    const late = join('third host')
    expect(await removal(late)).toBe('AccessDenied')
    await passes(59 * minuteMs)
    expect(await removal(late)).toBe('AccessDenied')
    await passes(minuteMs)
    expect(await removal(late)).toBe('ok')
  })

  it('ends in time on a member that started with an old mark, when the mark is advanced', async () => {
    await passes(30 * minuteMs)
    const late = join('third host')
    await lockNow(late.backend)
    await passes(29 * minuteMs, maintainer)
    expect(await removal(late)).toBe('AccessDenied')
    await passes(minuteMs, maintainer)
    expect(await removal(late)).toBe('ok')
  })
})

it('a follower never goes back when a new mark is behind what it has measured', async () => {
  const before = await lockNow(follower.backend)
  await passes(hourMs)
  expect(await lockNow(follower.backend)).toBe(before + hourMs)
  // The maintainer's host was started again, and the database's clock set back: it has measured nothing.
  databaseMs -= 10 * hourMs
  await advanceLockClock(join('first host, again', { follows: false }).backend)
  expect(await lockNow(follower.backend)).toBe(before + hourMs)
})

it('a follower makes the first mark, and does not change one that the maintainer makes at the same time', async () => {
  const mark = async () => (await made.kv.get([lockClockKey]))[0]?.value
  await made.kv.commit({ deletes: [lockClockKey] })
  let theirs: Buffer | undefined
  made.kv.beforeNextCommit(async () => {
    await advanceLockClock(maintainer.backend)
    theirs = await mark()
    databaseMs += hourMs
  })
  await lockNow(follower.backend)
  expect(theirs).toBeDefined()
  expect(await mark()).toEqual(theirs)
  await made.kv.commit({ deletes: [lockClockKey] })
  await lockNow(follower.backend)
  expect(await mark()).toBeDefined()
})
