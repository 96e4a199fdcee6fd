/** Suites that need a program which may not be installed. */
import { spawnSync } from 'node:child_process'
import { describe } from 'vitest'

/**
 * `probes` are commands that succeed where what the suite needs is installed. A machine without it reports a skip by name; CI has all of it, and there
 * it fails.
 */
export function describeInstalled(name: string, probes: readonly (readonly string[])[], suite: () => void): void {
  const absent = probes.some(([command = '', ...words]) => spawnSync(command, words, { stdio: 'ignore' }).status !== 0)
  if (absent && process.env.HOLDFAST_CI_CLIENTS === '1') throw new Error(`what ${name} needs should be installed here`)
  describe.skipIf(absent)(absent ? `${name} (not installed)` : name, suite)
}
