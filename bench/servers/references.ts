/** Starts what the server is held against in the same run: bare node:http, nginx with sendfile, MD5 alone, a log alone. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Endpoint } from '../load/order.ts'
import { keyOf, standingSet } from '../load/requests.ts'
import type { DecisionCosts, EngineCosts, StartCosts } from '../results.ts'
import type { Workload } from '../workloads.ts'
import { cleanEnvironment, freePorts, type Server, startChild, startSilentChild } from './server.ts'
import { bareNames } from './server-names.ts'

const bucket = 'bench'

const script = (name: string): string => fileURLToPath(new URL(`../references/${name}.js`, import.meta.url))

/** Says it in the terms of a server of S3, whose signatures nobody checks. */
function plainEndpoint(port: number): Endpoint {
  const [accessKeyId, secretAccessKey] = ['nobody', 'nothing']
  return {
    host: '127.0.0.1',
    port,
    region: 'us-east-1',
    accessKeyId,
    secretAccessKey,
    bucket,
    stores: false,
    encrypts: false,
  }
}

export async function startNodeHttp(): Promise<Server> {
  const child = await startChild(process.execPath, [script('http-process')])
  return {
    name: bareNames.one,
    endpoint: plainEndpoint(Number(child.firstLine)),
    pid: child.pid,
    close: () => child.stop(),
  }
}

/** Three processes as one server with several ports. What they share is the machine. */
export async function startThreeNodeHttp(): Promise<Server> {
  const children = [await startNodeHttp(), await startNodeHttp(), await startNodeHttp()] as const
  const [{ endpoint, pid }, ...others] = children
  const beside = others.flatMap((other) =>
    other.pid === undefined ? [] : { port: other.endpoint.port, pid: other.pid },
  )
  const close = async (): Promise<void> => {
    for (const child of children) await child.close()
  }
  return { name: bareNames.three, endpoint, pid, beside, close }
}

export function nginxInstalled(): boolean {
  try {
    execFileSync('nginx', ['-v'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Serves the objects that the work reads as files. */
export async function startNginx(directory: string, workload: Workload): Promise<Server> {
  const body = Buffer.alloc(workload.objectBytes, 'nginx')
  for (let number = 0; number < workload.objects; number++) {
    const file = join(directory, 'root', bucket, keyOf(standingSet(workload), number))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, body)
  }
  const [port = 0] = await freePorts(1)
  const configuration = join(directory, 'nginx.conf')
  writeFileSync(configuration, nginxConfiguration(directory, port))
  const log = join(directory, 'error.log')
  const words = ['-p', directory, '-c', configuration, '-e', log]
  const child = await startSilentChild('nginx', words, cleanEnvironment(), log, async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/`)
    await answer.arrayBuffer()
  })
  return { name: 'nginx', endpoint: plainEndpoint(port), pid: child.pid, close: () => child.stop() }
}

function nginxConfiguration(directory: string, port: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `  ${kind}_temp_path ${directory}/${kind};`,
  )
  // Started by root, it would give its rights away, and could not read files that root keeps to itself.
  const user = process.getuid?.() === 0 ? ['user root;'] : []
  return [
    ...user,
    'daemon off;',
    'worker_processes 1;',
    `pid ${directory}/nginx.pid;`,
    'events { worker_connections 1024; }',
    'http {',
    ...temporary,
    '  access_log off;',
    '  sendfile on;',
    '  tcp_nopush on;',
    '  keepalive_requests 1000000000;',
    '  open_file_cache max=20000 inactive=1h;',
    '  default_type application/octet-stream;',
    '  server {',
    `    listen 127.0.0.1:${port};`,
    `    root ${directory}/root;`,
    '  }',
    '}',
    '',
  ].join('\n')
}

/** Bytes a second. */
export async function measureMd5(bytes: number, seconds: number): Promise<number> {
  return measureAlone('md5-process', [bytes, seconds])
}

/** Durable records a second. */
export async function measureLog(directory: string, recordBytes: number, seconds: number): Promise<number> {
  return measureAlone('log-process', [directory, recordBytes, seconds])
}

export async function measureDecisions(seconds: number): Promise<DecisionCosts> {
  return JSON.parse(await firstLineOf('decision-process', [seconds]))
}

export async function measureLibraryStart(): Promise<Pick<StartCosts, 'importMs' | 'firstMs' | 'warmMs'>> {
  const library = fileURLToPath(new URL('../../joined/index.js', import.meta.url))
  return JSON.parse(await firstLineOf('start-process', [library]))
}

export interface EngineWork {
  directory: string
  groupKeys: number
  rounds: number
  seconds: number
}

/** Measures the engine on an empty database. */
export async function measureEngine(
  url: string,
  { directory, groupKeys, rounds, seconds }: EngineWork,
): Promise<EngineCosts[]> {
  return JSON.parse(await firstLineOf('engine-process', [url, directory, groupKeys, rounds, seconds]))
}

async function measureAlone(name: string, words: readonly (string | number)[]): Promise<number> {
  return Number(await firstLineOf(name, words))
}

async function firstLineOf(name: string, words: readonly (string | number)[]): Promise<string> {
  const child = await startChild(process.execPath, [script(name), ...words.map(String)])
  await child.ended
  return child.firstLine
}
