/** Which suites need a process of their own, and why. `vitest.config.ts` runs the others in processes that they share. */
import type { SourceFile } from './source-file.ts'

/** What code of a suite, or of a file of `test/` that it imports, shows that it would meet in one process with others. */
const ties: readonly { pattern: RegExp; says: string }[] = [
  { pattern: /'node:(?:child_process|cluster|worker_threads)'/, says: 'starts processes or threads' },
  { pattern: /\bvi\.\w+\(/, says: 'replaces modules, functions or timers' },
  { pattern: /\bprocess\.env[.[][^\n=]*[^\n=!<>]=[^=]|\bdelete process\.env\b/, says: 'changes the environment' },
  { pattern: /\bprocess\.(?:on|once|off|emit|chdir|umask|exit|std\w+)\b/, says: 'uses what a process has one of' },
  { pattern: /\bprocess\.(?:memoryUsage|cpuUsage|resourceUsage)\b/, says: 'measures its process' },
  { pattern: /'@opentelemetry\//, says: 'registers a tracer, of which a process has one' },
  { pattern: /\bimport\([^)]*\.test\.ts/, says: 'imports other suites' },
  { pattern: /\/src\/cli\//, says: 'imports the command, which sets up its process' },
]

/** Why the suite at `path` needs a process of its own; `undefined` when it needs none. `tests` is what `test/` holds. */
export function tieOf(path: string, tests: ReadonlyMap<string, SourceFile>): string | undefined {
  const reached = new Set([path])
  for (const each of reached) {
    const file = tests.get(each)
    if (file === undefined) continue
    const tie = ties.find(({ pattern }) => pattern.test(file.code))
    if (tie !== undefined) return `${each} ${tie.says}`
    for (const { target } of file.imports) if (target !== undefined) reached.add(target)
  }
  return undefined
}
