/** Users and keys of run time over real processes: kept through kills, restarts and changes of the key ring, and known to every worker. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { CreateBucketCommand } from '@aws-sdk/client-s3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { rootAccount } from '../../src/config/accounts.ts'
import type { ServedIdentities } from '../../src/identities/identities.ts'
import { openIdentities } from '../../src/identities/open-identities.ts'
import { openKeyRing } from '../../src/instance/key-ring-file.ts'
import { limits } from '../../src/limits.ts'
import { openMetadata } from '../../src/opening/open.ts'
import type { MadeKey } from '../identities/child.ts'
import type { Report, Request } from '../identities/primary.ts'
import type { SigningKey } from '../support/signer.ts'
import { exchange, openWire, signAsk } from '../support/wire-client.ts'
import { environmentKey, keyVariables, killLeftovers, run, serve } from './holdfast-process.ts'
import { RecoverWorld, schemes } from './recover-world.ts'

const style = { prefix: 'x-amz-', hosting: 'path' } as const
const script = (name: string): string =>
  fileURLToPath(new URL(`../../dist/test/identities/${name}.js`, import.meta.url))

let data: string
const ends: (() => unknown)[] = []
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'holdfast-identities-'))
})
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
  await killLeftovers()
  await rm(data, { recursive: true, force: true, maxRetries: 20 })
})

const portOf = (endpoint: string): number => Number(new URL(endpoint).port)

async function listAs(endpoint: string, signedBy: SigningKey): Promise<number> {
  const wire = openWire(portOf(endpoint), style)
  try {
    return (await wire.ask({ method: 'GET', bucket: 'photos', signedBy })).status
  } finally {
    wire.close()
  }
}

async function makeBucket(endpoint: string): Promise<void> {
  const wire = openWire(portOf(endpoint), style)
  await wire.must({ method: 'PUT', bucket: 'photos', signedBy: environmentKey })
  wire.close()
}

const start = (...words: string[]) => serve(['serve', '--data', data, '--listen', '127.0.0.1:0', ...words])

async function stop(server: Awaited<ReturnType<typeof start>>): Promise<void> {
  server.child.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0 })
}

/** Another process on the same metadata, which knows none of the server's. */
async function openBeside(path = data): Promise<ServedIdentities> {
  const failed = (error: Error): never => {
    throw error
  }
  const { kv, directory, clock, close } = await openMetadata({ path, onFatal: failed, warn: () => {} })
  ends.push(close)
  const keys = await openKeyRing(kv, directory.keyRing, { keyRing: undefined, kmsKeys: [] }, { owner: false, clock })
  const accounts = [{ ...rootAccount, keys: [environmentKey] }]
  const identities = await openIdentities({ backend: { kv, keys, clock: systemClock }, accounts, warn: () => {} })
  ends.push(identities.close)
  // Nobody hears of its changes: they are answered at the end of the lease.
  identities.tellOthers(() => new Promise(() => {}))
  return identities
}

test('a key that a verb has answered survives that the process is killed', async () => {
  const child = fork(script('child'), [data])
  const [key]: MadeKey[] = await once(child, 'message')
  if (key === undefined) throw new Error('the server made no key')
  child.kill('SIGKILL')
  await once(child, 'exit')
  const server = await start('--workers', '2')
  expect(await listAs(server.ready.endpoint, key)).toBe(200)
  await stop(server)
})

test('keys work on after the key ring was rotated and retired beside the server, and after its restart', async () => {
  const server = await start()
  await makeBucket(server.ready.endpoint)
  const beside = await openBeside()
  const [old, unused] = await Promise.all([
    beside.verbs.keys.add({ accountId: 'main' }),
    beside.verbs.keys.add({ accountId: 'main' }),
  ])
  const keys = async (...words: string[]) => {
    const outcome = await run(['key-ring', '--data', data, '--json', ...words]).ended
    expect(outcome.stderr).toBe('')
    return JSON.parse(outcome.stdout)
  }
  expect(await keys('--rotate', 'sse-s3')).toMatchObject({ secrets: 2, resealed: 2 })
  expect(await keys('--retire')).toMatchObject({ secrets: 2, resealed: 0 })
  // What this process read of the ring is out of date: its next change must not seal with it.
  await beside.verbs.keys.setDisabled(unused.accessKeyId, true)
  const added = await beside.verbs.keys.add({ accountId: 'main' })
  expect(await keys('--rewrap')).toMatchObject({ secrets: 3, resealed: 0 })
  for (const key of [old, added]) expect(await listAs(server.ready.endpoint, key)).toBe(200)
  await stop(server)
  const again = await start()
  for (const key of [old, added]) expect(await listAs(again.ready.endpoint, key)).toBe(200)
  expect(await listAs(again.ready.endpoint, unused)).toBe(403)
  await stop(again)
})

