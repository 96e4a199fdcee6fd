/** What people read when they configure a database and have not installed its driver. */
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { keyVariables } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const place = openWorkplace('driver')

it('is told to install the package, in one line', async () => {
  // The program, with all packages but that one.
  for (const part of ['dist', 'package.json']) await cp(join(root, part), place.path(part), { recursive: true })
  await mkdir(place.path('node_modules'))
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (name !== 'pg') await symlink(join(root, 'node_modules', name), place.path('node_modules', name))
  }
  const words = [place.path('dist', 'src', 'cli', 'main.js'), 'members', '--data', place.path('data')]
  const env = { ...keyVariables, HOLDFAST_METADATA_URL: 'postgres://holdfast@127.0.0.1:1/x' }
  const ended = promisify(execFile)(process.execPath, words, { env })
  const stderr = expect.stringMatching(/^holdfast: .*not installed: npm install pg\n$/)
  await expect(ended).rejects.toMatchObject({ code: 2, stderr })
})
