/** Locations over buckets of three other servers, as an operator meets them: one is killed under load and comes back, is replaced, or is another's. */
import { rm, writeFile } from 'node:fs/promises'
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { beforeEach, describe, expect, test } from 'vitest'
import { patternBytes } from '../support/seeded.ts'
import {
  askedEverySecond,
  environmentKey,
  keyVariables,
  lastEvent,
  type Outcome,
  type Running,
  run,
  serve,
} from './holdfast-process.ts'
import { openWorkplace, testClient } from './workplace.ts'

const names = ['far1', 'far2', 'far3']
/** The server's own key, and the one that it shows the others. */
const variables = {
  ...keyVariables,
  AWS_ACCESS_KEY_ID: environmentKey.accessKeyId,
  AWS_SECRET_ACCESS_KEY: environmentKey.secretAccessKey,
}

const place = openWorkplace('s3-stores')
let config: string
/** The servers by the name of their store, in the order in which they were started. */
let far: Map<string, { endpoint: string; running?: Running }>

beforeEach(() => {
  config = place.path('holdfast.toml')
  far = new Map()
})

/** At the port that it had before. */
async function startFar(name: string, data = name): Promise<void> {
  const { port } = new URL(far.get(name)?.endpoint ?? 'http://localhost:0')
  const running = await serve(['serve', '--data', place.path(data), '--listen', `127.0.0.1:${port || 0}`])
  far.set(name, { endpoint: running.ready.endpoint, running })
}

async function startNewFar(name: string, data = name): Promise<void> {
  await startFar(name, data)
  const client = clientOf(far.get(name)?.endpoint ?? '')
  await client.send(new CreateBucketCommand({ Bucket: 'shards' }))
  client.destroy()
}

async function killFar(name: string): Promise<void> {
  const running = far.get(name)?.running
  running?.child.kill('SIGKILL')
  await running?.ended
}

function clientOf(endpoint: string, maxAttempts = 5): S3Client {
  return testClient(endpoint, { maxAttempts })
}

const storeOf = (name: string): string =>
  `[stores.${name}]\ntype = "s3"\nendpoint = "${far.get(name)?.endpoint}"\nbucket = "shards"\nprefix = "main"\n`
const spread = `stores = ${JSON.stringify(names)}`
const locations = `[locations.copies]\nscheme = "replica"\ncopies = 2\n${spread}
[locations.striped]\nscheme = "erasure"\ndata = 2\nparity = 1\nwriteAck = 2\n${spread}\n`
const configure = (toml: string): Promise<void> =>
  writeFile(
    config,
    `data = "data"\nlisten = "127.0.0.1:0"\nreclaim.interval = "1s"\n${[...far.keys()].map(storeOf).join('')}${toml}`,
  )

const start = () => serve(['serve', '--config', config], variables)
const command = (...words: string[]): Promise<Outcome> => run([...words, '--config', config], variables).ended

interface Status {
  name: string
  degradedBlobs: number
  failuresSurvived: { now: number }
  stores: { name: string; state: string; usedBytes?: number; freeBytes?: number }[]
}

async function statuses(): Promise<Status[]> {
  const { stdout, code, stderr } = await command('locations', 'status', '--json')
  // What it says of the locations' health is in the output too.
  expect([code, stderr]).toEqual([expect.toSatisfy((exit: number) => [0, 3, 4].includes(exit)), expect.any(String)])
  return JSON.parse(stdout).locations.filter(({ name }: Status) => name !== 'default')
}

async function read(client: S3Client, Bucket: string, Key: string): Promise<Buffer> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
  return Buffer.from((await Body?.transformToByteArray()) ?? [])
}

interface Written {
  bucket: string
  key: string
  seed: number
  size: number
}

/** Writes and reads until it is told to stop; every answer must be right. */
class Load {
  readonly #endpoint: string
  readonly #written: Written[] = []
  /** Statuses of writes that failed, of the client that tries once. */
  readonly refusals: number[] = []
  #isOver = false
  #reads = 0

  constructor(endpoint: string) {
    this.#endpoint = endpoint
  }

  get acknowledged(): number {
    return this.#written.length
  }

  get reads(): number {
    return this.#reads
  }

  stop(): void {
    this.#isOver = true
  }

