import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { configurationPage } from '../../src/config/page.ts'

test('docs/configuration.md is what `npm run docs` writes', async () => {
  const page = await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
  expect(page).toBe(configurationPage())
})
