/** The model test must be able to fail: each bug planted here is found by it, within fewer sequences than it runs. */
import * as fc from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import { scenario } from './version-model-commands.ts'
import { runScenario } from './version-model-run.ts'

type Versions = typeof import('../../src/rules/versions.ts')
type ListVersions = typeof import('../../src/objects/list-versions.ts')
type Retention = typeof import('../../src/rules/retention.ts')

interface Bug {
  versions?: (real: Versions) => Partial<Versions>
  listVersions?: (real: ListVersions) => Partial<ListVersions>
  retention?: (real: Retention) => Partial<Retention>
}

const planted = vi.hoisted((): { bug: Bug } => ({ bug: {} }))

/** A module whose functions are, at each call, the real ones or the planted ones. */
const pluggable = vi.hoisted(() => {
  return <M extends object>(real: M, bugOf: () => ((real: M) => Partial<M>) | undefined): M =>
    new Proxy({ ...real }, { get: (target, name) => Reflect.get({ ...target, ...bugOf()?.(real) }, name) })
})

vi.mock('../../src/rules/versions.ts', async (importReal) =>
  pluggable(await importReal<Versions>(), () => planted.bug.versions),
)
vi.mock('../../src/objects/list-versions.ts', async (importReal) =>
  pluggable(await importReal<ListVersions>(), () => planted.bug.listVersions),
)
vi.mock('../../src/rules/retention.ts', async (importReal) =>
  pluggable(await importReal<Retention>(), () => planted.bug.retention),
)

afterEach(() => {
  planted.bug = {}
})

const check = () =>
  fc.check(
    fc.asyncProperty(scenario, (each) => runScenario(each)),
    { numRuns: 500, endOnFailure: true },
  )

it('finds nothing where nothing is planted', async () => {
  expect(await check()).toMatchObject({ failed: false })
})

it.each<[string, Bug]>([
  [
    'removing the latest version leaves nothing current',
    {
      versions: ({ removeVersion }) => ({
        removeVersion: (versions, version) => {
          const change = removeVersion(versions, version)
          const isCurrent = version.sequence === versions.current?.sequence
          return isCurrent ? { ...change, current: undefined, dropFromHistory: [] } : change
        },
      }),
    },
  ],
  [
    'a null version leaves the null version before it in the history',
    {
      versions: ({ placeVersion }) => ({
        placeVersion: (versions, version) => {
          const { nullVersion } = versions
          const change = placeVersion(versions, version)
          if (nullVersion === undefined) return change
          return { ...change, dropFromHistory: [], removed: change.removed.filter((gone) => gone !== nullVersion) }
        },
      }),
    },
  ],
  [
    'the way to the null version is lost when it becomes noncurrent',
    {
      versions: ({ placeVersion }) => ({
        placeVersion: (...args) => ({ ...placeVersion(...args), nullSequence: undefined }),
      }),
    },
  ],
  [
    'a suspended bucket names its versions',
    { versions: () => ({ namesVersions: (state) => state !== 'unversioned' }) },
  ],
  [
    'an unversioned bucket tells version ids',
    { versions: () => ({ shownVersionId: ({ record }) => record.versionId }) },
  ],
  ['a new version takes a sequence that is taken', { versions: () => ({ nextSequence: () => 1 }) }],
  [
    'an overwritten version is dropped',
    {
      versions: ({ placeVersion }) => ({ placeVersion: (...args) => ({ ...placeVersion(...args), addToHistory: [] }) }),
    },
  ],
  [
    'listings of versions lose one entry between two pages',
    {
      listVersions: ({ listVersions }) => ({
        listVersions: async (backend, scope, query) => {
          const { bucket, page } = await listVersions(backend, scope, query)
          return { bucket, page: query.keyMarker === undefined ? page : { ...page, entries: page.entries.slice(1) } }
        },
      }),
    },
  ],
  [
    'listings say of older versions that they are the latest',
    {
      listVersions: ({ listVersions }) => ({
        listVersions: async (...args) => {
          const { bucket, page } = await listVersions(...args)
          return { bucket, page: { ...page, entries: page.entries.map((entry) => ({ ...entry, latest: true })) } }
        },
      }),
    },
  ],
  ['the default retention is not stamped', { retention: () => ({ retentionFrom: () => undefined }) }],
])('finds that %s', async (_, bug) => {
  planted.bug = bug
  // A crash would show that the bug is harmful, not that the comparison finds it.
  expect(await check()).toMatchObject({ failed: true, errorInstance: { name: 'AssertionError' } })
})
