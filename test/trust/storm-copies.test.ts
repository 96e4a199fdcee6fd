/** Killed again and again while one disk after another goes away and comes back: copies on several disks lose nothing and leave nothing behind. */
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { environmentKey, keyVariables, killLeftovers, run, serve } from '../cli/holdfast-process.ts'
import { seededRandom } from '../shards/seeded.ts'
import { Expectations, StormWriter, violations } from './storm-writer.ts'

const scale = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1')
const cycles = 6 * scale
const writers = 8
const bucket = 'storm'
const disks = ['disk1', 'disk2', 'disk3']

let root: string
let config: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-storm-copies-'))
  config = join(root, 'holdfast.toml')
  const stores = disks.map((disk) => `[stores.${disk}]\ntype = "directory"\npath = "${disk}"\n`).join('')
  const location = `[locations.safe]\nscheme = "replica"\ncopies = 2\nstores = ${JSON.stringify(disks)}\n`
  await writeFile(config, `data = "data"\nlisten = "127.0.0.1:0"\n${stores}${location}`)
})
afterEach(async () => {
  killLeftovers()
  await rm(root, { recursive: true, force: true, maxRetries: 5 })
})

const start = () => serve(['serve', '--config', config])
const clientOf = (endpoint: string): S3Client =>
  new S3Client({ endpoint, region: 'us-east-1', credentials: environmentKey, forcePathStyle: true, maxAttempts: 1 })

test(
  `${cycles} times killed under ${writers} writers with a disk away, two copies keep every acknowledged change`,
  async () => {
    const seed = Number(process.env.HOLDFAST_STORM_SEED ?? Math.floor(Math.random() * 2 ** 31))
    console.info(`storm seed: HOLDFAST_STORM_SEED=${seed}`)
    const random = seededRandom(seed)
    const expectations = new Expectations()
    const crew = Array.from({ length: writers }, (_, w) => {
      const keys = Array.from({ length: 6 }, (_, k) => `writer-${w}/key-${k}`)
      return new StormWriter(bucket, keys, seededRandom(seed + w + 1), expectations)
    })
    for (let cycle = 0; cycle < cycles; cycle++) {
      const away = join(root, disks[Math.floor(random() * disks.length)] ?? '')
      // Half of the disks go before the start, half under the running server.
      const beforeStart = cycle > 0 && random() < 0.5
      if (beforeStart) await rename(away, `${away}.away`)
      const server = await start()
      const client = clientOf(server.ready.endpoint)
      if (cycle === 0) {
        const CreateBucketConfiguration = { LocationConstraint: 'safe' as 'eu-west-1' }
        await client.send(new CreateBucketCommand({ Bucket: bucket, CreateBucketConfiguration }))
      }
      expect(await violations(client, bucket, expectations), `cycle ${cycle}, seed ${seed}`).toEqual([])
      if (!beforeStart) await rename(away, `${away}.away`)
      let untilKill = 20 + Math.floor(random() * 100)
      const onAcknowledged = (): void => {
        untilKill -= 1
        if (untilKill === 0) server.child.kill('SIGKILL')
      }
      await Promise.all(crew.map((writer) => writer.work(client, onAcknowledged)))
      expect((await server.ended).signal).toBe('SIGKILL')
      client.destroy()
      await rename(`${away}.away`, away)
      // What lacks copies gets them before another disk goes.
      expect(await reclaim()).toMatchObject({ degradedBlobs: 0, lostBlobs: 0 })
    }

    const server = await start()
    const client = clientOf(server.ready.endpoint)
    expect(await violations(client, bucket, expectations), `at the end, seed ${seed}`).toEqual([])
    await removeEverything(client)
    client.destroy()
    server.child.kill('SIGTERM')
    await server.ended
    await reclaim()
    await reclaim()
    expect(await leftovers()).toEqual([])
  },
  5 * 60_000 * scale,
)

async function reclaim(): Promise<unknown> {
  const { stdout, stderr } = await run(['reclaim', '--config', config, '--grace', '0', '--json'], keyVariables).ended
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

async function removeEverything(client: S3Client): Promise<void> {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }))
  await Promise.all(Contents.map(({ Key }) => client.send(new DeleteObjectCommand({ Bucket: bucket, Key }))))
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))
  for (const { Key, UploadId } of Uploads) {
    await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
  }
  await client.send(new DeleteBucketCommand({ Bucket: bucket }))
}

/** Files that the disks keep, but for their identity. */
async function leftovers(): Promise<string[]> {
  const found = await Promise.all(
    disks.map((disk) => readdir(join(root, disk), { recursive: true, withFileTypes: true })),
  )
  return found.flat().flatMap((it) => (it.isFile() && it.name !== 'holdfast-store.json' ? [it.name] : []))
}
