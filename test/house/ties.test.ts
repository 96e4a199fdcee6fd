/** That suites which would meet in one process are told apart from those that may share one. */
import { describe, expect, it } from 'vitest'
import { sourceFile } from './source-file.ts'
import { startsProcesses, tieOf } from './ties.ts'

const suite = 'wire/put-object.test.ts'

const read = (texts: Record<string, string>) =>
  new Map(Object.entries(texts).map(([path, text]) => [path, sourceFile(path, text)]))
const tie = (texts: Record<string, string>): string | undefined => tieOf(suite, read(texts))

describe('a suite', () => {
  it.each([
    ["import { Worker } from 'node:worker_threads'", 'starts threads or workers'],
    ["vi.mock('../../src/clock.ts')", 'replaces modules, functions or timers'],
    ["vi.spyOn(console, 'log')", 'replaces modules, functions or timers'],
    ['vi.useFakeTimers()', 'replaces modules, functions or timers'],
    ["process.env.HOLDFAST_PORT = '1'", 'changes the environment'],
    ['process.env[name] = value', 'changes the environment'],
    ['delete process.env.HOLDFAST_PORT', 'changes the environment'],
    ["process.on('warning', note)", 'uses what a process has one of'],
    ['process.chdir(directory)', 'uses what a process has one of'],
    ['const before = process.cpuUsage()', 'measures its process'],
    ["await import('./get-object.test.ts')", 'imports other suites'],
    ["import { main } from '../../src/cli/main.ts'", 'imports what sets up the process of a command'],
    ["import { trace } from '@opentelemetry/api'", 'registers a tracer, of which a process has one'],
  ])('with `%s` has a process of its own', (line, says) => {
    expect(tie({ [suite]: line })).toBe(`${suite} ${says}`)
  })

  it.each([
    "import { describe, expect, it } from 'vitest'",
    "const seed = Number(process.env.HOLDFAST_SEED ?? '1')",
    "if (process.env.CI === 'true') skip()",
    "vi.spyOn(made.kv, 'get')",
    'const told = vi.fn()',
    "import { runCli } from '../../src/cli/program.ts'",
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
      'support/tools.ts': 'process.chdir(directory)',
    }
    expect(tie(files)).toBe('support/tools.ts uses what a process has one of')
  })

  it('that starts processes, itself or by what it imports, shares its process with its like', () => {
    const spawning = "import { spawn } from 'node:child_process'"
    const files = { [suite]: "import { tools } from '../support/tools.ts'", 'support/tools.ts': spawning }
    for (const texts of [{ [suite]: spawning }, files]) {
      expect(tie(texts)).toBeUndefined()
      expect(startsProcesses(suite, read(texts))).toBe(true)
    }
    expect(startsProcesses(suite, read({ [suite]: "import { it } from 'vitest'" }))).toBe(false)
  })
})
