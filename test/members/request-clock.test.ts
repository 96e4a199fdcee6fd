/** The clock that judges how old requests are, while clocks of hosts and of the database are wrong. */
import { expect, it } from 'vitest'
import { memoryKv } from '../../src/kv/memory.ts'
import { leaseMs, World } from './world.ts'

const hourMs = 3_600_000

/** By how much the clock of each host is ahead of the database's, and by how much the one that judges its requests is. */
const rows: [what: string, own: readonly number[], judging: readonly number[]][] = [
  ['a host alone goes by its own clock', [hourMs], [hourMs]],
  ['with the database and one other host against it, it goes by theirs', [hourMs, 0], [0, 0]],
  ['the same where its clock is behind', [-hourMs, 0, 2_000], [0, 0, 2_000]],
  [
    'where all hosts agree, they go by their clocks, because the database is wrong',
    [hourMs, hourMs - 5_000],
    [hourMs, hourMs - 5_000],
  ],
  [
    'each of two different clocks goes by its own, because nobody says which is right',
    [hourMs, -hourMs],
    [hourMs, -hourMs],
  ],
  ['a small difference is none', [30_000, 0, 0], [30_000, 0, 0]],
]

it.each(rows)('%s', async (_, own, judging) => {
  const world = new World(memoryKv())
  for (const [i, clockAheadMs] of own.entries()) await world.join(`${i}`, { clockAheadMs })
  await world.pass(leaseMs)
  const ahead = world.processes.map(({ membership }) => membership.requestClock.now() - world.databaseMs)
  for (const [i, ms] of ahead.entries()) expect(Math.abs(ms - (judging[i] ?? 0))).toBeLessThan(1_000)
})

it('the processes of one host have one voice, and a host that has left has none', async () => {
  const world = new World(memoryKv())
  const wrong = await world.join('wrong', { clockAheadMs: hourMs })
  await world.join('wrong', { clockAheadMs: hourMs, kind: 'worker' })
  await world.join('wrong', { clockAheadMs: hourMs, kind: 'worker' })
  const right = await world.join('right')
  await world.pass(leaseMs)
  const aheadMs = (): number => wrong.membership.requestClock.now() - world.databaseMs
  expect(Math.abs(aheadMs())).toBeLessThan(1_000)
  await right.membership.leave()
  await world.pass(leaseMs)
  expect(Math.abs(aheadMs() - hourMs)).toBeLessThan(1_000)
})

it('follows a clock that is set under a running server at once, without a renewal', async () => {
  const world = new World(memoryKv())
  const one = await world.join('one')
  await world.join('two')
  await world.pass(leaseMs)
  one.clock.set(hourMs)
  expect(Math.abs(one.membership.requestClock.now() - world.databaseMs)).toBeLessThan(1_000)
})
