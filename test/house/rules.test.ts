import { describe, expect, it } from 'vitest'
import { findLongFunctions } from './function-lengths.ts'
import { findForbiddenBenchImports, findForbiddenImports, findImportCycles, findUnimported } from './rooms.ts'
import {
  findBadNames,
  findBrokenRules,
  findErrorMismatches,
  findHeadless,
  findLongFiles,
  rules,
  sourceRules,
} from './rules.ts'
import { type SourceFile, sourceFile } from './source-file.ts'

/** A source tree in memory: path -> text. */
const tree = (files: Record<string, string>): SourceFile[] =>
  Object.entries(files).map(([path, text]) => sourceFile(path, text))

const importing = (path: string, target: string): SourceFile[] =>
  tree({
    [path]: `import type { X } from '${'../'.repeat(path.split('/').length - 1) || './'}${target}'`,
    [target]: '',
  })

describe('the import table', () => {
  it.each([
    ['http/pipeline.ts', 'objects/write-object.ts'],
    ['http/pipeline.ts', 'kv/kv.ts'],
    ['http/pipeline.ts', 'stores/shard-store.ts'],
    ['operations/put-object.ts', 'kv/kv.ts'],
    ['operations/put-object.ts', 'blobs/blobs.ts'],
    ['operations/put-object.ts', 'http/encode.ts'],
    ['operations/put-object.ts', 'auth/sigv4.ts'],
    ['objects/write-object.ts', 'stores/memory.ts'],
    ['objects/write-object.ts', 'kv/lmdb.ts'],
    ['objects/write-object.ts', 'contract/fields.ts'],
    ['objects/write-object.ts', 'jobs/reclaim.ts'],
    ['kv/lmdb.ts', 'stores/fs.ts'],
    ['blobs/blobs.ts', 'kv/kv.ts'],
    ['contract/fields.ts', 'commits/backend.ts'],
    ['auth/sigv4.ts', 'http/address.ts'],
    ['access/decide.ts', 'auth/principal.ts'],
    ['jobs/reclaim.ts', 'operations/run.ts'],
    ['jobs/reclaim.ts', 'kv/lmdb.ts'],
    ['config/options.ts', 'instance/root-key.ts'],
    ['instance/root-key.ts', 'config/options.ts'],
    ['limits.ts', 'contract/values.ts'],
    ['checksums/checksums.ts', 'stores/fs.ts'],
    ['http/server.ts', 'opening/open-data.ts'],
    ['commits/backend.ts', 'opening/open-stores.ts'],
  ])('keeps %s from importing %s', (path, target) => {
    const findings = findForbiddenImports(importing(path, target))
    expect(findings).toEqual([`${path} must not import ${target}`])
  })

  it.each([
    ['http/pipeline.ts', 'operations/run.ts'],
    ['operations/put-object.ts', 'objects/write-object.ts'],
    ['operations/run.ts', 'auth/principal.ts'],
    ['commits/commit.ts', 'kv/kv.ts'],
    ['objects/incoming-data.ts', 'checksums/checksums.ts'],
    ['jobs/reclaim.ts', 'records/keyspace.ts'],
    ['errors.ts', 'limits.ts'],
    ['opening/open-engine.ts', 'kv/lmdb.ts'],
    ['cli/serve.ts', 'http/server.ts'],
  ])('lets %s import %s', (path, target) => {
    expect(findForbiddenImports(importing(path, target))).toEqual([])
  })

  it.each([
    ['the store', "import { keyspace } from '../src/records/keyspace.ts'", '../src/records/keyspace.ts'],
    ['a library', "import { open } from 'lmdb'", 'lmdb'],
    ['what tests share', "import { sign } from '../test/support/signer.ts'", '../test/support/signer.ts'],
  ])('keeps the bench from %s', (_, text, what) => {
    expect(findForbiddenBenchImports(tree({ 'main.ts': text }))).toEqual([`main.ts must not import ${what}`])
  })

  it('lets the bench sign, and start the command', () => {
    const text = "import { signature } from '../src/auth/sigv4.ts'\nnew URL('../joined/main.js', import.meta.url)"
    expect(findForbiddenBenchImports(tree({ 'main.ts': text }))).toEqual([])
  })

  it.each([
    ['a type import', "import type { Kv } from '../kv/kv.ts'"],
    ['a re-export', "export { commit } from '../kv/kv.ts'"],
    ['a re-export of everything', "export * from '../kv/kv.ts'"],
    ['a dynamic import', "const kv = await import('../kv/kv.ts')"],
    ['an import for its effects', "import '../kv/kv.ts'"],
    ['an import in a type', "let kv: import('../kv/kv.ts').Kv"],
    ['an import over several lines', "import {\n  type Key,\n  type Kv,\n} from '../kv/kv.ts'"],
    ['the file of a process', "fork(new URL('../kv/kv.js', import.meta.url))"],
    ['double quotes', 'import { type Kv } from "../kv/kv.ts"'],
    ['an import behind text that looks like a comment', "const url = 'http://x'; import '../kv/kv.ts'"],
    ['an import behind a template', `const a = \`\${\`/*\${'\`'}\`} // \`; import '../kv/kv.ts'`],
    ['an import behind a regular expression', "const quote = /['/*]/; import '../kv/kv.ts'"],
  ])('sees %s', (_, text) => {
    const findings = findForbiddenImports(tree({ 'http/server.ts': text, 'kv/kv.ts': '' }))
    expect(findings).toEqual(['http/server.ts must not import kv/kv.ts'])
  })

  it.each([
    ['a comment', "// import '../kv/kv.ts'\n/* from '../kv/kv.ts' */"],
    ['a string', `const text = "import '../kv/kv.ts'"`],
    ['a template', "const text = `import '../kv/kv.ts'`"],
  ])('overlooks an import in %s', (_, text) => {
    expect(findForbiddenImports(tree({ 'http/server.ts': text, 'kv/kv.ts': '' }))).toEqual([])
  })

  it('refuses files outside of all rooms, missing files, and libraries out of their place', () => {
    const findings = findForbiddenImports(
      tree({
        'cellar/wine.ts': '',
        'kv/memory.ts': "import './gone.ts'",
        'commits/commit.ts': "import 'lmdb'",
        'kv/lmdb.ts': "import 'lmdb'; import 'left-pad'; import 'node:fs'",
      }),
    )
    expect(findings).toEqual([
      'cellar/wine.ts belongs to no room of the import table',
      'kv/memory.ts imports ./gone.ts, which is no source file',
      'commits/commit.ts must not import the library lmdb',
      'kv/lmdb.ts imports left-pad, which the table of libraries does not list',
    ])
  })

  it('finds cycles of any length, and a file that imports itself', () => {
    const cyclic = tree({
      'kv/a.ts': "import './b.ts'",
      'kv/b.ts': "import type { C } from './c.ts'",
      'kv/c.ts': "import './a.ts'; import './d.ts'",
      'kv/d.ts': "import './d.ts'",
    })
    expect(findImportCycles(cyclic)).toEqual(['kv/a.ts -> kv/b.ts -> kv/c.ts -> kv/a.ts', 'kv/d.ts -> kv/d.ts'])
    expect(
      findImportCycles(
        tree({ 'kv/a.ts': "import './b.ts'; import './c.ts'", 'kv/b.ts': "import './c.ts'", 'kv/c.ts': '' }),
      ),
    ).toEqual([])
  })

  it('finds files that nothing imports, apart from entry points and what scripts load', () => {
    const files = tree({ 'index.ts': "import './kv/a.ts'", 'kv/a.ts': '', 'kv/b.ts': '', 'config/page.ts': '' })
    expect(findUnimported(files, ['config/page.ts'])).toEqual(['nothing imports kv/b.ts'])
  })
})

