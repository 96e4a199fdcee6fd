/** The matrix must be able to fail: each bypass planted here is found by it. */
import { afterEach, expect, it, vi } from 'vitest'
import { attempts, jobs } from './lock-matrix-attempts.ts'
import { bugs, type Modules, type Plugs } from './lock-matrix-bugs.ts'
import { type Cell, cellsOf, runCell } from './lock-matrix-checker.ts'
import { isPossible, lockStates, places } from './lock-matrix-world.ts'

const planted = vi.hoisted((): { plugs: Plugs } => ({ plugs: {} }))

/** A module whose functions are, at each call, the real ones or the planted ones. */
const pluggable = vi.hoisted(() => {
  return <M extends object>(real: M, plug: () => ((real: M) => Partial<M>) | undefined): M =>
    new Proxy({ ...real }, { get: (target, name) => Reflect.get({ ...target, ...plug()?.(real) }, name) })
})

vi.mock('../../src/objects/buckets.ts', async (importReal) =>
  pluggable(await importReal<Modules['buckets']>(), () => planted.plugs.buckets),
)
vi.mock('../../src/objects/change-version.ts', async (importReal) =>
  pluggable(await importReal<Modules['changeVersion']>(), () => planted.plugs.changeVersion),
)
vi.mock('../../src/commits/history-commit.ts', async (importReal) =>
  pluggable(await importReal<Modules['historyCommit']>(), () => planted.plugs.historyCommit),
)
vi.mock('../../src/commits/lock-clock.ts', async (importReal) =>
  pluggable(await importReal<Modules['lockClock']>(), () => planted.plugs.lockClock),
)
vi.mock('../../src/operations/access/authorize.ts', async (importReal) =>
  pluggable(await importReal<Modules['permissions']>(), () => planted.plugs.permissions),
)
vi.mock('../../src/rules/retention.ts', async (importReal) =>
  pluggable(await importReal<Modules['retention']>(), () => planted.plugs.retention),
)
vi.mock('../../src/jobs/shard-owner.ts', async (importReal) =>
  pluggable(await importReal<Modules['shardOwner']>(), () => planted.plugs.shardOwner),
)
vi.mock('../../src/objects/abort-upload.ts', async (importReal) =>
  pluggable(await importReal<Modules['abortUpload']>(), () => planted.plugs.abortUpload),
)

afterEach(() => {
  planted.plugs = {}
})

/** What is special comes first, so that each bug is found soon. */
const cells = places
  .toReversed()
  .flatMap((place) =>
    lockStates
      .filter((state) => isPossible(state, place))
      .flatMap((state) => [...cellsOf(state, place, [...attempts, ...jobs])]),
  )

/** The first violations that some of the matrix has. None is looked for after the one that is wanted. */
async function violationsIn(some: readonly Cell[], max: number, wanted?: RegExp): Promise<string[]> {
  const found: string[] = []
  for (const cell of some) {
    found.push(...(await runCell(cell)))
    if (found.length >= max || wanted?.test(found.join('\n'))) return found
  }
  return found
}

it('finds nothing where nothing is planted', async () => {
  const some = cells.filter((_, i) => i % 7 === 0)
  expect(await violationsIn(some, 1)).toEqual([])
})

it.each(bugs.map((bug) => [bug.name, bug] as const))('finds that %s', async (_, bug) => {
  planted.plugs = bug.plugs
  expect((await violationsIn(cells, 10, bug.found)).join('\n')).toMatch(bug.found)
})
