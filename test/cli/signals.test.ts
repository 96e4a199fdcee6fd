/** What signals do to a running server, and to whom its instance socket belongs. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand, ListBucketsCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { keyVariables, killLeftovers, type Running, run, serve } from './holdfast-process.ts'

let root: string
let config: string
const clients: S3Client[] = []

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-signals-'))
  config = join(root, 'holdfast.toml')
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  await killLeftovers()
  await rm(root, { recursive: true, force: true, maxRetries: 20 })
})

const account = (id: string): string => `[[accounts]]
id = "${id}"
keys = [{ accessKeyId = "key-of-${id}", secretAccessKey = "secret-of-${id}" }]
`
const configure = (...accounts: string[]): Promise<void> =>
  writeFile(config, `data = "data"\nlisten = "127.0.0.1:0"\nlogLevel = "info"\n${accounts.map(account).join('')}`)

function clientOf(endpoint: string, id: string): S3Client {
  const credentials = { accessKeyId: `key-of-${id}`, secretAccessKey: `secret-of-${id}` }
  const client = new S3Client({ endpoint, region: 'us-east-1', credentials, forcePathStyle: true })
  clients.push(client)
  return client
}

/** With a connection of its own, so that each worker is asked. */
async function answers(endpoint: string, id: string): Promise<string> {
  const client = clientOf(endpoint, id)
  const outcome = await client.send(new ListBucketsCommand({})).then(
    () => 'served',
    (error: Error) => error.name,
  )
  client.destroy()
  return outcome
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

describe('SIGHUP', () => {
  test.each(['1', '2'])(
    'brings new accounts into force and drops no request; a bad configuration changes nothing; workers: %s',
    async (workers) => {
      await configure('main', 'old')
      const running = await serve(['serve', '--config', config, '--workers', workers], {})
      const { endpoint } = running.ready
      const asked = (id: string) => Promise.all(Array.from({ length: 4 }, () => answers(endpoint, id)))
      expect(await asked('old')).toEqual(Array(4).fill('served'))

      const client = clientOf(endpoint, 'main')
      await client.send(new CreateBucketCommand({ Bucket: 'bucket' }))
      const url = await getSignedUrl(client, new PutObjectCommand({ Bucket: 'bucket', Key: 'slow' }))
      const put = request(url, { method: 'PUT', headers: { 'Content-Length': 10, Expect: '100-continue' } })
      const answered = new Promise<number | undefined>((resolve, reject) => {
        put.once('response', (response) => resolve(response.resume().statusCode))
        put.once('error', reject)
      })
      put.flushHeaders()
      await new Promise((resolve) => put.once('continue', resolve))
      put.write('first')

      await configure('main', 'new')
      running.child.kill('SIGHUP')
      await running.logged((line) => line.includes('was read again'))
      // A worker takes it over a moment later.
      while (!(await asked('old')).every((code) => code === 'InvalidAccessKeyId'));
      expect(await asked('new')).toEqual(Array(4).fill('served'))
      put.end('again')
      expect(await answered).toBe(200)

      await writeFile(config, '[[accounts]]\nid = "new"\n')
      running.child.kill('SIGHUP')
      expect(await running.logged((line) => line.includes('is not used'))).toContain('accounts')
      expect(await asked('new')).toEqual(Array(4).fill('served'))

      if (workers === '2') {
        const [victim = 0] = childrenOf(running.ready.pid)
        process.kill(victim, 'SIGKILL')
        await running.logged((line) => line.includes('a worker died'))
        expect(await asked('new')).toEqual(Array(4).fill('served'))
        while (childrenOf(running.ready.pid).length < 2) await answers(endpoint, 'new')
        expect(await asked('old')).toEqual(Array(4).fill('InvalidAccessKeyId'))
      }
      running.child.kill('SIGTERM')
      expect(await running.ended).toMatchObject({ code: 0 })
    },
  )
})

describe.runIf(process.platform === 'linux')('SIGHUP with a log file that only the primary can open', () => {
  test('ends no worker', async () => {
    await configure('main')
    const running = await serve(['serve', '--config', config, '--workers', '2'], {})
    const { endpoint, pid } = running.ready
    const workers = childrenOf(pid)
    // A file of the primary's own thread, which no worker has.
    await writeFile(config, `logFile = "/proc/self/task/${pid}/comm"\n${await readFile(config, 'utf8')}`)
    running.child.kill('SIGHUP')
    for (const worker of workers)
      await running.logged((line) => line.includes(`"pid":${worker}`) && line.includes('cannot be reopened'))
    expect(await answers(endpoint, 'main')).toBe('served')
    expect(childrenOf(pid)).toEqual(workers)
  })
})

describe('SIGHUP without any account left', () => {
  test('makes a key for the root account, and says where it is kept', async () => {
    await configure('main')
    const running = await serve(['serve', '--config', config], {})
    await configure()
    running.child.kill('SIGHUP')
    const said = JSON.parse(await running.logged((line) => line.includes('a new one was made')))
    const kept = JSON.parse(await readFile(said.keptIn, 'utf8'))
    expect(kept.accessKeyId).toBe(said.accessKeyId)
    expect(running.output.stderr).not.toContain(kept.secretAccessKey)
    expect(await answers(running.ready.endpoint, 'main')).toBe('InvalidAccessKeyId')
  })
})

describe.runIf(process.platform === 'linux')('SIGUSR1', () => {
  test('opens no debugger, in no process', async () => {
    await configure('main')
    const running = await serve(['serve', '--config', config, '--workers', '2'], {})
    const pids = [running.ready.pid, ...childrenOf(running.ready.pid)]
    expect(pids).toHaveLength(3)
    for (const pid of pids) process.kill(pid, 'SIGUSR1')
    for (let asked = 0; asked < 8; asked++) expect(await answers(running.ready.endpoint, 'main')).toBe('served')
    expect(pids.flatMap(listeningPorts)).toEqual([Number(new URL(running.ready.endpoint).port)])
    expect(running.output.stderr).not.toContain('Debugger')
  })
})

/** Of TCP, on which a process listens. */
function listeningPorts(pid: number): number[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const inode = statSync(`/proc/${pid}/fd/${fd}`, { throwIfNoEntry: false })?.ino
      return inode === undefined ? [] : [`${inode}`]
    }),
  )
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === '0A' && inodes.has(fields[9] ?? ''))
      .map((fields) => Number.parseInt(fields[1]?.split(':')[1] ?? '', 16)),
  )
}

