/** The package as others find it: by `import`, by `require`, by resolvers that know no `exports`, and by tools that read source maps. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as vm from 'node:vm'
import { expect, test } from 'vitest'
import { z } from 'zod'

const root = fileURLToPath(new URL('../../', import.meta.url))
const use = `startServer({ buckets: ['photos'] }).then(async (server) => {
  console.log(server.endpoint.replace(/\\d+$/, ''), supportTable().length > 50)
  await server.close()
})`

test.each([
  ['require, in CommonJS', 'cjs', `const { startServer, supportTable } = require('holdfast')\n${use}`],
  ['import, in a module', 'mjs', `import { startServer, supportTable } from 'holdfast'\n${use}`],
])('is found by %s', async (_, extension, code) => {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-package-'))
  await mkdir(join(directory, 'node_modules'))
  await symlink(root, join(directory, 'node_modules', 'holdfast'))
  const file = join(directory, `use.${extension}`)
  await writeFile(file, code)
  expect(execFileSync(process.execPath, [file], { encoding: 'utf8' })).toBe('http://127.0.0.1: true\n')
  await rm(directory, { recursive: true })
})

const typed = `import { type Server, type StartOptions, startServer, supportTable } from 'holdfast'
const options: StartOptions = { buckets: ['photos'] }
export const server: Promise<Server> = startServer(options)
export const names: string[] = supportTable().map(({ name }) => name)
`

test('has types for both kinds of modules, which need no other package and are checked themselves', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-types-'))
  const installed = join(directory, 'node_modules', 'holdfast')
  await mkdir(installed, { recursive: true })
  // Beside nothing, so that what it depends on is not found.
  for (const name of ['package.json', 'dist']) await symlink(join(root, name), join(installed, name))
  for (const name of ['use.cts', 'use.mts']) await writeFile(join(directory, name), typed)
  const wrong = "import { startServer } from 'holdfast'\nvoid startServer({ buckets: 1 })\n"
  for (const name of ['wrong.cts', 'wrong.mts']) await writeFile(join(directory, name), wrong)
  const compilerOptions = {
    ...{ module: 'node16', target: 'es2023', lib: ['es2023', 'esnext.disposable'], strict: true, noEmit: true },
    ...{ skipLibCheck: false, preserveSymlinks: true, types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
  }
  const settings = { compilerOptions, include: ['*.cts', '*.mts'] }
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(settings))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', '.'], { cwd: directory, encoding: 'utf8' })
  const findings = stdout.split('\n').filter((line) => /^\w/.test(line))
  expect(findings).toEqual(['wrong.cts', 'wrong.mts'].map((name) => expect.stringMatching(`^${name}.*TS2322`)))
  await rm(directory, { recursive: true })
})

test('gives `require` every value that its types name', async () => {
  const declared = readFileSync(join(root, 'dist/src/index.d.cts'), 'utf8').matchAll(/^export declare const (\w+)/gm)
  const values = await import(join(root, 'dist/joined/index.js'))
  expect([...declared].map(([, name]) => name).sort()).toEqual(Object.keys(values).sort())
})

test('needs no module system of a test runner: neither its require, nor its import, nor its process', () => {
  const file = join(root, 'dist/src/index.cjs')
  const require = (name: string): unknown => {
    if (name === 'node:vm') return vm
    throw new Error('a module can not be loaded here')
  }
  const names = ['exports', 'require', 'module', '__filename', 'process']
  const load = vm.compileFunction(readFileSync(file, 'utf8'), names, { filename: file })
  const module: { exports: Record<string, unknown> } = { exports: {} }
  load(module.exports, require, module, file, {})
  expect(module.exports.startServer).toBeTypeOf('function')
})

test('loads no driver of a database that is not configured', () => {
  const code = `import { createRequire } from 'node:module'
const { startServer } = await import(${JSON.stringify(join(root, 'dist/joined/index.js'))})
await (await startServer()).close()
const loaded = () => Object.keys(createRequire(import.meta.url).cache).filter((path) => /node_modules.pg./.test(path)).length
const before = loaded()
await import(${JSON.stringify(join(root, 'dist/src/kv/postgres.js'))})
console.log(before, loaded() > 0)`
  const words = ['--input-type=module', '--eval', code]
  expect(execFileSync(process.execPath, words, { encoding: 'utf8', cwd: root })).toBe('0 true\n')
})

/** Packages that a server needs only if it keeps data, reads files that hold checked content, or writes a log. */
const heavy = ['lmdb', 'pg', 'zod', 'pino', 'smol-toml', 'commander', 'prom-client', 'openid-client', 'jose']

const hooks = `import { writeSync } from 'node:fs'
export const resolve = (name, context, next) => {
  writeSync(1, name + '\\n')
  return next(name, context)
}`

test.each([
  ['in memory loads no library that it does not need', '', []],
  ['with a data directory loads its engine, and no more than that needs', '{ data }', ['lmdb', 'zod']],
])('a server %s', async (_what, options, needed) => {
  const data = await mkdtemp(join(tmpdir(), 'holdfast-loads-'))
  const code = `import { createRequire, register } from 'node:module'
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)})
const data = ${JSON.stringify(data)}
const { startServer } = await import(${JSON.stringify(join(root, 'dist/joined/index.js'))})
await (await startServer(${options})).close()
console.log(Object.keys(createRequire(import.meta.url).cache).join('\\n'))`
  const words = ['--input-type=module', '--eval', code]
  const loaded = execFileSync(process.execPath, words, { encoding: 'utf8', cwd: root }).split('\n')
  const isLoaded = (name: string) => loaded.some((one) => one === name || one.includes(`/node_modules/${name}/`))
  expect(loaded).toContain('node:http')
  expect(heavy.filter(isLoaded)).toEqual(needed)
  await rm(data, { recursive: true })
})

test('names its entry and its types at the top, for resolvers that read nothing else', () => {
  const manifest = z.object({ main: z.string(), types: z.string() })
  const { main, types } = manifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
  expect(existsSync(join(root, main)), main).toBe(true)
  expect(readFileSync(join(root, types), 'utf8')).toContain('export declare function startServer')
})

test('holds no source map without its sources', () => {
  const listing = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
  })
  const [packed] = z.array(z.object({ files: z.array(z.object({ path: z.string() })) })).parse(JSON.parse(listing))
  const maps = packed?.files.map(({ path }) => path).filter((path) => path.endsWith('.map')) ?? []
  expect(maps.length).toBeGreaterThan(5)
  const map = z.object({ sources: z.array(z.string()), sourcesContent: z.array(z.string()).optional() })
  const bare = maps.filter((path) => {
    const { sources, sourcesContent = [] } = map.parse(JSON.parse(readFileSync(join(root, path), 'utf8')))
    return sourcesContent.length !== sources.length
  })
  expect(bare).toEqual([])
})
