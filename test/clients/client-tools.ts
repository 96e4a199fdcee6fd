/** Runs the S3 clients that people use, as they are installed, against a server of this checkout. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { environmentKey, killLeftovers, serve } from '../cli/holdfast-process.ts'

export interface Workplace {
  endpoint: string
  /** `127.0.0.1:54321`. */
  host: string
  /** An empty directory. */
  directory: string
  /** Runs a client; rejects with all it printed unless it ends well. Resolves with what it printed to stdout. */
  client(command: string, ...words: string[]): Promise<string>
  /** Like `client`, and resolves with what it printed to stderr too. */
  output(command: string, ...words: string[]): Promise<string>
  /** For a client that must fail: resolves with all it printed. */
  failing(command: string, ...words: string[]): Promise<string>
}

const clientVariables = {
  AWS_ACCESS_KEY_ID: environmentKey.accessKeyId,
  AWS_SECRET_ACCESS_KEY: environmentKey.secretAccessKey,
  AWS_DEFAULT_REGION: 'us-east-1',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_SHARED_CREDENTIALS_FILE: '/nonexistent',
}

/** Says what `probe` needs to run, so that a machine without it reports a skip by name; CI has all of them, and there it fails. */
function missing(probe: readonly string[]): boolean {
  const [command = '', ...words] = probe
  return spawnSync(command, words, { stdio: 'ignore' }).status !== 0
}

/** A suite that needs an installed client. `probe` is a command that succeeds where it is installed. */
export function describeClient(name: string, probe: readonly string[], suite: (at: Workplace) => void): void {
  const absent = missing(probe)
  if (absent && process.env.HOLDFAST_CI_CLIENTS === '1') throw new Error(`${name} should be installed here`)
  const title = absent ? `${name} (not installed)` : name
  describe.skipIf(absent)(title, () => {
    const at: Workplace = { endpoint: '', host: '', directory: '', client: succeed, output: speak, failing: fail }
    let root: string

    async function succeed(command: string, ...words: string[]): Promise<string> {
      return (await succeeded(command, words)).stdout
    }
    async function speak(command: string, ...words: string[]): Promise<string> {
      return (await succeeded(command, words)).all
    }
    async function fail(command: string, ...words: string[]): Promise<string> {
      const { code, all } = await run(command, words)
      if (code === 0) throw new Error(`${command} ${words.join(' ')} should have failed:\n${all}`)
      return all
    }
    async function succeeded(command: string, words: string[]): Promise<{ stdout: string; all: string }> {
      const { code, ...printed } = await run(command, words)
      if (code !== 0) throw new Error(`${command} ${words.join(' ')} ended with ${code}:\n${printed.all}`)
      return printed
    }
    function run(command: string, words: string[]): Promise<{ code: number | null; stdout: string; all: string }> {
      const { PATH, HOME } = process.env
      const env = {
        PATH,
        HOME,
        ...clientVariables,
        AWS_ENDPOINT_URL: at.endpoint,
        AWS_CONFIG_FILE: join(at.directory, 'aws-config'),
      }
      return new Promise((resolve, reject) => {
        const child = spawn(command, words, { env, cwd: at.directory, stdio: ['ignore', 'pipe', 'pipe'] })
        const outcome = { stdout: '', all: '' }
        child.stdout.on('data', (chunk) => {
          outcome.stdout += chunk
          outcome.all += chunk
        })
        child.stderr.on('data', (chunk) => {
          outcome.all += chunk
        })
        child.once('error', reject).once('close', (code) => resolve({ code, ...outcome }))
      })
    }

    beforeAll(async () => {
      root = await mkdtemp(join(tmpdir(), 'holdfast-clients-'))
      const server = await serve(['serve', '--data', join(root, 'data'), '--listen', '127.0.0.1:0'])
      at.endpoint = server.ready.endpoint
      at.host = new URL(at.endpoint).host
      at.directory = await mkdtemp(join(root, 'files-'))
    })
    afterAll(async () => {
      killLeftovers()
      await rm(root, { recursive: true, force: true, maxRetries: 5 })
    })
    suite(at)
  })
}
