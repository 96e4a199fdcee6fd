import { defineConfig } from 'vitest/config'

/** `npm run trust` runs the trust suites alone, with numbers a pull request has no time for. */
const trustMode = 'trust'

export default defineConfig(({ mode }) => {
  const isTrust = mode === trustMode
  const report = process.env.HOLDFAST_TEST_REPORT
  return {
    test: {
      include: [isTrust ? 'test/trust/**/*.test.ts' : 'test/**/*.test.ts'],
      // Suites multiply how often they repeat by this; a seed or a number given by hand counts more.
      env: { HOLDFAST_TRUST_SCALE: process.env.HOLDFAST_TRUST_SCALE ?? (isTrust ? '20' : '1') },
      pool: 'forks',
      testTimeout: isTrust ? 60 * 60_000 : 60_000,
      hookTimeout: 60_000,
      reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    },
  }
})
