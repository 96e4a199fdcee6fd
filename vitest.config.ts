import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { readSources } from './test/house/source-file.ts'
import { tieOf } from './test/house/ties.ts'
import { longSuites as longPaths } from './test/support/long-suites.ts'

/** `npm test` leaves the long suites out, `npm run trust:short` runs nothing else. `npx vitest run PATH`, without a mode, runs whatever lies there. */
const longSuites = longPaths.map((path) => `test/${path}`)
const runsIn: Record<string, (path: string) => boolean> = {
  quick: (path) => !longSuites.includes(path),
  short: (path) => longSuites.includes(path),
}
/** `npm run trust`: the suites that show what must hold, alone, with numbers that a pull request has no time for. */
const trustMode = 'trust'
const trustSuites = ['test/trust/**/*.test.ts', 'test/wire/**/*.test.ts', ...longSuites]
/** Runs other suites against broken copies of the source: only when it is asked for, and then alone, so that nothing slows those suites down. */
const mutations = 'mutations'
const isMutating = process.argv.slice(2).some((word) => word.includes(mutations))
/** How often the suites repeat. What stands in the environment counts more. */
const trustNumbers = {
  HOLDFAST_TRUST_SCALE: '10',
  HOLDFAST_CRASH_SEEDS: '200',
  HOLDFAST_FAULT_STEP: '1',
  HOLDFAST_MIGRATE_OBJECTS: '1000000',
}
/** They compare how long requests take, or hold the server to a promise in seconds. When all others have ended, one after the other. */
const measuringSuites = ['test/cli/gateway-failures.test.ts', 'test/trust/lock-out.test.ts']
/** Loading what a suite imports takes longer than most suites: those that no tie keeps apart share processes. */
const tests = new Map(readSources(fileURLToPath(new URL('test', import.meta.url))).map((file) => [file.path, file]))
const paths = [...tests.keys()].filter((path) => path.endsWith('.test.ts'))
const suites = paths.map((path) => `test/${path}`)
const sharingSuites = paths.filter((path) => tieOf(path, tests) === undefined).map((path) => `test/${path}`)
/** More than processors: many suites wait for the disk, for another process, or for time to pass. */
const suitesAtOnce = availableParallelism() + 2
const isToldHowMany = process.argv.some((word) => word.startsWith('--maxWorkers'))
/** A test that takes seconds alone may take ten times as long beside others, on a machine that does something else as well. */
const busyMachineMs = 300_000

/** Its notice that this Node goes out of support belongs in no report. */
const quietSdk = { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' }

export default defineConfig(({ mode }) => {
  const isTrust = mode === trustMode
  const report = process.env.HOLDFAST_TEST_REPORT
  const jsonReport: ['json', { outputFile: string }][] = report === undefined ? [] : [['json', { outputFile: report }]]
  const runs = runsIn[mode] ?? (() => true)
  const sharing = isTrust ? [] : sharingSuites.filter(runs)
  const include = isTrust ? trustSuites : suites.filter(runs)
  const exclude = [...configDefaults.exclude, ...(isMutating ? [] : [`test/trust/${mutations}.test.ts`])]
  // Of each project: they do not inherit it.
  const testTimeout = isTrust ? 24 * 60 * 60_000 : busyMachineMs
  return {
    test: {
      env: { ...(isTrust ? { ...trustNumbers, ...process.env } : {}), ...quietSdk },
      pool: 'forks',
      ...(isTrust || isToldHowMany ? {} : { maxWorkers: suitesAtOnce }),
      hookTimeout: busyMachineMs,
      expect: { poll: { timeout: busyMachineMs / 3 } },
      // One file that takes long: each test is shown as it ends.
      reporters: [isMutating ? 'verbose' : 'default', ...jsonReport],
      projects: [
        {
          extends: true,
          test: { name: 'apart', testTimeout, include, exclude: [...exclude, ...measuringSuites, ...sharing] },
        },
        { extends: true, test: { name: 'sharing', testTimeout, include: sharing, exclude, isolate: false } },
        {
          extends: true,
          test: { name: 'alone', testTimeout, include: measuringSuites.filter(runs), exclude, fileParallelism: false },
        },
      ],
    },
  }
})
