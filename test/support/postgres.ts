/** Real PostgreSQL servers, each in a directory of its own, reached over a socket of their own on the loopback address. */
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'

/** Where Debian keeps them, the newest first; or wherever the path leads. */
function binaries(): string | undefined {
  const root = '/usr/lib/postgresql'
  const installed = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  const found = installed.map((version) => join(root, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')))
  if (found !== undefined) return found
  const { stdout } = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' })
  const bin = stdout?.trim()
  return bin && existsSync(join(bin, 'initdb')) ? bin : undefined
}

const postgresBinaries = binaries()

/** Succeeds where a server can be started. */
export const postgresProbe = [join(postgresBinaries ?? '/nowhere', 'postgres'), '--version']

/** PostgreSQL refuses to run as root. */
function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

const attemptsMax = 5

export class PostgresServer {
  readonly port: number
  readonly #directory: string
  readonly #settings: readonly string[]
  #process: ChildProcess | undefined
  #guard: Writable | undefined

  private constructor(directory: string, port: number, settings: readonly string[]) {
    this.#directory = directory
    this.port = port
    this.#settings = settings
  }

  /** `parent`: where its directory is made. */
  static start(settings: readonly string[] = [], parent?: string): Promise<PostgresServer> {
    const words = ['-U', 'holdfast', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync']
    return PostgresServer.#make('initdb', words, settings, { parent })
  }

  /** A copy of this one that follows it. `port`: of a server that is no more. */
  standby(port?: number): Promise<PostgresServer> {
    const words = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'holdfast', '-R', '-X', 'stream', '-c', 'fast']
    return PostgresServer.#make('pg_basebackup', words, this.#settings, { port })
  }

  static async #make(
    program: string,
    words: readonly string[],
    settings: readonly string[],
    { port, parent = tmpdir() }: { port?: number | undefined; parent?: string | undefined },
  ): Promise<PostgresServer> {
    const directory = await mkdtemp(join(parent, 'holdfast-postgres-'))
    const user = unprivileged()
    if (user.uid !== undefined && user.gid !== undefined) await chown(directory, user.uid, user.gid)
    const all = ['-D', join(directory, 'data'), ...words]
    await promisify(execFile)(join(postgresBinaries ?? '', program), all, { ...user, cwd: directory })
    for (let attempt = 1; ; attempt++) {
      const server = new PostgresServer(directory, port ?? (await freePort()), settings)
      try {
        await server.begin()
        return server
      } catch (error) {
        // Another process has taken the port since it was found to be free.
        const isTaken = String(error).includes('Address already in use')
        if (!isTaken || port !== undefined || attempt === attemptsMax) throw error
      }
    }
  }

  /** The id of the server's first process. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  get url(): string {
    return `postgres://holdfast@127.0.0.1:${this.port}/postgres`
  }

  /** A database of its own. */
  async database(name: string): Promise<string> {
    this.run('postgres', `create database ${name}`)
    return `postgres://holdfast@127.0.0.1:${this.port}/${name}`
  }

  /** Runs statements as the superuser; gives what the first column says, by line. */
  run(database: string, statements: string): string {
    const words = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'holdfast', '-d', database, '-X', '-A', '-t', '-q']
    return execFileSync(join(postgresBinaries ?? '', 'psql'), [...words, '-v', 'ON_ERROR_STOP=1', '-c', statements], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  }

  /** Nothing where it runs. */
  async begin(): Promise<void> {
    if (this.#runs) return
    const settings = [`port=${this.port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', ...this.#settings]
    const words = ['-D', join(this.#directory, 'data'), ...settings.flatMap((setting) => ['-c', setting])]
    const child = spawn(join(postgresBinaries ?? '', 'postgres'), words, {
      ...unprivileged(),
      cwd: this.#directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#process = child
    this.#guard = guard(child.pid ?? 0, this.#directory)
    let said = ''
    await new Promise<void>((resolve, reject) => {
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-4000)
        if (said.includes('database system is ready to accept')) resolve()
      })
      child.once('exit', () => reject(new Error(`PostgreSQL ended: ${said}`)))
    })
  }

  /** Acts as if its machine were gone: all its processes stop at once. */
  async kill(): Promise<void> {
    const pid = this.#process?.pid
    const sessions =
      pid === undefined ? [] : readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    await this.stop('SIGKILL')
    for (const session of sessions.map(Number)) {
      try {
        process.kill(session, 'SIGKILL')
      } catch {
        // It has ended by itself.
      }
    }
  }

  /** `SIGINT`: fast shutdown. `SIGQUIT`: at once, as a crash. */
  async stop(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL' = 'SIGINT'): Promise<void> {
    const child = this.#process
    if (child === undefined || !this.#runs) return
    // Before its process id can become another's.
    this.#guard?.end('\n')
    child.kill(signal)
    await once(child, 'exit')
  }

  get #runs(): boolean {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null
  }

  pause(): void {
    this.#process?.kill('SIGSTOP')
  }

  async remove(): Promise<void> {
    await this.stop('SIGQUIT')
    await rm(this.#directory, { recursive: true, force: true, maxRetries: 20 })
  }
}

/**
 * Ends a server whose test was killed: nobody else would. A shell that outlives the test reads from it. A line says that the server ends in an orderly way; an end
 * without one, that the test is gone.
 */
function guard(pid: number, directory: string): Writable {
  const script = `read -r _ && exit
    kill -CONT $0 && kill -QUIT $0
    while kill -0 $0; do sleep 0.1; done
    rm -rf "$1"`
  const shell = spawn('sh', ['-c', script, String(pid), directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  shell.unref()
  return shell.stdin
}
