import { defineConfig } from 'vitest/config'

/** `npm run trust`: the suites that show what must hold, alone, with numbers that a pull request has no time for. */
const trustMode = 'trust'
const trustSuites = ['test/trust/**/*.test.ts', 'test/shards/directory/{crash,faults}.test.ts']
/** How often the suites repeat. What stands in the environment counts more. */
const trustNumbers = { HOLDFAST_TRUST_SCALE: '10', HOLDFAST_CRASH_SEEDS: '200', HOLDFAST_FAULT_STEP: '1' }

export default defineConfig(({ mode }) => {
  const isTrust = mode === trustMode
  const report = process.env.HOLDFAST_TEST_REPORT
  return {
    test: {
      include: isTrust ? trustSuites : ['test/**/*.test.ts'],
      env: isTrust ? { ...trustNumbers, ...process.env } : {},
      pool: 'forks',
      testTimeout: isTrust ? 24 * 60 * 60_000 : 60_000,
      hookTimeout: 60_000,
      reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    },
  }
})
