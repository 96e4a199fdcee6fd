/** What can't be read denies: while a record that locks are asked of is damaged, nothing locked is lost, whatever is tried. */
import { expect, it } from 'vitest'
import type { Entry } from '../../src/kv/kv.ts'
import { bucketKey, historyOf, lockClockKey, nullVersionKey, objectKey } from '../../src/records/keyspace.ts'
import { owner } from './direct-client.ts'
import { attempts, jobs } from './lock-matrix-attempts.ts'
import { stateViolations } from './lock-matrix-checker.ts'
import { key, type Place, places, World } from './lock-matrix-world.ts'

const kindsOfDamage = ['format', 'checksum', 'content', 'truncated'] as const

function damaged(value: Buffer, kind: (typeof kindsOfDamage)[number]): Buffer {
  if (kind === 'truncated') return value.subarray(0, value.length - 1)
  const at = { format: 0, checksum: 2, content: Math.floor((value.length + 5) / 2) }[kind]
  const bytes = Buffer.from(value)
  bytes[at] = (bytes[at] ?? 0) ^ 0x10
  return bytes
}

/** All records by which the server knows the version, its bucket and the time. */
async function recordsOf({ backend }: World): Promise<Entry[]> {
  const single = await backend.kv.get([
    bucketKey('bucket'),
    objectKey('bucket', key),
    nullVersionKey('bucket', key),
    lockClockKey,
  ])
  const history = await backend.kv.range({ ...historyOf('bucket', key), limit: 10 })
  return [...single, ...history].filter((entry) => entry !== undefined)
}

/** Everything that would change nothing of the version if all were well. Resolves with how much of it was refused for the damage. */
async function attemptAll(world: World, place: Place): Promise<number> {
  let refused = 0
  for (const { only = place, make, rule } of [...attempts, ...jobs]) {
    if (only !== place || rule(world, true).lock !== undefined) continue
    // Damage is no answer of S3's table: it rejects, and a server answers 500.
    const code = await make(world, owner, true).catch(() => 'damaged')
    if (code === 'damaged') refused++
  }
  return refused
}

it.each(places)('a version under compliance that is %s outlives every attempt on damaged records', async (place) => {
  const state = { name: 'compliance and hold', mode: 'COMPLIANCE', hold: true } as const
  const records = await recordsOf(await new World().build(state, place))
  expect(records.length).toBeGreaterThanOrEqual(3)
  for (const [i] of records.entries())
    for (const kind of kindsOfDamage) {
      const world = await new World().build(state, place)
      const { key: damagedKey, value } = (await recordsOf(world))[i] ?? { key: Buffer.alloc(0), value: Buffer.alloc(0) }
      await world.backend.kv.commit({ puts: [{ key: damagedKey, value: damaged(value, kind) }] })
      expect(await attemptAll(world, place)).toBeGreaterThan(0)
      const [left] = await world.backend.kv.get([damagedKey])
      if (left?.value.equals(damaged(value, kind)))
        await world.backend.kv.commit({ puts: [{ key: damagedKey, value }] })
      expect(await stateViolations(world, false), `${kind} of ${damagedKey.toString('hex')}`).toEqual([])
    }
})
