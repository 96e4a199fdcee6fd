/** What the npm package holds, and how large it is. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'

const root = fileURLToPath(new URL('../../', import.meta.url))
const MiB = 1024 * 1024
/** Of the packed file. Half of it are source maps with their sources. */
const bytesMax = 4 * MiB

const listing = z.array(z.object({ size: z.number(), files: z.array(z.object({ path: z.string() })) }))
const manifest = z.looseObject({
  bin: z.record(z.string(), z.string()),
  man: z.array(z.string()),
  publishConfig: z.object({ provenance: z.boolean(), access: z.string() }),
})

let bytes: number
let paths: string[]
beforeAll(() => {
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const [packed] = listing.parse(JSON.parse(execFileSync('npm', words, { cwd: root, encoding: 'utf8' })))
  bytes = packed?.size ?? 0
  paths = packed?.files.map(({ path }) => path) ?? []
})

test(`is packed into less than ${bytesMax / MiB} MiB`, () => {
  expect(bytes).toBeGreaterThan(MiB / 2)
  expect(bytes).toBeLessThan(bytesMax)
})

test('holds the program, the manual page and the files for systemd that it names', () => {
  const { bin, man, publishConfig } = manifest.parse(JSON.parse(readFileSync(`${root}package.json`, 'utf8')))
  const named = [...Object.values(bin), ...man].map((path) => path.replace(/^\.\//, ''))
  expect(paths).toEqual(
    expect.arrayContaining([
      ...named,
      'LICENSE',
      'packaging/systemd/holdfast.service',
      'packaging/systemd/holdfast.sysusers.conf',
    ]),
  )
  expect(publishConfig).toEqual({ access: 'public', provenance: true })
})

test('holds nothing else', () => {
  const expected =
    /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|docs\/.+|packaging\/(?:man|systemd)\/.+|dist\/src\/index\.cjs|dist\/src\/.+\.d\.[cm]?ts|dist\/joined\/[\w.-]+\.js(?:\.map)?|dist\/joined\/console\/.+)$/
  expect(paths.filter((path) => !expected.test(path))).toEqual([])
})
