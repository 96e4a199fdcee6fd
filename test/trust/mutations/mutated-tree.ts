/** A copy of this checkout in which one source file at a time is changed, and suites are run. The checkout itself is never touched. */
import { spawn } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Mutation } from './mutation.ts'

export const checkout = fileURLToPath(new URL('../../../', import.meta.url))

/** Not copied. `node_modules` is linked instead. */
const left: ReadonlySet<string> = new Set(['.git', 'node_modules', 'data'])
const buildMsMax = 5 * 60_000
const suiteMsMax = 10 * 60_000

/** How a suite ended. `broken`: before any of its tests failed or passed. */
export type Outcome = 'passed' | 'failed' | 'broken' | 'timed out'

export interface SuiteRun {
  outcome: Outcome
  /** What it printed. */
  output: string
}

export function mutatedText(text: string, { file, find, replace }: Mutation): string {
  const pieces = text.split(find)
  if (pieces.length !== 2) throw new Error(`${file} has ${pieces.length - 1} of: ${find}`)
  return pieces.join(replace)
}

export class MutatedTree {
  readonly #path: string
  /** Of suites as they are without a mutation. */
  readonly #sound = new Map<string, Promise<SuiteRun>>()

  private constructor(path: string) {
    this.#path = path
  }

  static async make(): Promise<MutatedTree> {
    const path = await mkdtemp(join(tmpdir(), 'holdfast-mutated-'))
    for (const name of await readdir(checkout)) {
      if (!left.has(name)) await cp(join(checkout, name), join(path, name), { recursive: true })
    }
    await symlink(join(checkout, 'node_modules'), join(path, 'node_modules'))
    return new MutatedTree(path)
  }

  remove(): Promise<void> {
    return rm(this.#path, { recursive: true, force: true, maxRetries: 5 })
  }

  /** The mutation's suite without it: run once, however many mutations it is to kill. */
  async withoutMutation(mutation: Mutation): Promise<SuiteRun> {
    const name = `${mutation.suite} ${mutation.only ?? ''}`
    const known = this.#sound.get(name) ?? this.#run(mutation)
    this.#sound.set(name, known)
    return known
  }

  async withMutation(mutation: Mutation): Promise<SuiteRun> {
    const file = join(this.#path, 'src', mutation.file)
    const text = await readFile(file, 'utf8')
    await writeFile(file, mutatedText(text, mutation))
    try {
      return await this.#run(mutation)
    } finally {
      await writeFile(file, text)
    }
  }

  /** Builds first: some suites run compiled code. A type error is no reason not to: the compiler writes its output all the same. */
  async #run({ suite, only }: Mutation): Promise<SuiteRun> {
    const built = await this.#node(['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'], buildMsMax)
    const joined = await this.#node(['node_modules/rolldown/bin/cli.mjs', '-c'], buildMsMax)
    if (built.code === undefined || joined.code === undefined) return { outcome: 'timed out', output: built.output }
    const report = join(this.#path, 'mutation-report.json')
    await rm(report, { force: true })
    const words = ['node_modules/vitest/vitest.mjs', 'run', `test/${suite}`, '--bail=1', '--maxWorkers=1']
    words.push('--reporter=default', '--reporter=json', `--outputFile.json=${report}`)
    if (only !== undefined) words.push('-t', only)
    const { code, output } = await this.#node(words, suiteMsMax)
    if (code === undefined) return { outcome: 'timed out', output }
    const { numPassedTests, numFailedTests } = JSON.parse(await readFile(report, 'utf8')) as Record<string, number>
    if (numFailedTests !== 0) return { outcome: 'failed', output }
    if (numPassedTests === 0) return { outcome: 'broken', output: `${built.output}\n${output}` }
    // Something failed beside the tests, such as a promise that nobody waited for.
    return { outcome: code === 0 ? 'passed' : 'failed', output }
  }

  /** `code` is undefined when it took too long. */
  #node(words: readonly string[], msMax: number): Promise<{ code: number | undefined; output: string }> {
    return new Promise((resolve, reject) => {
      // Its own group, so that servers that a suite started end with it; and none of the settings of the run that this is.
      const child = spawn(process.execPath, words, { cwd: this.#path, env: ownEnvironment(), detached: true })
      let output = ''
      const take = (chunk: Buffer): void => {
        output = (output + chunk.toString()).slice(-20_000)
      }
      child.stdout.on('data', take)
      child.stderr.on('data', take)
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      }, msMax)
      child.once('error', reject)
      child.once('close', (code) => {
        clearTimeout(timer)
        resolve({ code: isLate ? undefined : (code ?? 1), output })
      })
    })
  }
}

/** The small numbers of a pull request, and one test runner that knows nothing of the other. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^(?:HOLDFAST_(?:TRUST_SCALE|CRASH_SEEDS|FAULT_STEP|TEST_REPORT)|VITEST.*|NODE_ENV|MODE|TEST)$/.test(name),
    ),
  )
}