  /** With the retries that the SDK has: no write of it may fail. */
  async writePatiently(bucket: string): Promise<void> {
    const client = clientOf(this.#endpoint, 10)
    for (let i = 0; !this.#isOver; i++) await this.#write(client, bucket, `patient/${i}`, i)
    client.destroy()
  }

  async writeOnce(bucket: string): Promise<void> {
    const client = clientOf(this.#endpoint, 1)
    for (let i = 0; !this.#isOver; i++) {
      await this.#write(client, bucket, `once/${i}`, 10_000 + i).catch((error) => {
        this.refusals.push(error.$metadata?.httpStatusCode ?? 0)
      })
    }
    client.destroy()
  }

  /** Without any retries: no read may fail. */
  async read(turn: number): Promise<void> {
    const client = clientOf(this.#endpoint, 1)
    for (let i = turn; !this.#isOver; i += 7) {
      const one = this.#written[i % Math.max(1, this.#written.length)]
      if (one === undefined) await new Promise((resolve) => setTimeout(resolve, 10))
      else await this.#check(client, one)
    }
    client.destroy()
  }

  async checkAll(endpoint: string): Promise<void> {
    const client = clientOf(endpoint, 1)
    for (const one of this.#written) await this.#check(client, one)
    client.destroy()
  }

  async #write(client: S3Client, bucket: string, key: string, seed: number): Promise<void> {
    const size = seed % 3 === 0 ? 700_000 : 3_000
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: patternBytes(seed, size) }))
    this.#written.push({ bucket, key, seed, size })
  }

  async #check(client: S3Client, { bucket, key, seed, size }: Written): Promise<void> {
    const bytes = await read(client, bucket, key)
    if (!bytes.equals(patternBytes(seed, size))) throw new Error(`${bucket}/${key} is not what was written`)
    this.#reads++
  }
}

describe('locations over three servers', () => {
  beforeEach(async () => {
    await Promise.all(names.map((name) => startNewFar(name)))
    await configure(locations)
  })

  test('go on without one that is killed under load, and are whole again once it is back', async () => {
    const server = await start()
    const { endpoint } = server.ready
    const client = clientOf(endpoint)
    for (const name of ['copies', 'striped']) {
      const CreateBucketConfiguration = { LocationConstraint: name as 'eu-west-1' }
      await client.send(new CreateBucketCommand({ Bucket: name, CreateBucketConfiguration }))
    }
    const load = new Load(endpoint)
    const atWork = Promise.all([
      ...['copies', 'striped'].flatMap((bucket) => [load.writePatiently(bucket), load.writeOnce(bucket)]),
      ...[0, 1, 2].map((turn) => load.read(turn)),
    ]).catch((error) => {
      load.stop()
      throw error
    })
    const progress = async (writes: number): Promise<void> => {
      const target = load.acknowledged + writes
      await Promise.race([atWork, expect.poll(() => load.acknowledged).toBeGreaterThan(target)])
    }
    await progress(20)
    await killFar('far2')
    const readsBefore = load.reads
    await progress(40)
    expect(load.reads).toBeGreaterThan(readsBefore)
    const away = await statuses()
    expect(away).toMatchObject([{ failuresSurvived: { now: 0 } }, { failuresSurvived: { now: 0 } }])
    expect(away[1]?.degradedBlobs).toBeGreaterThan(0)
    await startFar('far2')
    await progress(10)
    load.stop()
    await atWork
    expect(load.refusals.filter((status) => status !== 503)).toEqual([])

    // The running server's jobs find it back.
    const up = names.map((name) => ({ name, state: 'up' }))
    const whole = { degradedBlobs: 0, failuresSurvived: { now: 1 }, stores: up }
    await expect.poll(statuses, askedEverySecond).toMatchObject([whole, whole])
    const [copies] = await statuses()
    for (const store of copies?.stores ?? []) {
      expect(store.usedBytes).toBeGreaterThan(0)
      expect(store).not.toHaveProperty('freeBytes')
    }
    // Whole: any other may now go.
    await killFar('far1')
    await load.checkAll(endpoint)
    client.destroy()
    server.child.kill('SIGTERM')
    const ended = await server.ended
    expect(ended.code).toBe(0)
    expect(ended.stdout + ended.stderr).not.toContain(environmentKey.secretAccessKey)
    console.info(`${load.acknowledged} writes, ${load.reads} reads, ${load.refusals.length} refused once`)
  })

  test('go on without one that hangs, in writes that had begun, too', async () => {
    const server = await start()
    const client = clientOf(server.ready.endpoint, 1)
    const CreateBucketConfiguration = { LocationConstraint: 'striped' as 'eu-west-1' }
    await client.send(new CreateBucketCommand({ Bucket: 'striped', CreateBucketConfiguration }))
    const hung = far.get('far2')?.running?.child
    hung?.kill('SIGSTOP')
    const bodies = [3_000, 700_000, 9_000_000].map((size) => patternBytes(size, size))
    const put = (Body: Buffer) => client.send(new PutObjectCommand({ Bucket: 'striped', Key: `${Body.length}`, Body }))
    await Promise.all(bodies.map(put))
    for (const body of bodies) expect((await read(client, 'striped', `${body.length}`)).equals(body)).toBe(true)
    hung?.kill('SIGCONT')
    const whole = { degradedBlobs: 0, failuresSurvived: { now: 1 } }
    await expect.poll(statuses, askedEverySecond).toMatchObject([whole, whole])
    client.destroy()
  })

  test('leave out a server that has lost everything until it is replaced, and make nothing anew in it', async () => {
    const first = await start()
    const client = clientOf(first.ready.endpoint)
    const CreateBucketConfiguration = { LocationConstraint: 'striped' as 'eu-west-1' }
    await client.send(new CreateBucketCommand({ Bucket: 'striped', CreateBucketConfiguration }))
    const body = patternBytes(1, 2_000_000)
    await client.send(new PutObjectCommand({ Bucket: 'striped', Key: 'key', Body: body }))
    first.child.kill('SIGTERM')
    await first.ended
    client.destroy()

    await killFar('far3')
    await startNewFar('far3', 'far3-empty')
    const lost = { name: 'far3', state: 'out', reason: expect.stringContaining('holds no holdfast-store.json') }
    expect((await statuses())[1]?.stores).toMatchObject([{}, {}, lost])
    expect(await command('locations', 'replace', 'far3')).toMatchObject({ code: 0 })
    expect(lastEvent(await command('reclaim', '--json'))).toMatchObject({ degradedBlobs: 0, lostBlobs: 0 })
    await killFar('far1')
    const again = await start()
    const reader = clientOf(again.ready.endpoint)
    expect((await read(reader, 'striped', 'key')).equals(body)).toBe(true)
    reader.destroy()
  })

  test('are refused where another server made their stores, or where the bucket is missing', async () => {
    const first = await start()
    first.child.kill('SIGTERM')
    await first.ended
    await rm(place.path('data'), { recursive: true })
    const { code, stderr } = await command('serve')
    expect([code, stderr]).toEqual([1, expect.stringContaining('belongs to other metadata')])
    await writeFile(config, `data = "data"\n${storeOf('far1').replace('"shards"', '"nowhere"')}`)
    expect((await command('serve')).stderr).toContain('stores.far1: the endpoint answers 404 NoSuchBucket')
  })
})