describe('the socket of an instance', () => {
  const sockets = async (): Promise<string[]> =>
    (await readdir(join(root, 'data'))).filter((name) => name.endsWith('.sock')).map((name) => join(root, 'data', name))

  test.each(['1', '2'])(
    'is its user’s alone, and its removal lets no second server in; workers: %s',
    async (workers) => {
      await configure('main')
      const words = ['serve', '--config', config, '--workers', workers]
      const running = await serve(words, {})
      for (const socket of await sockets()) expect(statSync(socket).mode & 0o777, socket).toBe(0o600)
      for (const socket of await sockets()) await rm(socket)
      await refused(words, running)
    },
  )

  test.runIf(process.platform === 'linux')(
    'of a worker proves the life of the worker, not that of its primary',
    async () => {
      await configure('main')
      const words = ['serve', '--config', config, '--workers', '2']
      const running = await serve(words, {})
      const [worker = 0] = childrenOf(running.ready.pid)
      process.kill(worker, 'SIGSTOP')
      running.child.kill('SIGKILL')
      await new Promise((resolve) => running.child.once('exit', resolve))
      const second = run(words)
      expect(await second.ended).toMatchObject({ code: 1, stdout: '' })
      process.kill(worker, 'SIGKILL')
      const third = await serve(words, {})
      third.child.kill('SIGTERM')
      expect(await third.ended).toMatchObject({ code: 0 })
    },
  )

  async function refused(words: string[], running: Running): Promise<void> {
    const second = run(words)
    const outcome = await Promise.race([second.ended, second.line((line) => line.startsWith('ready'))])
    expect(outcome).toMatchObject({ code: 1 })
    expect(await second.ended).toMatchObject({ stdout: '' })
    expect((await second.ended).stderr).toContain(`in use by process ${running.child.pid} `)
  }
})

describe('npm start', () => {
  test('is stopped by SIGTERM, as the server itself', async () => {
    const directory = new URL('../../', import.meta.url)
    const words = ['start', '--silent', '--', '--data', join(root, 'data'), '--listen', '127.0.0.1:0', '--json']
    const child = execFile('npm', words, { cwd: directory, env: { ...process.env, ...keyVariables } })
    const output = new Promise<string>((resolve) => child.stdout?.once('data', (text) => resolve(String(text))))
    const { pid } = JSON.parse(await output)
    const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
    child.kill('SIGTERM')
    await ended
    while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve))
    // A clean end leaves no proof of life behind.
    expect((await readdir(join(root, 'data'))).filter((name) => name.startsWith('instance-'))).toEqual([])
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
