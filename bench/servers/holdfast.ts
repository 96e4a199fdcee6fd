/** Starts Holdfast as a user would: the command, in a process of its own, on a directory. */
import { execFile as execFileOf } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cleanEnvironment, type Server, startChild } from './server.ts'

const execFile = promisify(execFileOf)

const ownCommand = fileURLToPath(new URL('../../joined/main.js', import.meta.url))

const accessKeyId = 'bench'
const secretAccessKey = randomBytes(16).toString('hex')

function environment(): NodeJS.ProcessEnv {
  return {
    ...cleanEnvironment(),
    HOLDFAST_ACCESS_KEY_ID: accessKeyId,
    HOLDFAST_SECRET_ACCESS_KEY: secretAccessKey,
    // The credentials for the server that keeps the shards, if another server does.
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  }
}

export interface HoldfastServer extends Server {
  pid: number
  /** From starting the command until it said that it is ready. */
  startMs: number
  /** The URL of the admin port. Absent: none was asked for. */
  adminEndpoint: string | undefined
  kill(): Promise<void>
}

export interface HoldfastOptions {
  data: string
  /** Another checkout that was built. Absent: this one. */
  build?: string
  workers?: number
  encrypts?: boolean
  /** Its bucket lies 4 + 2 over six directories, all in `data`. */
  striped?: boolean
  /** Opens an admin port on any free port. */
  admin?: boolean
  /** The path of a configuration file. */
  config?: string
  /** Keeps the metadata in PostgreSQL and the bucket in a directory that other servers use too. */
  shared?: SharedData
}

export interface SharedData {
  /** The URL of the database. */
  url: string
  directory: string
}

/** Builds from before the sources were joined have only the other file. */
const commandOf = (build: string): string => {
  const joined = join(build, 'dist/joined/main.js')
  return existsSync(joined) ? joined : join(build, 'dist/src/cli/main.js')
}

export async function startHoldfast(name: string, options: HoldfastOptions): Promise<HoldfastServer> {
  const { data, build, workers = 1, encrypts = false, striped = false, config, shared, admin = false } = options
  const command = build === undefined ? ownCommand : commandOf(build)
  const own = striped ? join(data, 'own') : data
  const words = ['serve', '--json', '--data', own, '--listen', '127.0.0.1:0', '--workers', String(workers)]
  if (striped) words.push('--config', configureStripes(data))
  if (config !== undefined) words.push('--config', config)
  if (admin) words.push('--admin-listen', '127.0.0.1:0')
  if (shared !== undefined) words.push('--admin-listen', 'off', '--config', configureShared(data, shared))
  const beganMs = performance.now()
  const child = await startChild(process.execPath, [command, ...words], { ...environment(), ...variablesOf(shared) })
  const startMs = performance.now() - beganMs
  const ready: { endpoint: string; adminEndpoint?: string } = JSON.parse(child.firstLine)
  const { hostname, port } = new URL(ready.endpoint)
  const endpoint = {
    host: hostname,
    port: Number(port),
    region: 'us-east-1',
    accessKeyId,
    secretAccessKey,
    bucket: 'bench',
    stores: true,
    encrypts,
    ...(striped ? { location: stripedLocation } : {}),
  }
  return {
    name,
    endpoint,
    pid: child.pid,
    startMs,
    adminEndpoint: ready.adminEndpoint,
    close: () => child.stop(),
    kill: () => child.stop('SIGKILL'),
  }
}

const stripedLocation = 'striped'

/** Makes six stores in `directory`, and gives the path of the configuration. */
function configureStripes(directory: string): string {
  const names = Array.from({ length: 6 }, (_, i) => `disk${i}`)
  const stores = names.map((name) => `[stores.${name}]\ntype = "directory"\npath = "${directory}/${name}"\n`)
  const location = `[locations.${stripedLocation}]\nscheme = "erasure"\ndata = 4\nparity = 2\nstores = ${JSON.stringify(names)}\n`
  mkdirSync(directory, { recursive: true })
  const path = join(directory, 'bench.toml')
  writeFileSync(path, [...stores, location].join(''))
  return path
}

/** Writes the configuration for data that several servers share, and returns its path. */
function configureShared(data: string, { directory }: SharedData): string {
  const store = `[stores.shared]\ntype = "directory"\npath = "${directory}"\n`
  const location = `[locations.shared]\nscheme = "replica"\ncopies = 1\nstores = ["shared"]\n`
  mkdirSync(directory, { recursive: true })
  // The file lies beside the data directory, because a new data directory must be empty.
  const path = `${data}.toml`
  writeFileSync(path, `defaultLocation = "shared"\n${store}${location}`)
  return path
}

const keyRing = ['sse-s3', 'aws/s3'].map((name) => `${name} ${randomBytes(32).toString('base64')}`).join(',')

function variablesOf(shared: SharedData | undefined): NodeJS.ProcessEnv {
  return shared === undefined ? {} : { HOLDFAST_METADATA_URL: shared.url, HOLDFAST_KEY_RING: keyRing }
}

/** What `holdfast reclaim` reports. */
export interface Reclaimed {
  freedBytes: number
  blobsRemoved: number
  removedBatches: number
  movedShards: number
}

/** One run of the jobs over a stopped server's data; what is garbage goes at once. */
export async function reclaim(data: string): Promise<Reclaimed> {
  const words = [ownCommand, 'reclaim', '--json', '--data', data]
  const { stdout } = await execFile(process.execPath, words, { env: environment(), maxBuffer: 64 * 1024 * 1024 })
  // What comes before the report tells how far it was.
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
}
