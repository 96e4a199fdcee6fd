/** The way out of the quarantine of orphans: only by time, and a clean check of all metadata that began once they were in; and never what is referenced. */
import { beforeEach, expect, test } from 'vitest'
import { advanceLockClock } from '../../../src/commits/lock-clock.ts'
import { findOrphans } from '../../../src/jobs/orphans/find-orphans.ts'
import { quarantined, releaseOrphans } from '../../../src/jobs/orphans/release-orphans.ts'
import { type CheckReport, isClean } from '../../../src/kv/kv.ts'
import { objectKey } from '../../../src/records/keyspace.ts'
import { garbageOf, put, read, storeWithBucket, type TestStore } from '../../objects/fixture.ts'
import { graceMs } from '../fixture.ts'

const dayMs = 24 * 60 * 60_000
const quarantineMs = 7 * dayMs

let made: TestStore
/** What the last check found, as the release is told. */
let checks: number
let report: Partial<CheckReport>

beforeEach(async () => {
  made = await storeWithBucket()
  // As the jobs do first. The first mark takes a check of its own.
  await advanceLockClock(made.backend)
  checks = 0
  report = {}
})

/** The metadata forgets an object, as it does when a bit of its key has flipped: its shard seems to be an orphan. */
async function hide(key: string): Promise<() => Promise<unknown>> {
  const dbKey = objectKey('bucket', key)
  const [entry] = await made.kv.get([dbKey])
  if (entry === undefined) throw new Error(`there is no ${key}`)
  await made.kv.commit({ deletes: [dbKey] })
  return () => made.kv.commit({ puts: [{ key: dbKey, value: entry.value }] })
}

async function search(): Promise<number> {
  await made.shards.compact({ graceMs, move: async () => false })
  made.clock.advance(graceMs)
  return findOrphans(made.backend, { graceMs })
}

/** With checks that find what `report` says, beside what there is. */
function release(): Promise<number> {
  const { integrity } = made.kv
  const told = {
    ...integrity,
    lastCheck: async () => {
      const last = await integrity.lastCheck()
      return last && { ...last, ...report }
    },
  }
  const kv = new Proxy(made.kv, { get: (target, name) => (name === 'integrity' ? told : bound(target, name)) })
  const check = async (): Promise<void> => {
    checks++
    await integrity.check()
  }
  return releaseOrphans({ ...made.backend, kv }, { quarantineMs, check })
}

function bound(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target)
  return typeof value === 'function' ? value.bind(target) : value
}

async function inQuarantine(): Promise<number> {
  let count = 0
  for await (const _ of quarantined(made.backend)) count++
  return count
}

test('nothing leaves sooner because the clock of the machine was set ahead', async () => {
  await put(made, 'key', 'value')
  await hide('key')
  expect(await search()).toBe(1)
  made.clock.set(2 * quarantineMs)
  expect(await release()).toBe(0)
  made.clock.set(-2 * quarantineMs)
  expect([await release(), await inQuarantine()]).toEqual([0, 1])
})

test('nothing leaves before its time, and nothing is checked for it', async () => {
  await put(made, 'key', 'value')
  await hide('key')
  expect(await search()).toBe(1)
  made.clock.advance(quarantineMs - 2)
  expect(await release()).toBe(0)
  expect([checks, await inQuarantine()]).toEqual([0, 1])
  made.clock.advance(2)
  expect(await release()).toBe(1)
  expect([checks, await inQuarantine()]).toEqual([1, 0])
  expect(await garbageOf(made)).toHaveLength(1)
})

test('what a record references after all is forgotten, and becomes no garbage', async () => {
  await put(made, 'key', 'value')
  await put(made, 'gone', 'value')
  const showKey = await hide('key')
  await hide('gone')
  expect(await search()).toBe(2)
  await showKey()
  made.clock.advance(quarantineMs)
  expect(await release()).toBe(1)
  expect(await inQuarantine()).toBe(0)
  expect(await garbageOf(made)).toHaveLength(1)
  expect((await read(made, 'key')).toString()).toBe('value')
})

test.each([
  ['found damaged records', { damagedRecords: 1 }],
  ['began before they were in', { coversBelow: 0 }],
])('nothing leaves after a check that %s', async (_, found) => {
  await put(made, 'key', 'value')
  await hide('key')
  await search()
  made.clock.advance(quarantineMs)
  report = found
  expect(await release()).toBe(0)
  expect([checks, await inQuarantine(), await garbageOf(made)]).toEqual([1, 1, []])
  report = {}
  expect(await release()).toBe(1)
})

test('the check that stands for a release is a clean one', async () => {
  expect(isClean(await made.kv.integrity.check())).toBe(true)
})
