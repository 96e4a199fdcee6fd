/** A bucket is copied from one server to another while both are killed again and again: in the end, both hold the same versions in the same order. */
import { writeFile } from 'node:fs/promises'
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  ListObjectVersionsCommand,
  PutBucketReplicationCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { seededRandom } from '../support/seeded.ts'
import { environmentKey, type ReadyEvent, serve } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const place = openWorkplace('replication')
const cycles = 4
const writers = 4
const Bucket = 'photos'

const portOf = ({ endpoint }: ReadyEvent): string => new URL(endpoint).port

async function start(name: string, port = '0', more = '') {
  const config = place.path(`${name}.toml`)
  await writeFile(config, `data = "${name}"\nlisten = "127.0.0.1:${port}"\n${more}`)
  const server = await serve(['serve', '--config', config])
  return { ...server, port: portOf(server.ready) }
}

async function makeBucket(s3: S3Client): Promise<void> {
  await s3.send(new CreateBucketCommand({ Bucket }))
  await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }))
}

/** The versions of each key, the oldest first, by what tells them apart. */
async function history(s3: S3Client): Promise<Record<string, string[]>> {
  const { Versions = [], DeleteMarkers = [], IsTruncated } = await s3.send(new ListObjectVersionsCommand({ Bucket }))
  expect(IsTruncated).toBe(false)
  const all = [
    ...Versions.map(({ Key = '', VersionId = '', ETag = '' }) => ({ Key, VersionId, what: ETag })),
    ...DeleteMarkers.map(({ Key = '', VersionId = '' }) => ({ Key, VersionId, what: 'marker' })),
  ].sort((one, other) => (one.VersionId < other.VersionId ? -1 : 1))
  const found: Record<string, string[]> = {}
  for (const { Key, what } of all) found[Key] = [...(found[Key] ?? []), what]
  return found
}

/** Writes versions and delete markers until a request fails. No two objects are alike, and no marker lies on another. */
async function write(s3: S3Client, writer: number, random: () => number, onWritten: () => void): Promise<void> {
  const hidden = new Set<string>()
  try {
    while (true) {
      const Key = `${writer}/${Math.floor(random() * 3)}`
      if (random() < 0.2 && !hidden.has(Key)) {
        hidden.add(Key)
        await s3.send(new DeleteObjectCommand({ Bucket, Key }))
      } else {
        await s3.send(new PutObjectCommand({ Bucket, Key, Body: `${writer} ${random()}` }))
        hidden.delete(Key)
      }
      onWritten()
    }
  } catch {
    // The server was killed.
  }
}

test(
  `${cycles} times, servers are killed in the middle of replication, and nothing is lost, doubled or out of order`,
  async () => {
    const seed = Number(process.env.HOLDFAST_STORM_SEED ?? Math.floor(Math.random() * 2 ** 31))
    console.info(`storm seed: HOLDFAST_STORM_SEED=${seed}`)
    const random = seededRandom(seed)
    let there = await start('there')
    const site = `[sites.paris]\nendpoint = "${there.ready.endpoint}"\naccessKeyId = "${environmentKey.accessKeyId}"\nsecretAccessKey = "${environmentKey.secretAccessKey}"\n`
    let here = await start('here', '0', site)
    const far = place.clientOf(there.ready.endpoint)
    const s3 = place.clientOf(here.ready.endpoint)
    await makeBucket(far)
    await makeBucket(s3)
    const Rule = {
      Priority: 1,
      Status: 'Enabled',
      Filter: {},
      DeleteMarkerReplication: { Status: 'Enabled' },
      Destination: { Bucket: `arn:aws:s3:::paris/${Bucket}` },
    } as const
    await s3.send(new PutBucketReplicationCommand({ Bucket, ReplicationConfiguration: { Role: '', Rules: [Rule] } }))
    for (let cycle = 0; cycle < cycles; cycle++) {
      let untilKill = 20 + Math.floor(random() * 60)
      const killsOther = random() < 0.5
      const onWritten = (): void => {
        untilKill -= 1
        if (untilKill === 10 && killsOther) there.child.kill('SIGKILL')
        if (untilKill === 0) here.child.kill('SIGKILL')
      }
      const work = Array.from({ length: writers }, (_, i) => write(s3, cycle * writers + i, random, onWritten))
      await Promise.all(work)
      await here.ended
      if (killsOther) {
        await there.ended
        there = await start('there', there.port)
      }
      here = await start('here', here.port, site)
    }
    // A version that was copied and whose original is not told so is found again by its copy.
    await expect.poll(() => history(far), { timeout: 120_000, interval: 250 }).toEqual(await history(s3))
    const { Versions = [] } = await far.send(new ListObjectVersionsCommand({ Bucket }))
    expect(Versions.length).toBeGreaterThan(20 * cycles * 0.5)
  },
  5 * 60_000,
)