test('users and their keys come back with a snapshot of the metadata', async () => {
  const world = await RecoverWorld.make(schemes['two copies'])
  ends.push(() => world.dispose())
  const key = await world.serving(async (s3) => {
    await s3.send(new CreateBucketCommand({ Bucket: 'photos' }))
    const beside = await openBeside(world.path('data'))
    await beside.verbs.users.create('main', { name: 'ann' })
    await beside.verbs.users.attachPolicy('main', 'ann', 'readwrite')
    const added = await beside.verbs.keys.add({ accountId: 'main', user: 'ann' })
    expect(await world.command('backup', '--on-stores')).toMatchObject({ code: 0 })
    return added
  })
  for (const end of ends.splice(1).reverse()) await end()
  await world.loseMetadata()
  await world.recovered()
  await world.serving(async (s3) => {
    const { protocol, hostname, port } = (await s3.config.endpoint?.()) ?? expect.fail('the client has no endpoint')
    expect(await listAs(`${protocol}//${hostname}:${port}`, key)).toBe(200)
  })
})

test('workers that were stopped meanwhile decide nothing by what they knew before', async () => {
  const server = await start('--workers', '2')
  await makeBucket(server.ready.endpoint)
  const beside = await openBeside()
  const key = await beside.verbs.keys.add({ accountId: 'main' })
  const connections = connectionsTo(server.ready.endpoint, 2)
  expect(await Promise.all(connections.ask(key))).toEqual([200, 200])

  const workers = await childrenOf(server.ready.pid)
  expect(workers).toHaveLength(2)
  for (const pid of workers) process.kill(pid, 'SIGSTOP')
  const beganMs = performance.now()
  await beside.verbs.keys.setDisabled(key.accessKeyId, true)
  expect(performance.now() - beganMs).toBeGreaterThanOrEqual(limits.identityLeaseMs)
  // They lie in the sockets when the workers go on.
  const asked = Promise.all(connections.ask(key))
  for (let turns = 0; turns < 10; turns++) await nextTurn()
  for (const pid of workers) process.kill(pid, 'SIGCONT')
  expect(await asked).toEqual([403, 403])
  await stop(server)
})

/** A connection for each worker, which it has taken: the primary gives them to one after the other. */
function connectionsTo(url: string, count: number) {
  const agents = Array.from({ length: count }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  ends.push(() => agents.map((agent) => agent.destroy()))
  const port = portOf(url)
  return {
    ask: (signedBy: SigningKey): Promise<number>[] =>
      agents.map(async (agent) => {
        const asked = signAsk({ method: 'GET', bucket: 'photos', signedBy }, port, style)
        return (await exchange(agent, port, asked)).status
      }),
  }
}

test('the primary answers a change once all workers know it; one that is stopped makes it wait for the lease, one that ends does not', async () => {
  const environment = { PATH: process.env.PATH ?? '', ...keyVariables }
  const child = fork(script('primary'), [data], { env: environment })
  ends.push(() => child.kill('SIGKILL'))
  const reported = async (): Promise<Report> => {
    const [report] = await once(child, 'message')
    return report
  }
  const ready = await reported()
  const url = ready.said === 'ready' ? ready.url : expect.fail('it is not ready')
  await makeBucket(url)
  const order = async (request: Request): Promise<Extract<Report, { said: 'done' }>> => {
    child.send(request)
    const report = await reported()
    return report.said === 'done' ? report : expect.fail('it is ready again')
  }
  const added = await order({ do: 'add' })
  const key = added.key ?? expect.fail('there is no key')
  expect(added.tookMs).toBeLessThan(limits.identityLeaseMs)
  const connections = connectionsTo(url, 2)
  expect(await Promise.all(connections.ask(key))).toEqual([200, 200])
  const disable = { do: 'setDisabled', accessKeyId: key.accessKeyId, disabled: true } as const
  const enable = { ...disable, disabled: false }
  for (const [change, status] of [
    [disable, 403],
    [enable, 200],
    [disable, 403],
    [enable, 200],
  ] as const) {
    expect((await order(change)).tookMs).toBeLessThan(limits.identityLeaseMs)
    expect(await Promise.all(connections.ask(key))).toEqual([status, status])
  }

  const [stopped = 0] = await childrenOf(child.pid ?? 0)
  process.kill(stopped, 'SIGSTOP')
  expect((await order(disable)).tookMs).toBeGreaterThanOrEqual(limits.identityLeaseMs)
  const asked = connections.ask(key)
  expect(await Promise.race(asked)).toBe(403)
  process.kill(stopped, 'SIGCONT')
  expect(await Promise.all(asked)).toEqual([403, 403])

  process.kill(stopped, 'SIGSTOP')
  const beside = await openBeside()
  const isDisabled = async (): Promise<boolean | undefined> =>
    (await beside.verbs.keys.list({ accountId: 'main' })).find(({ accessKeyId }) => accessKeyId === key.accessKeyId)
      ?.disabled
  const change = order(enable)
  // The primary waits for the worker that died, not for its replacement.
  await expect.poll(isDisabled).toBe(false)
  process.kill(stopped, 'SIGKILL')
  expect((await change).tookMs).toBeLessThan(limits.identityLeaseMs)
})

async function childrenOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ').map(Number)
}