test('a write to the one store of a location is to be tried again from the moment that the store is gone', async () => {
  await startNewFar('far1')
  await configure('[locations.alone]\nscheme = "replica"\ncopies = 1\nstores = ["far1"]\n')
  const server = await start()
  const client = clientOf(server.ready.endpoint, 1)
  const CreateBucketConfiguration = { LocationConstraint: 'alone' as 'EU' }
  await client.send(new CreateBucketCommand({ Bucket: 'alone', CreateBucketConfiguration }))
  const write = () => client.send(new PutObjectCommand({ Bucket: 'alone', Key: 'k', Body: 'x' }))
  await write()
  await killFar('far1')
  for (let i = 0; i < 6; i++) await expect(write()).rejects.toMatchObject({ $metadata: { httpStatusCode: 503 } })
  client.destroy()
  server.child.kill('SIGTERM')
  await server.ended
})

test('a store of type s3 without its package is a fault of the configuration, which says what to install', async () => {
  const withoutPackage = `data:text/javascript,${encodeURIComponent(`
    import { register } from 'node:module'
    register('data:text/javascript,' + encodeURIComponent(\`
      export async function resolve(specifier, context, next) {
        if (specifier !== '@aws-sdk/client-s3') return next(specifier, context)
        throw Object.assign(new Error('no such package'), { code: 'ERR_MODULE_NOT_FOUND' })
      }\`))`)}`
  far.set('far1', { endpoint: 'http://127.0.0.1:1' })
  await configure('[locations.alone]\nscheme = "replica"\ncopies = 1\nstores = ["far1"]\n')
  const environment = { ...variables, NODE_OPTIONS: `--import=${withoutPackage}` }
  const { code, stderr } = await run(['serve', '--config', config], environment).ended
  expect(code).toBe(2)
  expect(stderr).toContain('stores.far1: a store of type s3 needs a package that is not installed')
  expect(stderr).toContain('npm install @aws-sdk/client-s3')
  // Who has no such store needs no such package.
  await writeFile(config, 'data = "data"\nlisten = "127.0.0.1:0"\n')
  const server = await serve(['serve', '--config', config], environment)
  server.child.kill('SIGTERM')
  expect((await server.ended).code).toBe(0)
})
