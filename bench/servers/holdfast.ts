/** Starts Holdfast as a user would: the command, in a process of its own, on a directory. */
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { type Child, type Server, startChild } from './server.ts'

const command = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

const accessKeyId = 'bench'
const secretAccessKey = randomBytes(16).toString('hex')

/** Settings of whoever runs the bench stay outside. */
function environment(): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !/^(HOLDFAST|AWS|MINIO)_/.test(name))
  return {
    ...Object.fromEntries(others),
    HOLDFAST_ACCESS_KEY_ID: accessKeyId,
    HOLDFAST_SECRET_ACCESS_KEY: secretAccessKey,
  }
}

export interface HoldfastServer extends Server {
  pid: number
  /** From starting the command until it said that it is ready. */
  startMs: number
  kill(): Promise<void>
}

export interface HoldfastOptions {
  data: string
  workers?: number
  encrypts?: boolean
}

export async function startHoldfast(name: string, options: HoldfastOptions): Promise<HoldfastServer> {
  const { data, workers = 1, encrypts = false } = options
  const words = ['serve', '--json', '--data', data, '--listen', '127.0.0.1:0', '--workers', String(workers)]
  const beganMs = performance.now()
  const child = await startChild(process.execPath, [command, ...words], environment())
  const startMs = performance.now() - beganMs
  const { hostname, port } = new URL(JSON.parse(child.firstLine).endpoint)
  const endpoint = {
    host: hostname,
    port: Number(port),
    region: 'us-east-1',
    accessKeyId,
    secretAccessKey,
    bucket: 'bench',
    stores: true,
    encrypts,
  }
  return { name, endpoint, pid: child.pid, startMs, close: () => child.stop(), kill: () => child.stop('SIGKILL') }
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
  const child: Child = await startChild(process.execPath, [command, 'reclaim', '--json', '--data', data], environment())
  const report = JSON.parse(child.firstLine)
  await child.ended
  return report
}