describe('the rules of the language', () => {
  it.each([
    ['// ' + 'TO' + 'DO: later', 'work left over'],
    ["const a = '" + 'FIX' + "ME'", 'work left over'],
    ['/* ' + 'HA' + 'CK */', 'work left over'],
    ['// @ts-' + 'ignore', 'a type error is hidden'],
    ['let a: any', '`any`'],
    ['const a = b as any', '`any`'],
    ['const a: Map<string, any> = b', '`any`'],
    ['const a = b as unknown as C', 'a cast through'],
    ['export default function f() {}', 'a default export'],
    ['const a = b[0]!.c', 'a non-null'],
    ['const a = b.get(c)!\n', 'a non-null'],
    ['enum Colour { Red }', 'syntax that is more than types'],
    ['const a = Date.now()', 'time and randomness'],
    ['const a = new Date()', 'time and randomness'],
    ['const a = Math.random()', 'time and randomness'],
    ['const a = randomBytes(8)', 'time and randomness'],
    ['console.log(1)', 'what is printed'],
  ])('forbid: %s', (text, says) => {
    const findings = findBrokenRules(tree({ 'kv/a.ts': `const first = 1\n${text}` }), [...rules, ...sourceRules])
    expect(findings).toHaveLength(1)
    expect(findings[0]).toContain(`kv/a.ts:2: ${says}`)
  })

  it.each([
    '// any of them, as any reader knows: any',
    "const a = 'as any'",
    `const a = \`b: any \${c as string}\``,
    'const many: string[] = []',
    'if (!a.b || a != c) d()',
    'const later = new Date(ms)',
    '/** The default export of nothing. */',
  ])('allow: %s', (text) => {
    expect(findBrokenRules(tree({ 'kv/a.ts': text }), [...rules, ...sourceRules])).toEqual([])
  })

  it('ask for a first sentence; a file of one operation has its summary', () => {
    const files = tree({
      'kv/a.ts': '/** What a is. */\n',
      'kv/b.ts': '/**\n * What b is,\n * and is not. More.\n */\n',
      'kv/c.ts': "import './a.ts'\n/** Late. */",
      'kv/d.ts': '/** */',
      'cli/main.ts': '#!/usr/bin/env node\n/** The command line. */',
      'operations/get-object.ts': "import './x.ts'\nexport const g = defineOperation({ summary: 'Reads.' })",
      'operations/two.ts': 'defineOperation({}); defineOperation({})',
      'operations/order.ts': 'export const order = 1',
    })
    expect(findHeadless(files).map((finding) => finding.split(' ')[0])).toEqual([
      'kv/c.ts',
      'kv/d.ts',
      'operations/two.ts',
      'operations/order.ts',
    ])
  })

  it('bound the length of a file', () => {
    const files = tree({ 'kv/a.ts': 'x\n'.repeat(3), 'kv/b.ts': 'x\n'.repeat(4) })
    expect(findLongFiles(files, 3)).toEqual(['kv/b.ts has 4 lines, of 3'])
  })

  it('bound the length of a function, whatever it is written as', () => {
    const files = tree({
      'kv/a.ts': 'function short(): void {\n\n}\nfunction long(): void {\n\n\n}',
      'kv/b.ts': 'const arrow = (a: number): number =>\n\n\n  a',
      'kv/c.ts': 'class C {\n  #method(): void {\n\n\n  }\n}\nexport const value = [\n1,\n2,\n3]',
      'kv/d.ts': 'call(function () {\n\n\n})',
      'pages/e.tsx': 'function Page() {\n  return (\n    <p />\n  )\n}',
    })
    expect(findLongFunctions(files, 3)).toEqual([
      'kv/a.ts: long has 4 lines, of 3',
      'kv/b.ts: arrow has 4 lines, of 3',
      'kv/c.ts: method has 4 lines, of 3',
      'kv/d.ts: a function without name has 4 lines, of 3',
      'pages/e.tsx: Page has 5 lines, of 3',
    ])
  })

  it('refuse names that say nothing', () => {
    const names = ['kv/utils.ts', 'store/upload-manager.ts', 'common/a.ts', 'kv/sortedEntries.ts', 'kv/base.test.ts']
    const good = ['kv/sorted-entries.ts', 'kv/lmdb.test.ts', 'index.ts', 'auth/sigv4.ts', 'http/database.ts']
    const refused = findBadNames(tree(Object.fromEntries([...names, ...good].map((name) => [name, '']))))
    expect(refused.map((finding) => finding.split(' ')[0])).toEqual(names)
  })
})

describe('the error rule', () => {
  it('finds errors that the table lacks, and entries that nothing answers', () => {
    const files = tree({
      'errors.ts': "const table = { Unused: 1, Declared: 1, Used: 1, Chosen: 1 }; new S3Error('Shared')",
      'kv/a.ts': "throw new S3Error('Used'); throw new S3Error(\n  'Unknown')\nconst code = late ? 'Chosen' : 'Used'",
      'operations/b.ts': "defineOperation({ errors: ['Declared', 'Used'] })",
    })
    expect(findErrorMismatches(files, ['Unused', 'Declared', 'Used', 'Chosen', 'Shared'])).toEqual([
      'Unknown is thrown and not in the error table',
      'Unused is in the error table and nothing answers it',
      'Declared is in the error table and nothing answers it',
    ])
  })
})
