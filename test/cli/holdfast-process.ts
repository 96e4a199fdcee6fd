/** Runs the compiled command line as a child process, the way users do. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url))

export const environmentKey = { accessKeyId: 'test-access-key', secretAccessKey: 'canary-secret-of-tests' }

export interface Outcome {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface ReadyEvent {
  endpoint: string
  accessKeyId: string
  secretAccessKey?: string
  secretKeptIn: string
  data: string
  pid: number
}

/** What a command said at its end with `--json`: lines of its progress come before. */
export const lastEvent = ({ stdout }: Outcome) => JSON.parse(stdout.trim().split('\n').at(-1) ?? '')

type FindLine = (test: (line: string) => boolean) => Promise<string>

export interface Running {
  child: ChildProcess
  /** What has been written so far. */
  output: { stdout: string; stderr: string }
  /** Resolves with the first line of stdout that satisfies the test. Rejects when the process ends before. */
  line: FindLine
  /** The same with the log, which goes to stderr. */
  logged: FindLine
  ended: Promise<Outcome>
}

const children = new Set<ChildProcess>()

/** Kills what a failed test left running. */
export function killLeftovers(): void {
  for (const child of children) child.kill('SIGKILL')
}

export function run(words: readonly string[], environment: Record<string, string> = {}): Running {
  if (!existsSync(main)) throw new Error(`${main} is missing: run \`npm run build\` before the tests`)
  const child = spawn(process.execPath, [main, ...words], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  const output = { stdout: '', stderr: '' }
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk
  })
  const ended = new Promise<Outcome>((resolve) => {
    child.once('close', (code, signal) => {
      children.delete(child)
      resolve({ code, signal, ...output })
    })
  })
  const line = firstOf(child.stdout, ended, (read) => {
    output.stdout += `${read}\n`
  })
  return { child, output, line, logged: firstOf(child.stderr, ended), ended }
}

/** Finds lines of a stream, those read already too. */
function firstOf(stream: Readable, ended: Promise<Outcome>, onLine: (line: string) => void = () => {}): FindLine {
  const lines: string[] = []
  const waiting = new Set<(line: string) => void>()
  createInterface({ input: stream }).on('line', (line) => {
    lines.push(line)
    onLine(line)
    for (const take of waiting) take(line)
  })
  return (test) =>
    new Promise((resolve, reject) => {
      const take = (candidate: string): void => {
        if (test(candidate)) resolve(candidate)
      }
      waiting.add(take)
      for (const seen of lines) take(seen)
      void ended.then(({ code, stderr }) => reject(new Error(`ended with ${code} before the line came: ${stderr}`)))
    })
}

/** Starts a server on a free port, with the key of the tests unless the environment says otherwise. */
export async function serve(
  words: readonly string[],
  environment: Record<string, string> = keyVariables,
): Promise<Running & { ready: ReadyEvent }> {
  const running = run([...words, '--json'], environment)
  const ready = JSON.parse(await running.line((line) => line.includes('"event":"ready"')))
  return { ...running, ready }
}

export const keyVariables = {
  HOLDFAST_ACCESS_KEY_ID: environmentKey.accessKeyId,
  HOLDFAST_SECRET_ACCESS_KEY: environmentKey.secretAccessKey,
}

/**
 * Kills a command once it has begun its work. One that was done before that was seen is started again, after what it did has been undone.
 */
export async function killOnTheWay(
  start: () => Running,
  hasBegun: () => boolean,
  undo: () => Promise<unknown>,
): Promise<void> {
  for (let attempt = 1; attempt <= 10; attempt++) {
    const { child, ended } = start()
    let isOver = false
    const over = ended.then((outcome) => {
      isOver = true
      return outcome
    })
    while (!isOver && !hasBegun()) await delay(1)
    child.kill('SIGKILL')
    const { signal, code, stderr } = await over
    if (signal === 'SIGKILL') return
    if (code !== 0) throw new Error(`it ended by itself: ${stderr}`)
    await undo()
  }
  throw new Error('it was done each time before it could be killed')
}
