/** The background jobs over a directory, where compaction truly moves what is locked: it stays what it was, wherever it goes. */
import { describe, expect, it } from 'vitest'
import { compactStores } from '../../src/jobs/compact.ts'
import { jobs } from './lock-matrix-attempts.ts'
import { aftermathViolations, cellsOf, stateViolations, violationsOf } from './lock-matrix-checker.ts'
import { churn, directoryWorld } from './lock-matrix-churn.ts'
import { isPossible, lockStates, places } from './lock-matrix-world.ts'

describe.each(lockStates.map((state) => [state.name, state] as const))('a version under %s', (_, state) => {
  it.each(places.filter((place) => isPossible(state, place)))(
    'that is %s outlives all jobs, and moves unchanged',
    async (place) => {
      const { world, close } = await directoryWorld()
      await world.build(state, place)
      await churn(world)
      expect((await compactStores(world.backend, { graceMs: 0 })).movedShards).toBeGreaterThan(0)
      expect(await stateViolations(world, false)).toEqual([])
      for (const cell of cellsOf(state, place, jobs))
        expect(await violationsOf(world, cell), cell.attempt.name).toEqual([])
      expect(await aftermathViolations(world)).toEqual([])
      await close()
    },
  )
})
