/** Killed again and again while a bucket is moved to and fro under writers: nothing that was acknowledged is lost, and nothing is left behind. */
import { writeFile } from 'node:fs/promises'
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3'
import { beforeEach, expect, test } from 'vitest'
import { keyVariables, type Outcome, run, serve } from '../cli/holdfast-process.ts'
import { openWorkplace, testClient } from '../cli/workplace.ts'
import { seededRandom } from '../support/seeded.ts'
import { endStorm, leftovers } from './storm-end.ts'
import { assertNothingLost, Expectations, StormWriter } from './storm-writer.ts'

const scale = Number(process.env.HOLDFAST_TRUST_SCALE ?? '1')
const cycles = scale === 1 ? 2 : 3 * scale
const writers = 4
const bucket = 'storm'
const disks = ['disk1', 'disk2', 'disk3', 'disk4']
const targets = ['pair', 'striped', 'default']

const place = openWorkplace('storm-move')
let config: string

beforeEach(async () => {
  config = place.path('holdfast.toml')
  const stores = disks.map((disk) => `[stores.${disk}]\ntype = "directory"\npath = "${disk}"\n`).join('')
  const pair = `[locations.pair]\nscheme = "replica"\ncopies = 2\nstores = ${JSON.stringify(disks.slice(0, 3))}\n`
  const striped = `[locations.striped]\nscheme = "erasure"\ndata = 2\nparity = 1\nstores = ${JSON.stringify(disks)}\n`
  // Snapshots of the metadata would be left on the disks when everything is gone.
  const snapshots = '[snapshots]\ninterval = "never"\n'
  await writeFile(config, `data = "data"\nlisten = "127.0.0.1:0"\n${snapshots}${stores}${pair}${striped}`)
})

const start = () => serve(['serve', '--config', config])
const clientOf = (endpoint: string): S3Client => testClient(endpoint, { maxAttempts: 1 })
const asking = (to: string) => run(['locations', 'move', bucket, to, '--config', config, '--json'], keyVariables)
const command = (...words: string[]): Promise<Outcome> => run([...words, '--config', config], keyVariables).ended

test(
  `${cycles} times killed under ${writers} writers and a move, a bucket keeps every acknowledged change`,
  async () => {
    const seed = Number(process.env.HOLDFAST_STORM_SEED ?? Math.floor(Math.random() * 2 ** 31))
    console.info(`storm seed: HOLDFAST_STORM_SEED=${seed}`)
    const random = seededRandom(seed)
    const expectations = new Expectations()
    const crew = Array.from({ length: writers }, (_, w) => {
      const keys = Array.from({ length: 12 }, (_, k) => `writer-${w}/key-${k}`)
      return new StormWriter(bucket, keys, seededRandom(seed + w + 1), expectations)
    })
    for (let cycle = 0; cycle < cycles; cycle++) {
      const server = await start()
      const client = clientOf(server.ready.endpoint)
      if (cycle === 0) await client.send(new CreateBucketCommand({ Bucket: bucket }))
      // The server goes on by itself with the move that was under way.
      await assertNothingLost(client, bucket, expectations, `cycle ${cycle}, seed ${seed}`)
      const asked = asking(targets[Math.floor(random() * targets.length)] ?? '')
      let untilKill = 40 + Math.floor(random() * 160)
      const onAcknowledged = (): void => {
        untilKill -= 1
        if (untilKill !== 0) return
        server.child.kill('SIGKILL')
        // Else it would go on with the move in the place of the server.
        asked.child.kill('SIGKILL')
      }
      await Promise.all(crew.map((writer) => writer.work(client, onAcknowledged)))
      expect((await server.ended).signal).toBe('SIGKILL')
      await asked.ended
      client.destroy()
    }

    const server = await start()
    const client = clientOf(server.ready.endpoint)
    expect(await asking('striped').ended).toMatchObject({ code: 0 })
    await assertNothingLost(client, bucket, expectations, `at the end, seed ${seed}`)
    const plan = JSON.parse((await command('locations', 'plan', '--json')).stdout)
    const outdated = plan.locations.map(({ after }: { after: { outdated: { blobs: number } } }) => after.outdated.blobs)
    expect(outdated).toEqual([0, 0, 0])
    await endStorm(client, bucket, { server, command })
    expect(await leftovers([...disks.map((disk) => place.path(disk)), place.path('data', 'store')])).toEqual([])
  },
  5 * 60_000 * scale,
)
