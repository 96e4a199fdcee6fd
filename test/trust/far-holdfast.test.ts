/** Shards kept by another Holdfast server: it is killed again and again under the writes of a gateway, and so is the gateway. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { environmentKey, keyVariables, type Outcome, type Running, run, serve } from '../cli/holdfast-process.ts'
import { openWorkplace, testClient } from '../cli/workplace.ts'
import { type FarSide, farSideAt, remoteUnderTest } from '../stores/s3/far-side.ts'
import { openFaultProxy } from '../stores/s3/fault-proxy.ts'
import { describeOwnedRemoteBatches } from '../stores/s3/owned-batches-suite.ts'
import { describeRemoteStore } from '../stores/s3/remote-suite.ts'
import { describeShardStore } from '../stores/suite.ts'
import { seededRandom } from '../support/seeded.ts'
import { removeEverything } from './storm-end.ts'
import { Expectations, StormWriter, violations } from './storm-writer.ts'

const scale = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1')
const isFull = scale > 1
const cycles = isFull ? 3 * scale : 3
const writers = 6
const bucket = 'storm'
const shards = 'shards'

/** The gateway's own key, and the one that it shows the other server. */
const variables = {
  ...keyVariables,
  AWS_ACCESS_KEY_ID: environmentKey.accessKeyId,
  AWS_SECRET_ACCESS_KEY: environmentKey.secretAccessKey,
}

const place = openWorkplace('far-holdfast')

/** At the port that it had before. */
function startFar(endpoint = 'http://127.0.0.1:0'): ReturnType<typeof serve> {
  return serve(['serve', '--data', place.path('far'), '--listen', new URL(endpoint).host])
}

async function configure(endpoint: string): Promise<string> {
  const config = place.path('holdfast.toml')
  const store = `[stores.far]\ntype = "s3"\nendpoint = "${endpoint}"\nbucket = "${shards}"\n`
  const location = '[locations.far]\nscheme = "replica"\ncopies = 1\nstores = ["far"]\n'
  // Snapshots of the metadata would be left in the store when everything is gone.
  const snapshots = '[snapshots]\ninterval = "never"\n'
  const here = 'data = "data"\nlisten = "127.0.0.1:0"\ndefaultLocation = "far"\n'
  await writeFile(config, `${here}${snapshots}${store}${location}`)
  return config
}

/** The gateway looks at its stores every few seconds. */
async function untilInUse(client: S3Client): Promise<void> {
  const probe = { Bucket: bucket, Key: 'probe', Body: 'x' }
  await expect.poll(() => client.send(new PutObjectCommand(probe)).then(() => 'stored', String)).toBe('stored')
}

async function kill(...servers: Running[]): Promise<void> {
  for (const { child } of servers) child.kill('SIGKILL')
  for (const { ended } of servers) expect((await ended).signal).toBe('SIGKILL')
}

test(
  `${cycles} times killed under ${writers} writers of a gateway, the server that keeps its shards loses none, and nothing is left behind`,
  async () => {
    const seed = Number(process.env.HOLDFAST_STORM_SEED ?? Math.floor(Math.random() * 2 ** 31))
    console.info(`storm seed: HOLDFAST_STORM_SEED=${seed}`)
    const random = seededRandom(seed)
    const expectations = new Expectations()
    const crew = Array.from({ length: writers }, (_, w) => {
      const keys = Array.from({ length: 8 }, (_, k) => `writer-${w}/key-${k}`)
      return new StormWriter(bucket, keys, seededRandom(seed + w + 1), expectations)
    })
    let far = await startFar()
    const { endpoint } = far.ready
    const farSide = farSideAt(endpoint, shards)
    await farSide.makeBucket(shards)
    const config = await configure(endpoint)
    const start = () => serve(['serve', '--config', config], variables)
    const command = (...words: string[]): Promise<Outcome> => run([...words, '--config', config], variables).ended

    let gateway = await start()
    let client = testClient(gateway.ready.endpoint, { maxAttempts: 1 })
    await client.send(new CreateBucketCommand({ Bucket: bucket }))
    let acknowledged = 0
    for (let cycle = 0; cycle < cycles; cycle++) {
      await untilInUse(client)
      expect(await violations(client, bucket, expectations), `cycle ${cycle}, seed ${seed}`).toEqual([])
      let untilKill = 30 + Math.floor(random() * 120)
      const dying = random() < 0.3 ? [far, gateway] : [far]
      const onAcknowledged = (): void => {
        acknowledged += 1
        untilKill -= 1
        if (untilKill === 0) for (const { child } of dying) child.kill('SIGKILL')
      }
      await Promise.all(crew.map((writer) => writer.work(client, onAcknowledged)))
      await kill(...dying)
      far = await startFar(endpoint)
      if (!dying.includes(gateway)) continue
      client.destroy()
      gateway = await start()
      client = testClient(gateway.ready.endpoint, { maxAttempts: 1 })
    }

    await untilInUse(client)
    expect(await violations(client, bucket, expectations), `at the end, seed ${seed}`).toEqual([])
    expect(await command('scrub')).toMatchObject({ code: 0 })
    await removeEverything(client, bucket)
    client.destroy()
    gateway.child.kill('SIGTERM')
    expect(await gateway.ended).toMatchObject({ code: 0 })
    for (let i = 0; i < 2; i++)
      expect(await command('reclaim', '--grace', '0', '--quarantine', '0')).toMatchObject({ code: 0 })
    expect(await farSide.keys()).toEqual(['holdfast-store.json'])
    farSide.client.destroy()
    console.info(`${acknowledged} acknowledged changes`)
  },
  5 * 60_000 * scale,
)

// `npm test` runs these over a server in the process of the suite: test/stores/s3.
const describeProcess = (): void => {
  let data: string
  let far: Awaited<ReturnType<typeof serve>>
  let buckets = 0
  // Each test ends the processes that run then, so each has a server of its own.
  const openSide = async (): Promise<FarSide> => {
    far = await serve(['serve', '--data', join(data, `${buckets}`), '--listen', '127.0.0.1:0'])
    // Its disk does not fill up, so the way there says so in its place.
    const proxy = await openFaultProxy(far.ready.endpoint)
    const side = farSideAt(proxy.endpoint, `bucket-${buckets++}`)
    await side.makeBucket(side.address.bucket)
    return {
      ...side,
      fill: async () => proxy.decide((method) => (method === 'PUT' ? 507 : 'pass')),
      empty: async () => proxy.decide(() => 'pass'),
      close: async () => {
        side.client.destroy()
        await proxy.close()
        await kill(far)
      },
    }
  }
  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'holdfast-far-suites-'))
  })
  afterAll(() => rm(data, { recursive: true, force: true, maxRetries: 20 }))

  describeShardStore('a bucket of another process', () => remoteUnderTest(openSide))
  describeRemoteStore('a bucket of another process', openSide)
  describeOwnedRemoteBatches('a bucket of another process', openSide)
}
if (isFull) describe('another process', describeProcess)
