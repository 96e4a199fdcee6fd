/** A server under test, and the ways one is started as a child process: those that say when they are ready, and those that have to be asked. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as passes } from 'node:timers/promises'
import type { Endpoint, Gateway } from '../load/order.ts'

export interface Server {
  name: string
  endpoint: Endpoint
  /** Root of its processes; absent when they run elsewhere. */
  pid: number | undefined
  /** The root of the process tree of the server that keeps the shards, if another server does. */
  farPid?: number
  /** Gateways that serve the same data. */
  beside?: readonly Gateway[]
  databasePid?: number | undefined
  close(): Promise<void>
}

export interface Child {
  pid: number
  ended: Promise<unknown>
  /** Resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

export interface SpeakingChild extends Child {
  /** The first line that it printed. */
  firstLine: string
}

/** The environment without the variables that the servers read. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(HOLDFAST|AWS|MINIO|GARAGE|WEED|VGW|ROOT|RUSTFS)_/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)))
}

/** Resolves with the first line of its output. Rejects when it ends before. */
export async function startChild(
  program: string,
  words: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<SpeakingChild> {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'], env: environment })
  const ended = endWithBench(child)
  const lines = createInterface({ input: child.stdout })
  const said = await Promise.race([once(lines, 'line').then(([line]) => String(line)), ended.then(() => undefined)])
  if (said === undefined || child.pid === undefined) throw new Error(`${program} ${words.join(' ')} ended at its start`)
  return { pid: child.pid, ended, firstLine: said, stop: stopOf(child, ended) }
}

const startSecondsMax = 60

/** Calls `isReady` until it resolves. Rejects with the end of `log`, the file with the child's output, when the child ends first or takes too long. */
export async function startSilentChild(
  program: string,
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  log: string,
  isReady: () => Promise<void>,
): Promise<Child> {
  const file = openSync(log, 'a')
  const child = spawn(program, words, { stdio: ['ignore', file, file], env: environment })
  closeSync(file)
  const ended = endWithBench(child)
  const stop = stopOf(child, ended)
  let failure: unknown = new Error('it was not asked')
  for (let tries = 0; tries < startSecondsMax * 10; tries++) {
    if (child.pid === undefined || child.exitCode !== null) break
    try {
      await isReady()
      return { pid: child.pid, ended, stop }
    } catch (error) {
      failure = error
      await passes(100)
    }
  }
  await stop('SIGKILL')
  const said = readFileSync(log, 'utf8').slice(-2_000)
  throw new Error(`${program} ${words.join(' ')} did not become ready: ${failure}\n${said}`)
}

/** No server outlives the bench. */
function endWithBench(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit')
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  return ended
}

function stopOf(child: ChildProcess, ended: Promise<unknown>): Child['stop'] {
  return async (signal = 'SIGTERM') => {
    child.kill(signal)
    await ended
  }
}

/** Opens all ports before it closes any, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      return server
    }),
  )
  return servers.map((server) => {
    const address = server.address()
    server.close()
    return typeof address === 'object' && address !== null ? address.port : 0
  })
}
