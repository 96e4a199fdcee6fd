/** aws-cli without its start: see `warm_aws.py`. Where it can't be had so, nobody notices: `aws` is started for each command then. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('warm_aws.py', import.meta.url))

interface Command {
  words: readonly string[]
  environment: Readonly<Record<string, string>>
  directory: string
}

interface Printed {
  code: number
  stdout: string
  stderr: string
}

/** One command at a time. */
class WarmProcess {
  readonly version: Promise<string | undefined>
  readonly #child: ChildProcessWithoutNullStreams
  readonly #lines: AsyncIterator<string>
  readonly #ended: Promise<void>

  constructor() {
    const { PATH, HOME } = process.env
    this.#child = spawn('python3', [script], { env: { PATH, HOME }, stdio: 'pipe' })
    this.#child.on('error', () => {})
    this.#ended = new Promise((resolve) => this.#child.once('close', () => resolve()))
    this.#child.stdin.on('error', () => {})
    this.#child.stderr.resume()
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
    this.version = this.#line()
  }

  async run(command: Command, outputs: { stdout: string; stderr: string }): Promise<Printed> {
    this.#child.stdin.write(`${JSON.stringify({ ...command, ...outputs })}\n`)
    const code = await this.#line()
    if (code === undefined) throw new Error(`aws ${command.words.join(' ')}: what runs it ended`)
    const [stdout, stderr] = await Promise.all([readFile(outputs.stdout, 'utf8'), readFile(outputs.stderr, 'utf8')])
    return { code: Number(code), stdout, stderr }
  }

  end(): Promise<void> {
    this.#child.stdin.end()
    return this.#ended
  }

  /** `undefined`: it has ended. */
  async #line(): Promise<string | undefined> {
    const next = await this.#lines.next()
    return next.done === true ? undefined : next.value
  }
}

export class WarmAws {
  readonly #idle: WarmProcess[] = []
  readonly #all: WarmProcess[] = []
  #directory: Promise<string> | undefined
  #commands = 0
  /** Whether Python's is the program that is called `aws`. */
  #isIt: boolean | undefined

  /** `undefined`: `aws` must be started. */
  async run(command: Command): Promise<Printed | undefined> {
    const warm = this.#idle.pop() ?? this.#start()
    if (!(await this.#isAws(warm))) return undefined
    this.#directory ??= mkdtemp(join(tmpdir(), 'holdfast-aws-'))
    const path = join(await this.#directory, String(this.#commands++))
    try {
      return await warm.run(command, { stdout: `${path}.out`, stderr: `${path}.err` })
    } finally {
      this.#idle.push(warm)
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#all.map((warm) => warm.end()))
    if (this.#directory !== undefined) await rm(await this.#directory, { recursive: true, force: true })
  }

  #start(): WarmProcess {
    const warm = new WarmProcess()
    this.#all.push(warm)
    return warm
  }

  async #isAws(warm: WarmProcess): Promise<boolean> {
    const version = await warm.version
    this.#isIt ??= version !== undefined && spawnSync('aws', ['--version']).stdout.toString().startsWith(`${version} `)
    return this.#isIt
  }
}
