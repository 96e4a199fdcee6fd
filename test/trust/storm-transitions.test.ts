/** Stopped and killed again and again while lifecycle rules move objects to other stores under writers: nothing that was acknowledged is lost, and nothing is left behind. */
import { readFile, writeFile } from 'node:fs/promises'
import {
  CreateBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketLifecycleConfigurationCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { beforeEach, expect, test } from 'vitest'
import { keyVariables, type Outcome, run, serve } from '../cli/holdfast-process.ts'
import { openWorkplace, testClient } from '../cli/workplace.ts'
import { seededRandom } from '../support/seeded.ts'
import { endStorm, leftovers } from './storm-end.ts'
import { assertNothingLost, Expectations, StormWriter } from './storm-writer.ts'

const scale = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1')
const cycles = scale === 1 ? 3 : 4 * scale
const writers = 4
const bucket = 'storm'
const disks = ['disk1', 'disk2', 'disk3']
const storageClass = 'GLACIER_IR'

const place = openWorkplace('storm-transitions')
let config: string

beforeEach(async () => {
  config = place.path('holdfast.toml')
  const stores = disks.map((disk) => `[stores.${disk}]\ntype = "directory"\npath = "${disk}"\n`).join('')
  const cold = `[locations.cold]\nscheme = "erasure"\ndata = 2\nparity = 1\nstores = ${JSON.stringify(disks)}\nstorageClasses = ["${storageClass}"]\n`
  // Snapshots of the metadata would be left on the disks when everything is gone.
  const often = '[snapshots]\ninterval = "never"\n[reclaim]\ninterval = "100ms"\n'
  await writeFile(config, `data = "data"\nlisten = "127.0.0.1:0"\n${often}${stores}${cold}`)
})

const start = () => serve(['serve', '--config', config])
const clientOf = (endpoint: string): S3Client => testClient(endpoint, { maxAttempts: 1 })
const command = (...words: string[]): Promise<Outcome> => run([...words, '--config', config], keyVariables).ended

/** A changed rule is applied to all objects again, not once a day. */
function setRule(client: S3Client, name: string) {
  const Rules = [
    {
      ID: name,
      Status: 'Enabled' as const,
      // Without a size, small objects would stay.
      Filter: { ObjectSizeGreaterThan: 0 },
      Transitions: [{ Date: new Date('2020-01-01T00:00:00Z'), StorageClass: storageClass } as const],
    },
  ]
  return client.send(new PutBucketLifecycleConfigurationCommand({ Bucket: bucket, LifecycleConfiguration: { Rules } }))
}

/** The process goes on only once all of it has stopped. */
async function stopAndContinue(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  await expect.poll(() => readFile(`/proc/${pid}/stat`, 'utf8')).toMatch(/\) T /)
  process.kill(pid, 'SIGCONT')
}

async function classesOf(client: S3Client): Promise<{ all: number; moved: number }> {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }))
  const full = Contents.filter(({ Size = 0 }) => Size > 0)
  const heads = await Promise.all(full.map(({ Key }) => client.send(new HeadObjectCommand({ Bucket: bucket, Key }))))
  return { all: full.length, moved: heads.filter(({ StorageClass }) => StorageClass === storageClass).length }
}

test.skipIf(process.platform !== 'linux')(
  `${cycles} times stopped and killed under ${writers} writers and transitions, a bucket keeps every acknowledged change`,
  async () => {
    const seed = Number(process.env.HOLDFAST_STORM_SEED ?? Math.floor(Math.random() * 2 ** 31))
    console.info(`storm seed: HOLDFAST_STORM_SEED=${seed}`)
    const random = seededRandom(seed)
    const expectations = new Expectations()
    const crew = Array.from({ length: writers }, (_, w) => {
      const keys = Array.from({ length: 12 }, (_, k) => `writer-${w}/key-${k}`)
      return new StormWriter(bucket, keys, seededRandom(seed + w + 1), expectations)
    })
    let movedMeanwhile = 0
    for (let cycle = 0; cycle < cycles; cycle++) {
      const server = await start()
      const client = clientOf(server.ready.endpoint)
      if (cycle === 0) await client.send(new CreateBucketCommand({ Bucket: bucket }))
      await assertNothingLost(client, bucket, expectations, `cycle ${cycle}, seed ${seed}`)
      movedMeanwhile += (await classesOf(client)).moved
      const lastOne = 60 + Math.floor(random() * 160)
      let done = 0
      const beside: Promise<unknown>[] = []
      const onAcknowledged = (): void => {
        done += 1
        // The server may be killed before it answers.
        if (done % 20 === 0 && done < lastOne) beside.push(setRule(client, `rule-${cycle}-${done}`).catch(() => {}))
        if (done === 50) beside.push(stopAndContinue(server.ready.pid))
        if (done === lastOne) server.child.kill('SIGKILL')
      }
      await Promise.all(crew.map((writer) => writer.work(client, onAcknowledged)))
      expect((await server.ended).signal).toBe('SIGKILL')
      await Promise.all(beside)
      client.destroy()
    }
    // Otherwise the storm was about nothing.
    expect(movedMeanwhile).toBeGreaterThan(0)

    const server = await start()
    const client = clientOf(server.ready.endpoint)
    await setRule(client, 'last')
    const { all } = await classesOf(client)
    await expect.poll(() => classesOf(client), { timeout: 60_000 }).toEqual({ all, moved: all })
    await assertNothingLost(client, bucket, expectations, `at the end, seed ${seed}`)
    await endStorm(client, bucket, { server, command })
    expect(await leftovers([...disks.map((disk) => place.path(disk)), place.path('data', 'store')])).toEqual([])
  },
  5 * 60_000 * scale,
)
