/** What no single attempt can do, no sequence of them can either: after each step the rule says what must be there, and is asked again. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Attempt, attempts, jobs } from './lock-matrix-attempts.ts'
import { aftermathViolations, cellsOf, consequenceOf, violationsOf } from './lock-matrix-checker.ts'
import { isPossible, lockStates, places, World } from './lock-matrix-world.ts'

const scale = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1')
const numRuns = 500 * scale
const stepsMax = 25

const passing = (hours: number): Attempt => ({
  name: `${hours} hours pass`,
  make: async (world) => {
    await world.pass(hours)
    return 'ok'
  },
  rule: () => ({ code: 'ok' }),
})

const everything = [...attempts, ...jobs, passing(1), passing(7)]
const kinds = lockStates.flatMap((state) =>
  places.filter((place) => isPossible(state, place)).map((place) => ({ state, place })),
)

/** Steps are numbers, so that a failure shrinks and replays whatever the attempts are. */
const sequence = fc.record({
  kind: fc.nat(kinds.length - 1),
  steps: fc.array(fc.noBias(fc.nat()), { maxLength: stepsMax, size: 'max' }),
})

it(
  `${numRuns} sequences of up to ${stepsMax} attempts lose or alter nothing that was protected at its time`,
  async () => {
    const seed = Number(process.env.HOLDFAST_LOCK_SEED ?? Math.floor(Math.random() * 2 ** 31))
    console.info(`lock sequences seed: HOLDFAST_LOCK_SEED=${seed}`)
    await fc.assert(
      fc.asyncProperty(sequence, async ({ kind, steps }) => {
        const { state, place } = kinds[kind] ?? { state: { name: 'none' }, place: 'latest' }
        const cells = [...cellsOf(state, place, everything)]
        const world = await new World().build(state, place)
        for (const step of steps) {
          const cell = cells[step % cells.length]
          if (cell === undefined) continue
          const { removed } = consequenceOf(world, cell)
          expect(await violationsOf(world, cell), `${cell.attempt.name} by ${cell.actor.name}`).toEqual([])
          if (removed === true) return
        }
        expect(await aftermathViolations(world)).toEqual([])
      }),
      { numRuns, seed },
    )
  },
  5 * 60_000 * scale,
)
