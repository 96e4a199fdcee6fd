/** Killed again and again while one disk after another goes away and comes back: copies and stripes on several disks lose nothing and leave nothing behind. */
import { renameSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3'
import { beforeEach, expect, test } from 'vitest'
import { keyVariables, lastEvent, type Running, run, serve } from '../cli/holdfast-process.ts'
import { openWorkplace, testClient } from '../cli/workplace.ts'
import { seededRandom } from '../support/seeded.ts'
import { leftovers, removeEverything } from './storm-end.ts'
import { assertNothingLost, Expectations, StormWriter } from './storm-writer.ts'

const scale = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1')
const writers = 8
const bucket = 'storm'
const disks = ['disk1', 'disk2', 'disk3']

const place = openWorkplace('storm-copies')
let config: string

beforeEach(() => {
  config = place.path('holdfast.toml')
})

async function configure(scheme: string): Promise<void> {
  const stores = disks.map((disk) => `[stores.${disk}]\ntype = "directory"\npath = "${disk}"\n`).join('')
  const location = `[locations.safe]\n${scheme}\nstores = ${JSON.stringify(disks)}\n`
  // Snapshots of the metadata would be left on the disks when everything is gone.
  const snapshots = '[snapshots]\ninterval = "never"\n'
  await writeFile(config, `data = "data"\nlisten = "127.0.0.1:0"\n${snapshots}${stores}${location}`)
}

const start = () => serve(['serve', '--config', config])
const clientOf = (endpoint: string): S3Client => testClient(endpoint, { maxAttempts: 1 })

/** When the disk of a cycle goes: before the start, under the running server, or under it and back again before the kill. */
type Absence = 'from the start' | 'meanwhile' | 'for a while'

interface Cycle {
  /** Path of the disk that goes. */
  disk: string
  absence: Absence
  acknowledgedMax: number
}

const schemes = [
  {
    title: 'two copies',
    scheme: 'scheme = "replica"\ncopies = 2',
    absences: ['meanwhile', 'from the start'],
    cycles: scale === 1 ? 4 : 6 * scale,
  },
  {
    title: '2 + 1 shards',
    scheme: 'scheme = "erasure"\ndata = 2\nparity = 1\nwriteAck = 2',
    absences: ['for a while', 'from the start', 'meanwhile'],
    cycles: scale === 1 ? 3 : 4 * scale,
  },
] as const

test.each(schemes)(
  `killed $cycles times under ${writers} writers with a disk away, $title keep every acknowledged change`,
  async ({ scheme, absences, cycles }) => {
    await configure(scheme)
    const seed = Number(process.env.HOLDFAST_STORM_SEED ?? Math.floor(Math.random() * 2 ** 31))
    console.info(`storm seed: HOLDFAST_STORM_SEED=${seed}`)
    const random = seededRandom(seed)
    const expectations = new Expectations()
    const crew = Array.from({ length: writers }, (_, w) => {
      const keys = Array.from({ length: 6 }, (_, k) => `writer-${w}/key-${k}`)
      return new StormWriter(bucket, keys, seededRandom(seed + w + 1), expectations)
    })
    for (let number = 0; number < cycles; number++) {
      // At the first start the stores are made.
      const chosen = number === 0 ? absences[0] : absences[Math.floor(random() * absences.length)]
      const cycle: Cycle = {
        disk: place.path(disks[Math.floor(random() * disks.length)] ?? ''),
        absence: chosen ?? absences[0],
        acknowledgedMax: 20 + Math.floor(random() * 100),
      }
      await runCycle(cycle, number, crew, expectations)
      // What lacks shards gets them before another disk goes.
      expect(await reclaim()).toMatchObject({ degradedBlobs: 0, lostBlobs: 0 })
    }

    const server = await start()
    const client = clientOf(server.ready.endpoint)
    await assertNothingLost(client, bucket, expectations, `at the end, seed ${seed}`)
    await removeEverything(client, bucket)
    client.destroy()
    server.child.kill('SIGTERM')
    await server.ended
    await reclaim()
    await reclaim()
    expect(await leftovers(disks.map((disk) => place.path(disk)))).toEqual([])
  },
  5 * 60_000 * scale,
)

async function runCycle(
  { disk, absence, acknowledgedMax }: Cycle,
  number: number,
  crew: readonly StormWriter[],
  expectations: Expectations,
): Promise<void> {
  if (absence === 'from the start') await rename(disk, `${disk}.away`)
  const server = await start()
  const client = clientOf(server.ready.endpoint)
  if (number === 0) {
    const CreateBucketConfiguration = { LocationConstraint: 'safe' as 'eu-west-1' }
    await client.send(new CreateBucketCommand({ Bucket: bucket, CreateBucketConfiguration }))
  }
  await assertNothingLost(client, bucket, expectations, `cycle ${number}`)
  if (absence === 'meanwhile') await rename(disk, `${disk}.away`)
  let untilKill = acknowledgedMax
  let mayKill = absence !== 'for a while'
  const back = mayKill ? Promise.resolve() : goAndComeBack(disk, server).then(() => (mayKill = true))
  const onAcknowledged = (): void => {
    untilKill -= 1
    if (untilKill <= 0 && mayKill) server.child.kill('SIGKILL')
  }
  await Promise.all([back, ...crew.map((writer) => writer.work(client, onAcknowledged))])
  expect(untilKill, 'writers were refused').toBeLessThanOrEqual(0)
  expect((await server.ended).signal).toBe('SIGKILL')
  client.destroy()
  if (absence !== 'for a while') await rename(`${disk}.away`, disk)
}

/** The server notices both. Whatever it had re-created in the disk's place would keep the disk from coming back. */
async function goAndComeBack(disk: string, server: Running): Promise<void> {
  renameSync(disk, `${disk}.away`)
  await server.logged((line) => line.includes('is taken out of use'))
  renameSync(`${disk}.away`, disk)
  await server.logged((line) => line.includes('is back in use'))
}

async function reclaim(): Promise<unknown> {
  const ended = await run(['reclaim', '--config', config, '--grace', '0', '--quarantine', '0', '--json'], keyVariables)
    .ended
  expect(ended.stderr).toBe('')
  return lastEvent(ended)
}
