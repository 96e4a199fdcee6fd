/** Runs a command in this process, which takes a hundredth of what a process of its own does: for what is said to a server, and not for how a process ends. */
import { runCli } from '../../src/cli/program.ts'
import type { Outcome } from './holdfast-process.ts'

/** As `run` of holdfast-process.ts, with the same initial environment. */
export async function runHere(words: readonly string[], variables: Record<string, string> = {}): Promise<Outcome> {
  const said = { stdout: '', stderr: '' }
  const collecting = (name: keyof typeof said) => ({
    write(text: string | Uint8Array, then?: unknown): boolean {
      said[name] += String(text)
      if (typeof then === 'function') then()
      return true
    },
  })
  const environment = { HOLDFAST_ADMIN_LISTEN: 'off', HOLDFAST_WORKERS: '1', ...variables }
  const code = await runCli(words, {
    environment,
    directory: process.cwd(),
    stdout: collecting('stdout'),
    stderr: collecting('stderr'),
  })
  return { code, signal: null, ...said }
}
