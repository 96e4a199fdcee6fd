/** Servers over PostgreSQL when things fail: workers and their parent are killed, the database is away during a stop, a store is lost, a database can't be used. */

import { mkdir, rename, writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeInstalled } from '../support/installed.ts'
import { PostgresServer, postgresProbe } from '../support/postgres.ts'
import { openedPostgres } from '../support/postgres-engine.ts'
import { sign } from '../support/signer.ts'
import { readSts, signedForSts } from '../support/sts-world.ts'
import { exchange } from '../support/wire-client.ts'
import { askedEverySecond, environmentKey, keyVariables, type Outcome, run, serve } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const Bucket = 'photos'
const ring = `sse-s3 ${Buffer.alloc(32, 1).toString('base64')},aws/s3 ${Buffer.alloc(32, 2).toString('base64')}`

/** Compared whole, so that a failure shows what the command printed. */
const succeeded = { code: 0, signal: null, stdout: expect.any(String), stderr: expect.any(String) }

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describeInstalled('servers over PostgreSQL in bad hours', [postgresProbe], () => {
  const place = openWorkplace('failures')
  let postgres: PostgresServer
  let variables: Record<string, string>
  let name: string
  let databases = 0
  beforeAll(async () => {
    postgres = await PostgresServer.start()
  })
  afterAll(() => postgres?.remove())
  beforeEach(async () => {
    await postgres.begin()
    for (const disk of ['one', 'two']) await mkdir(place.path(disk))
    const store = (disk: string): string => `[stores.${disk}]\ntype = "directory"\npath = "${disk}"\n`
    const location = '[locations.safe]\nscheme = "replica"\ncopies = 2\nwriteAck = 1\nstores = ["one", "two"]\n'
    await writeFile(place.path('holdfast.toml'), `defaultLocation = "safe"\n${store('one')}${store('two')}${location}`)
    name = `failures${++databases}`
    variables = {
      ...keyVariables,
      HOLDFAST_CONFIG: place.path('holdfast.toml'),
      HOLDFAST_KEY_RING: ring,
      HOLDFAST_METADATA_URL: await postgres.database(name),
    }
  })
  const words = (host: string, ...more: string[]): string[] => {
    return ['serve', '--data', place.path(host), '--listen', '127.0.0.1:0', ...more]
  }
  const start = (host: string, ...more: string[]) => serve(words(host, ...more), variables)
  const command = (...asked: string[]): Promise<Outcome> => run([...asked, '--data', place.path('a')], variables).ended
  const members = async (): Promise<{ kind: string; pid: number }[]> =>
    (await command('members', '--json')).stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  const pidsOf = async (kind: string): Promise<number[]> =>
    (await members()).filter((member) => member.kind === kind).map(({ pid }) => pid)

  it('replace a worker that is killed, and leave none when their parent is', async () => {
    const { ready, child } = await start('a', '--workers', '2')
    const client = place.clientOf(ready.endpoint)
    await client.send(new CreateBucketCommand({ Bucket }))
    const first = await pidsOf('worker')
    expect(first).toHaveLength(2)
    const [killed = 0, other = 0] = first
    process.kill(killed, 'SIGKILL')
    const living = async () => (await pidsOf('worker')).filter((pid) => pid !== killed)
    await expect.poll(living, askedEverySecond).toHaveLength(2)
    expect(await living()).toContain(other)
    await client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'x' }))
    child.kill('SIGKILL')
    await expect.poll(() => isRunning(other)).toBe(false)
    // Only another server can declare them gone.
    const next = await start('b')
    await expect.poll(async () => (await members()).map(({ pid }) => pid), askedEverySecond).toEqual([next.ready.pid])
  })

  it('answer 503 within two seconds while the database is down, and serve again within five', async () => {
    const { ready, child, output } = await start('a', '--admin-listen', '127.0.0.1:0')
    const client = place.clientOf(ready.endpoint)
    await client.send(new CreateBucketCommand({ Bucket }))
    await client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'x' }))
    const port = Number(new URL(ready.endpoint).port)
    const agent = new Agent()
    const probe = async (path: string): Promise<number> => (await fetch(`${ready.adminEndpoint}${path}`)).status
    await postgres.stop('SIGKILL')
    const asks = [
      () => client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'y' })),
      () => client.send(new GetObjectCommand({ Bucket, Key: 'k' })),
      () => client.send(new ListObjectsV2Command({ Bucket })),
      () => client.send(new DeleteObjectCommand({ Bucket, Key: 'k' })),
    ]
    // Longer than a process may use identities without looking for changes.
    for (let round = 0; round < 8; round++) {
      for (const ask of asks) {
        const beganMs = performance.now()
        const error = await ask().then(
          () => undefined,
          (thrown: { $metadata: object; $response?: { headers: Record<string, string> } }) => thrown,
        )
        expect(error?.$metadata).toMatchObject({ httpStatusCode: 503 })
        expect(error?.$response?.headers['retry-after']).toBe('1')
        expect(performance.now() - beganMs).toBeLessThan(2000)
      }
      // The SDK would not show a header that came twice.
      const read = sign({ method: 'GET', host: `127.0.0.1:${port}`, path: `/${Bucket}/k` }, { key: environmentKey })
      const refused = await exchange(agent, port, read)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
      await delay(500)
    }
    expect([await probe('/readyz'), await probe('/healthz')]).toEqual([503, 200])
    await postgres.begin()
    const backMs = performance.now()
    await expect
      .poll(
        () =>
          client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'z' })).then(
            () => true,
            () => false,
          ),
        { interval: 50 },
      )
      .toBe(true)
    expect(performance.now() - backMs).toBeLessThan(5000)
    await expect.poll(() => probe('/readyz')).toBe(200)
    agent.destroy()
    expect(child.exitCode).toBeNull()
    expect(output.stderr.split('\n').length).toBeLessThan(8)
  })

  it.each([
    ['alone', []],
    ['with workers', ['--workers', '2']],
  ])('stop on request while the database is away, %s', async (_, more) => {
    const { ready, child, ended } = await start('a', ...more)
    await place.clientOf(ready.endpoint).send(new CreateBucketCommand({ Bucket }))
    await postgres.stop('SIGKILL')
    const beganMs = performance.now()
    child.kill('SIGTERM')
    const { code, signal, stderr } = await ended
    expect({ code, signal }).toEqual({ code: 0, signal: null })
    // Less than supervisors wait before they kill a process.
    expect(performance.now() - beganMs).toBeLessThan(10_000)
    expect(stderr).not.toContain('    at ')
  })

  it('replace a store that is lost, and have it repaired by the maintainer', async () => {
    const [a, b] = await Promise.all([start('a'), start('b')])
    const [first, second] = [a, b].map(({ ready }) => place.clientOf(ready.endpoint))
    if (first === undefined || second === undefined) throw new Error('two servers were started')
    await first.send(new CreateBucketCommand({ Bucket }))
    await first.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'kept' }))
    await rename(place.path('two'), place.path('two-lost'))
    await mkdir(place.path('two'))
    expect(await command('locations', 'replace', 'two')).toEqual(succeeded)
    expect(await command('repair')).toEqual(succeeded)
    await rename(place.path('one'), place.path('one-lost'))
    const read = async () => (await second.send(new GetObjectCommand({ Bucket, Key: 'k' }))).Body?.transformToString()
    await expect.poll(() => read().catch(() => undefined)).toBe('kept')
  })

  it('accept temporary keys that another server has given out', async () => {
    const [a, b] = await Promise.all([start('a'), start('b')])
    const port = Number(new URL(a.ready.endpoint).port)
    const agent = new Agent()
    const ask = signedForSts(port, { Action: 'GetSessionToken' }, { key: environmentKey })
    const credentials = readSts(await exchange(agent, port, ask)).key()
    agent.destroy()
    const client = place.clientOf(b.ready.endpoint, { credentials })
    await client.send(new CreateBucketCommand({ Bucket }))
    await client.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'x' }))
    const own = place.clientOf(a.ready.endpoint)
    expect(await (await own.send(new GetObjectCommand({ Bucket, Key: 'k' }))).Body?.transformToString()).toBe('x')
  })

  it('say in one line why they can not use a database', async () => {
    const url = variables.HOLDFAST_METADATA_URL ?? ''
    const expectRefused = async (changed: string, message: string): Promise<void> => {
      const { code, stderr } = await run(words('a'), { ...variables, HOLDFAST_METADATA_URL: changed }).ended
      // Warnings in the log are lines of JSON.
      const lines = stderr
        .trim()
        .split('\n')
        .filter((line) => !line.startsWith('{'))
      expect({ code, lines }).toEqual({ code: 1, lines: [expect.stringContaining(message)] })
    }
    await expectRefused(url.replace(name, 'nowhere'), 'database "nowhere" does not exist')
    await (await openedPostgres({ url })).close()
    postgres.run(name, "update holdfast_notes set value = '99' where name = 'schema'")
    await expectRefused(url, 'later version of Holdfast (schema 99')
  })
})
