/** Runs the S3 clients that people use, as they are installed, against a server of this checkout. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { environmentKey, keyVariables, killLeftovers, serve } from '../cli/holdfast-process.ts'
import { makeAuthority, opensslProbe } from '../support/authority.ts'
import { describeInstalled } from '../support/installed.ts'
import { WarmAws } from './warm-aws.ts'

export interface Workplace {
  endpoint: string
  /** `127.0.0.1:54321`. */
  host: string
  tls: boolean
  /** An empty directory. */
  directory: string
  /** PEM file of whom to trust, when the server speaks TLS; aws-cli and boto3 know it from their environment. */
  authorityFile: string
  /** Runs a client; rejects with all it printed unless it ends well. Resolves with what it printed to stdout. */
  client(command: string, ...words: string[]): Promise<string>
  /** Like `client`, and resolves with what it printed to stderr too. */
  output(command: string, ...words: string[]): Promise<string>
  /** For a client that must fail: resolves with all it printed. */
  failing(command: string, ...words: string[]): Promise<string>
}

interface Outcome {
  code: number | null
  stdout: string
  /** With what went to stderr. */
  all: string
}

/** A webhook that nobody answers for. */
const webhookVariables = {
  MINIO_NOTIFY_WEBHOOK_ENABLE_PRIMARY: 'on',
  MINIO_NOTIFY_WEBHOOK_ENDPOINT_PRIMARY: 'http://127.0.0.1:9/events',
}

const clientVariables = {
  AWS_ACCESS_KEY_ID: environmentKey.accessKeyId,
  AWS_SECRET_ACCESS_KEY: environmentKey.secretAccessKey,
  AWS_DEFAULT_REGION: 'us-east-1',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_SHARED_CREDENTIALS_FILE: '/nonexistent',
}

/** A suite that needs an installed client. `probe` is a command that succeeds where it is installed. */
export function describeClient(
  name: string,
  probe: readonly string[],
  suite: (at: Workplace) => void,
  { tls = false }: { tls?: boolean } = {},
): void {
  describeInstalled(name, tls ? [probe, opensslProbe] : [probe], () => {
    const calls = { client: succeed, output: speak, failing: fail }
    const at: Workplace = { endpoint: '', host: '', tls, directory: '', authorityFile: '', ...calls }
    const warmAws = new WarmAws()
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
    async function run(command: string, words: string[]): Promise<Outcome> {
      const { PATH = '', HOME = '' } = process.env
      const env = {
        PATH,
        HOME,
        ...clientVariables,
        AWS_ENDPOINT_URL: at.endpoint,
        AWS_CONFIG_FILE: join(at.directory, 'aws-config'),
        ...(tls ? { AWS_CA_BUNDLE: at.authorityFile } : {}),
      }
      const asked = command === 'env' ? words.findIndex((word) => !word.includes('=')) : -1
      const variables = words.slice(0, Math.max(0, asked)).map((word) => word.split('=', 2))
      if ([command, ...words][asked + 1] === 'aws') {
        const environment = { ...env, ...Object.fromEntries(variables) }
        const printed = await warmAws.run({ words: words.slice(asked + 1), environment, directory: at.directory })
        if (printed !== undefined) return { ...printed, all: printed.stdout + printed.stderr }
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
      const certificate = tls ? await certify() : []
      const names = ['--listen', '127.0.0.1:0', '--website-domain', 'site.test']
      const server = await serve(['serve', '--data', join(root, 'data'), ...names, ...certificate], {
        ...keyVariables,
        ...webhookVariables,
      })
      at.endpoint = server.ready.endpoint
      at.host = new URL(at.endpoint).host
      at.directory = await mkdtemp(join(root, 'files-'))
    })
    async function certify(): Promise<string[]> {
      const authority = makeAuthority(root)
      const [certFile, keyFile] = [join(root, 'server-cert.pem'), join(root, 'server-key.pem')]
      const { cert, key } = authority.issue('server')
      await writeFile(certFile, cert)
      await writeFile(keyFile, key)
      at.authorityFile = authority.certFile
      return ['--tls-cert', certFile, '--tls-key', keyFile]
    }
    afterAll(async () => {
      await killLeftovers()
      await warmAws.end()
      await rm(root, { recursive: true, force: true, maxRetries: 20 })
    })
    suite(at)
  })
}
