/** That suites which would meet in one process are told apart from those that may share one. */
import { describe, expect, it } from 'vitest'
import { sourceFile } from './source-file.ts'
import { tieOf } from './ties.ts'

const suite = 'wire/put-object.test.ts'

function tie(texts: Record<string, string>): string | undefined {
  return tieOf(suite, new Map(Object.entries(texts).map(([path, text]) => [path, sourceFile(path, text)])))
}

describe('a suite', () => {
  it.each([
    ["import { spawn } from 'node:child_process'", 'starts processes or threads'],
    ["import { Worker } from 'node:worker_threads'", 'starts processes or threads'],
    ["vi.mock('../../src/clock.ts')", 'replaces modules, functions or timers'],
    ['vi.useFakeTimers()', 'replaces modules, functions or timers'],
    ["process.env.HOLDFAST_PORT = '1'", 'changes the environment'],
    ['process.env[name] = value', 'changes the environment'],
    ['delete process.env.HOLDFAST_PORT', 'changes the environment'],
    ["process.on('warning', note)", 'uses what a process has one of'],
    ['process.chdir(directory)', 'uses what a process has one of'],
    ['const before = process.cpuUsage()', 'measures its process'],
    ["await import('./get-object.test.ts')", 'imports other suites'],
    ["import { main } from '../../src/cli/main.ts'", 'imports the command, which sets up its process'],
  ])('with `%s` has a process of its own', (line, says) => {
    expect(tie({ [suite]: line })).toBe(`${suite} ${says}`)
  })

  it.each([
    "import { describe, expect, it } from 'vitest'",
    "const seed = Number(process.env.HOLDFAST_SEED ?? '1')",
    "if (process.env.CI === 'true') skip()",
    '// process.chdir(directory) would move the others, too',
    "import { putObject } from '../../src/operations/put-object.ts'",
  ])('with `%s` may share one', (line) => {
    expect(tie({ [suite]: line })).toBeUndefined()
  })

  it('is tied by what it imports, at any distance', () => {
    const files = {
      [suite]: "import { openWire } from '../support/wire-client.ts'",
      'support/wire-client.ts':
        "import { tools } from './tools.ts'\nimport { suite } from '../wire/put-object.test.ts'",
      'support/tools.ts': "import { spawn } from 'node:child_process'",
    }
    expect(tie(files)).toBe('support/tools.ts starts processes or threads')
  })
})
