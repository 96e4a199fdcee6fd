/** A server under test, and the way one is started as a child process that says when it is ready. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Endpoint, Gateway } from '../load/order.ts'

export interface Server {
  name: string
  endpoint: Endpoint
  /** Root of its processes; absent when they run elsewhere. */
  pid: number | undefined
  /** Root of the processes of the server that keeps its shards, where that is another. */
  farPid?: number
  /** Serve the same data. */
  beside?: readonly Gateway[]
  databasePid?: number | undefined
  close(): Promise<void>
}

export interface Child {
  pid: number
  ended: Promise<unknown>
  /** Its first line of output. */
  firstLine: string
  /** Resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

/** Resolves with the first line of its output. Rejects when it ends before. */
export async function startChild(
  program: string,
  words: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Child> {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'], env: environment })
  const ended = once(child, 'exit')
  const kill = (): void => void child.kill('SIGKILL')
  // No server outlives the bench.
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  const lines = createInterface({ input: child.stdout })
  const said = await Promise.race([once(lines, 'line').then(([line]) => String(line)), ended.then(() => undefined)])
  if (said === undefined || child.pid === undefined) throw new Error(`${program} ${words.join(' ')} ended at its start`)
  return {
    pid: child.pid,
    ended,
    firstLine: said,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal)
      await ended
    },
  }
}
