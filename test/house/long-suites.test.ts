/** That the list of long suites names suites, so that none is left out of `npm test` and run by nothing else. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { longSuites } from '../support/long-suites.ts'

it('each long suite is there, and named once', () => {
  const missing = longSuites.filter((path) => !existsSync(fileURLToPath(new URL(`../${path}`, import.meta.url))))
  expect(missing).toEqual([])
  expect([...longSuites].sort()).toEqual([...new Set(longSuites)])
})
