/** Nothing locked can be lost: every operation and job x every lock x every place of the version x bypass or not x who asks. */
import { afterAll, describe, expect, it } from 'vitest'
import { attempts, jobs } from './lock-matrix-attempts.ts'
import { cellsOf, runCell } from './lock-matrix-checker.ts'
import { isPossible, lockStates, places } from './lock-matrix-world.ts'

let cells = 0

describe.each(lockStates.map((state) => [state.name, state] as const))('a version under %s', (_, state) => {
  it.each(places.filter((place) => isPossible(state, place)))(
    'that is %s is lost or altered by nothing but what S3 documents',
    async (place) => {
      const violations: string[] = []
      for (const cell of cellsOf(state, place, [...attempts, ...jobs])) {
        cells++
        violations.push(...(await runCell(cell)))
      }
      expect(violations).toEqual([])
    },
  )
})

afterAll(() => console.info(`lock matrix: ${cells} cells`))
