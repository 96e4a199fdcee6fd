/** Which suites need a process of their own, and why. `vitest.config.ts` runs the others in processes that they share. */
import type { SourceFile } from './source-file.ts'

/** What code of a suite, or of a file of `test/` that it imports, shows that it would meet in one process with others. */
const ties: readonly { pattern: RegExp; says: string }[] = [
  { pattern: /from 'node:(?:cluster|worker_threads)'/, says: 'starts threads or workers' },
  // What it replaces in objects of its own ends with them.
  {
    pattern: /\bvi\.(?!fn\(|spyOn\((?:made|kv)\b|restoreAllMocks\()\w+\(/,
    says: 'replaces modules, functions or timers',
  },
  { pattern: /\bprocess\.env[.[][^\n=]*[^\n=!<>]=[^=]|\bdelete process\.env\b/, says: 'changes the environment' },
  { pattern: /\bprocess\.(?:on|once|off|emit|chdir|umask|exit|std\w+)\b/, says: 'uses what a process has one of' },
  { pattern: /\bprocess\.(?:memoryUsage|cpuUsage|resourceUsage)\b/, says: 'measures its process' },
  { pattern: /from '@opentelemetry\//, says: 'registers a tracer, of which a process has one' },
  { pattern: /\bimport\([^)]*\.test\.ts/, says: 'imports other suites' },
  {
    pattern:
      /from '[^']*\/src\/cli\/(?:main|log|log-sink|serving\/(?:serve|serve-alone|worker|workers|fork-workers|hangups|stop-signals|no-debugger))\.ts'/,
    says: 'imports what sets up the process of a command',
  },
]
/** Suites that start processes share processes as well, but with each other alone: a large process takes longer to start others. */
const starting = /from 'node:child_process'/

/** Why the suite at `path` needs a process of its own; `undefined` when it needs none. `tests` is what `test/` holds. */
export function tieOf(path: string, tests: ReadonlyMap<string, SourceFile>): string | undefined {
  for (const file of reachedFrom(path, tests)) {
    const tie = ties.find(({ pattern }) => pattern.test(file.code))
    if (tie !== undefined) return `${file.path} ${tie.says}`
  }
  return undefined
}

/** Whether the suite starts processes. */
export function startsProcesses(path: string, tests: ReadonlyMap<string, SourceFile>): boolean {
  for (const { code } of reachedFrom(path, tests)) if (starting.test(code)) return true
  return false
}

function* reachedFrom(path: string, tests: ReadonlyMap<string, SourceFile>): Generator<SourceFile> {
  const reached = new Set([path])
  for (const each of reached) {
    const file = tests.get(each)
    if (file === undefined) continue
    yield file
    for (const { target } of file.imports) if (target !== undefined) reached.add(target)
  }
}
