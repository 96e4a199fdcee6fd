/**
 * What the suites are worth: the source is broken in one place, and the suite that is named must notice. A mutation that survives is a hole in it.
 * Runs by `npm run trust -- mutations` alone, and one of them by `-t` and a part of its name.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MutatedTree } from './mutations/mutated-tree.ts'
import { mutations } from './mutations/table.ts'

let tree: MutatedTree
const killed: string[] = []
const survived: string[] = []

beforeAll(async () => {
  tree = await MutatedTree.make()
})
afterAll(async () => {
  console.info([`${killed.length} mutations killed, ${survived.length} survived`, ...survived].join('\n  '))
  await tree.remove()
})

const named = mutations.map((mutation) => [`${mutation.file}: ${mutation.name}`, mutation] as const)

/** A suite may run twice, each time after a build, on a machine that does other things. */
const timeout = 40 * 60_000

describe('a mutation is noticed', { timeout }, () => {
  test.each(named)('%s', async (name, mutation) => {
    const sound = await tree.withoutMutation(mutation)
    expect(sound.outcome, `test/${mutation.suite} without a mutation: ${sound.output}`).toBe('passed')
    const { outcome, output } = await tree.withMutation(mutation)
    const list = outcome === 'failed' ? killed : survived
    list.push(name)
    expect(outcome, `test/${mutation.suite} must notice: ${output}`).toBe('failed')
  })
})
