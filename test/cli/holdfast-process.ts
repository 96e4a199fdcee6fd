/** Runs the compiled command line as a child process, the way users do. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** The compiled file of a source file, for code that a test evaluates. */
export const program = (path: string): string => fileURLToPath(new URL(`../../dist/src/${path}`, import.meta.url))

/** The file that users start. */
export const main = fileURLToPath(new URL('../../dist/joined/main.js', import.meta.url))

export const environmentKey = { accessKeyId: 'test-access-key', secretAccessKey: 'canary-secret-of-tests' }

export interface Outcome {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface ReadyEvent {
  endpoint: string
  /** Absent: there is no admin port. */
  adminEndpoint?: string
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
/** The process that was started last, whether it has ended or not. */
const ran: { words: readonly string[]; output: Running['output'] }[] = []
const ranMax = 20

/** Kills what a failed test left running. Resolves when none of it can write any more. */
export async function killLeftovers(): Promise<void> {
  const running = [...children].filter(
    ({ pid, exitCode, signalCode }) => pid !== undefined && (exitCode ?? signalCode) === null,
  )
  await Promise.all(
    running.map(async (child) => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }),
  )
}

/** What processes have logged since the last call. Only the logs tell why a server answered as it did. */
export const takeLogs = (): string =>
  ran
    .splice(0)
    .map(({ words, output }) => `--- holdfast ${words.join(' ')}\n${output.stderr.slice(-4000)}`)
    .join('\n')

interface Circumstances {
  /** What becomes of stderr, if it is not read: the descriptor that it goes to, or a socket that nobody reads. */
  stderr?: number | 'unread'
  /** Who runs it. */
  uid?: number
  /** A program and its flags, which is to run the command. */
  through?: readonly string[]
}

export function run(
  words: readonly string[],
  environment: Record<string, string> = {},
  { stderr: errors, uid, through = [] }: Circumstances = {},
): Running {
  if (!existsSync(main)) throw new Error(`${main} is missing: run \`npm run build\` before the tests`)
  const [command = process.execPath, ...rest] = [...through, process.execPath, main, ...words]
  const child = spawn(command, rest, {
    ...(uid === undefined ? {} : { uid }),
    // Servers of tests run side by side, so they take neither the default admin port nor all cores, unless a test asks for several workers.
    env: { PATH: process.env.PATH, HOLDFAST_ADMIN_LISTEN: 'off', HOLDFAST_WORKERS: '1', ...environment },
    stdio: ['ignore', 'pipe', typeof errors === 'number' ? errors : 'pipe'],
  })
  children.add(child)
  const output = { stdout: '', stderr: '' }
  ran.push({ words, output })
  if (ran.length > ranMax) ran.shift()
  const read = errors === undefined ? child.stderr : null
  read?.on('data', (chunk) => {
    output.stderr += chunk
  })
  const ended = new Promise<Outcome>((resolve) => {
    // A socket that nobody reads never closes.
    child.once(errors === undefined ? 'close' : 'exit', (code, signal) => {
      children.delete(child)
      resolve({ code, signal, ...output })
    })
  })
  const line = firstOf(child.stdout ?? Readable.from([]), ended, (said) => {
    output.stdout += `${said}\n`
  })
  return { child, output, line, logged: firstOf(read ?? Readable.from([]), ended), ended }
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
  circumstances: Circumstances = {},
): Promise<Running & { ready: ReadyEvent }> {
  const running = run([...words, '--json'], environment, circumstances)
  const ready = JSON.parse(await running.line((line) => line.includes('"event":"ready"')))
  return { ...running, ready }
}

export const keyVariables = {
  HOLDFAST_ACCESS_KEY_ID: environmentKey.accessKeyId,
  HOLDFAST_SECRET_ACCESS_KEY: environmentKey.secretAccessKey,
}

/** For `expect.poll` of a command's output. Each look starts a process, and must leave processor time for what the test waits for. */
export const askedEverySecond = { interval: 1000 }

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
