/** Other servers of S3 on the same work: those that run already (`--peer NAME=URL,KEY,SECRET`), and those that the bench starts (`--peer KIND=PROGRAM`). */
import { type ExecFileException, execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createBucket } from '../load/create-bucket.ts'
import type { Endpoint } from '../load/order.ts'
import { type PeerKind, type PeerSetup, peerKinds, type RunBeside } from './peer-kinds.ts'
import { cleanEnvironment, freePorts, type Server, startSilentChild } from './server.ts'

export class PeerError extends Error {}

export interface Peer {
  name: string
  /** Present when the bench starts the server. */
  program?: PeerProgram
  /** Starts it on a directory that does not exist yet. */
  start(directory: string): Promise<Server>
}

export interface PeerProgram {
  kind: PeerKind
  path: string
}

const kindNames = peerKinds.map(({ name }) => name).join(', ')

/** Throws `PeerError` for what names no peer. */
export function parsePeer(text: string): Peer {
  const [, name, value = ''] = /^([\w.-]+)=(.+)$/.exec(text) ?? []
  if (name === undefined) throw new PeerError(`--peer expects NAME=URL,KEY,SECRET or KIND=PROGRAM, not '${text}'`)
  return /^\w+:\/\//.test(value) ? runningPeer(name, value) : startedPeer(name, value)
}

function startedPeer(name: string, path: string): Peer {
  const kind = peerKinds.find((known) => known.name === name)
  if (kind === undefined) {
    throw new PeerError(`--peer ${name} expects URL,KEY,SECRET; programs are started of ${kindNames}`)
  }
  const program = { kind, path }
  return { name: kind.title, program, start: (directory) => startPeer(program, directory) }
}

function runningPeer(name: string, value: string): Peer {
  const [, address = '', accessKeyId, secretAccessKey] = /^([^,]+),([^,]+),(.+)$/.exec(value) ?? []
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new PeerError(`--peer ${name} expects URL,KEY,SECRET, not '${value}'`)
  }
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'http:') {
    throw new PeerError(`--peer ${name} expects a URL that begins with http://: TLS is not what is measured`)
  }
  const endpoint = endpointOf(url.hostname, Number(url.port || 80), { accessKeyId, secretAccessKey }, 'holdfast-bench')
  return { name, start: async () => ({ name, endpoint, pid: undefined, close: async () => {} }) }
}

type Keys = Pick<Endpoint, 'accessKeyId' | 'secretAccessKey'>

function endpointOf(host: string, port: number, keys: Keys, bucket: string): Endpoint {
  return { host, port, region: 'us-east-1', ...keys, bucket, stores: true, encrypts: false }
}

/** Resolves when the peer has made its bucket, because some peers answer long before they can do that. */
async function startPeer({ kind, path }: PeerProgram, directory: string): Promise<Server> {
  const ports = await freePorts(kind.ports)
  // Every kind accepts keys of this form.
  const accessKeyId = `GK${randomBytes(12).toString('hex')}`
  const setup: PeerSetup = { directory, ports, accessKeyId, secretAccessKey: randomBytes(32).toString('hex') }
  mkdirSync(join(directory, 'data'), { recursive: true })
  const launch = kind.launch(setup)
  for (const [file, text] of Object.entries(launch.files ?? {})) writeFileSync(file, text, { mode: 0o600 })
  const endpoint = endpointOf('127.0.0.1', ports[0] ?? 0, setup, 'bench')
  const run: RunBeside = (words, input) => runProgram(path, words, input)
  let isPrepared = kind.prepare === undefined
  const [program, words] = commandOf(path, launch.words)
  const environment = { ...cleanEnvironment(), ...launch.environment }
  const child = await startSilentChild(program, words, environment, join(directory, 'log'), async () => {
    if (!isPrepared) await kind.prepare?.(setup, run)
    isPrepared = true
    await createBucket(endpoint)
  })
  return { name: kind.title, endpoint, pid: child.pid, close: () => child.stop() }
}

/** The version, as the program itself prints it. */
export async function versionOf({ kind, path }: PeerProgram): Promise<string> {
  const [first = ''] = (await runProgram(path, kind.versionWords)).trim().split('\n')
  return first
}

/** A build of ours may be named by its main file. */
function commandOf(path: string, words: readonly string[]): [string, readonly string[]] {
  return path.endsWith('.js') ? [process.execPath, [path, ...words]] : [path, words]
}

const runMsMax = 30_000

function runProgram(path: string, words: readonly string[], input = ''): Promise<string> {
  const [program, all] = commandOf(path, words)
  return new Promise((resolve, reject) => {
    const settle = (error: ExecFileException | null, stdout: string, stderr: string): void =>
      error === null ? resolve(stdout || stderr) : reject(new Error(`${all.join(' ')}: ${stderr || error.message}`))
    const child = execFile(program, all, { env: cleanEnvironment(), timeout: runMsMax }, settle)
    // The program may have ended without reading its input.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}
