/** What suites of attacks share: a server with two accounts, an attacker in a process of its own, and how long the other account waits meanwhile. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { request as httpRequest, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { environmentKey, keyVariables, type ReadyEvent, serve } from '../cli/holdfast-process.ts'
import { type RequestToSign, type SigningKey, sign } from '../support/signer.ts'
import type { AttackName, AttackOrder } from './lock-out-attacker.ts'

const attackerKey = { accessKeyId: 'AKATTACKER', secretAccessKey: 'a-secret-of-the-attacker' }
const attackerProgram = fileURLToPath(new URL('../../dist/test/trust/lock-out-attacker.js', import.meta.url))
const MiB = 1024 * 1024
const bigBytes = 8 * MiB
const smallBody = Buffer.alloc(4096, 'v')

export interface AttackedServer {
  ready: ReadyEvent
  port: number
  tls: boolean
  ended: Promise<unknown>
}

/** Its buckets and objects are there. */
export async function startAttacked(
  root: string,
  words: readonly string[] = [],
  through: readonly string[] = [],
): Promise<AttackedServer> {
  await mkdir(root)
  const config = join(root, 'holdfast.toml')
  const { accessKeyId, secretAccessKey } = attackerKey
  await writeFile(
    config,
    `[[accounts]]\nid = "attacker"\nname = "Attacker"\nkeys = [{ accessKeyId = "${accessKeyId}", secretAccessKey = "${secretAccessKey}" }]\n`,
  )
  const where = ['serve', '--config', config, '--data', join(root, 'data'), '--listen', '127.0.0.1:0']
  const running = await serve([...where, ...words], keyVariables, { through })
  const { port, protocol } = new URL(running.ready.endpoint)
  const server = { ready: running.ready, port: Number(port), tls: protocol === 'https:', ended: running.ended }
  await ask(server, { method: 'PUT', path: '/victim' })
  await ask(server, { method: 'PUT', path: '/victim/small', body: smallBody })
  await ask(server, { method: 'PUT', path: '/attacker' }, attackerKey)
  await ask(server, { method: 'PUT', path: '/attacker/big', body: Buffer.alloc(bigBytes, 'a') }, attackerKey)
  return server
}

/** Over a connection of its own. Rejects unless the answer is a success. */
function ask(
  { port, tls }: AttackedServer,
  request: Omit<RequestToSign, 'host'>,
  key: SigningKey = environmentKey,
): Promise<void> {
  const { method, target, headers, body } = sign({ ...request, host: `127.0.0.1:${port}` }, { key })
  const options: RequestOptions & { rejectUnauthorized: false } = {
    port,
    host: '127.0.0.1',
    method,
    path: target,
    headers: headers.flat(),
    agent: false,
    timeout: 30_000,
    rejectUnauthorized: false,
  }
  return new Promise((resolve, reject) => {
    const outgoing = tls ? httpsRequest(options) : httpRequest(options)
    outgoing.on('error', reject).on('timeout', () => outgoing.destroy(new Error(`${method} had no answer in time`)))
    outgoing.on('response', (response) => {
      const { statusCode = 0 } = response
      response.on('error', reject).resume()
      response.on('end', () =>
        statusCode < 300 ? resolve() : reject(new Error(`${method} was answered ${statusCode}`)),
      )
    })
    outgoing.end(body)
  })
}

const turns = [
  { method: 'HEAD', path: '/victim/small' },
  { method: 'GET', path: '/victim/small' },
  { method: 'PUT', path: '/victim/new', body: smallBody },
]

/** How long each of so many requests took in milliseconds, the connection included, in ascending order: of each server, asked in turns. */
export async function waits(servers: readonly AttackedServer[], count: number): Promise<number[][]> {
  const taken = servers.map((): number[] => [])
  for (let i = 0; i < count; i++) {
    for (const [at, server] of servers.entries()) {
      const startedMs = performance.now()
      await ask(server, turns[i % turns.length] ?? { method: 'GET', path: '/' })
      taken[at]?.push(performance.now() - startedMs)
    }
  }
  return taken.map((each) => each.sort((a, b) => a - b))
}

/** Runs `work` under an attack that is under way. */
export async function underAttack<T>(
  { port, tls }: AttackedServer,
  { attack, connections }: { attack: AttackName; connections: number },
  work: () => Promise<T>,
): Promise<T> {
  const hasAccount = attack !== 'unfinished-heads' && attack !== 'bad-signatures'
  const from = hasAccount ? '127.0.0.1' : '127.0.0.2'
  const order: AttackOrder = { attack, port, tls, from, connections, key: attackerKey, path: '/attacker/big' }
  const child = spawn(process.execPath, [attackerProgram, JSON.stringify(order)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  try {
    setPriority(child.pid ?? 0, 10)
    await readyLine(child)
    return await work()
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

async function readyLine(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the attacker ended by itself')))
  ended.catch(() => {})
  await Promise.race([child.stdout === null ? ended : once(child.stdout, 'data'), ended])
}

/** Resident memory of the server with all of its processes. */
export async function memoryMiB({ ready: { pid } }: AttackedServer): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  const pids = [pid, ...children.trim().split(' ').filter(Boolean)]
  const statuses = await Promise.all(pids.map((each) => readFile(`/proc/${each}/status`, 'utf8')))
  return statuses.reduce((sum, status) => sum + Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024, 0)
}
