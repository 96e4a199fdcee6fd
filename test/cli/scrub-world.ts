/** Tests scrubs: a server over three disks, objects with copies on two of them, damage, and commands with and without the server. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { beforeEach, expect } from 'vitest'
import { patternBytes } from '../support/seeded.ts'
import { keyVariables, type Outcome, type Running, run, serve } from './holdfast-process.ts'
import { openWorkplace, testClient, type Workplace } from './workplace.ts'

/** Each object has a file of its own. */
export const bytes = 1200 * 1024
export const objects = 6
const body = (i: number): Buffer => patternBytes(i, bytes)

interface Event {
  event: string
  [name: string]: unknown
}
export const eventsOf = ({ stdout }: Outcome): Event[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Event)

/** The server takes snapshots of the metadata only on request. */
export const clean = {
  event: 'scrubbed',
  state: 'done',
  damaged: 0,
  repaired: 0,
  lost: 0,
  degraded: 0,
  checked: objects,
}

export class ScrubWorld {
  readonly place: Workplace
  /** The path of the configuration file. */
  config = ''

  /** Registers hooks: call it once, before the tests. */
  constructor(name: string) {
    this.place = openWorkplace(name)
    beforeEach(async () => {
      this.config = this.place.path('holdfast.toml')
      const disk = (name: string): string => `[stores.${name}]\ntype = "directory"\npath = "${name}"\n`
      await writeFile(
        this.config,
        `data = "data"\nlisten = "127.0.0.1:0"\n${['disk1', 'disk2', 'disk3'].map(disk).join('')}[locations.safe]\nscheme = "replica"\ncopies = 2\nstores = ["disk1", "disk2", "disk3"]\n[snapshots]\ninterval = "never"\n`,
      )
    })
  }

  serving = async (use: (s3: S3Client, server: Awaited<ReturnType<typeof serve>>) => Promise<void>): Promise<void> => {
    const server = await serve(['serve', '--config', this.config])
    const s3 = testClient(server.ready.endpoint)
    try {
      await use(s3, server)
    } finally {
      s3.destroy()
      server.child.kill('SIGTERM')
    }
    await server.ended
  }

  start = (...words: string[]): Running => run([...words, '--config', this.config, '--json'], keyVariables)

  command = async (...words: string[]): Promise<{ code: number | null; events: Event[]; last: Event | undefined }> => {
    const outcome = await this.start(...words).ended
    const events = eventsOf(outcome)
    return { code: outcome.code, events, last: events.at(-1) }
  }

  /** Flips a bit in every large shard of a store. Resolves with the number of shards. */
  flipAll = async (store: string): Promise<number> => {
    const found = await readdir(this.place.path(store, 'files'), { recursive: true, withFileTypes: true })
    const files = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    for (const file of files) {
      const content = await readFile(file)
      content[200_000] = (content[200_000] ?? 0) ^ 1
      await writeFile(file, content, { flag: 'r+' })
    }
    return files.length
  }
}

export async function fill(s3: S3Client, location: 'safe' | 'default' = 'safe'): Promise<void> {
  await s3.send(
    new CreateBucketCommand({
      Bucket: 'bucket',
      ...(location === 'safe' ? { CreateBucketConfiguration: { LocationConstraint: 'safe' as 'eu-west-1' } } : {}),
    }),
  )
  for (let i = 0; i < objects; i++) {
    await s3.send(new PutObjectCommand({ Bucket: 'bucket', Key: `key-${i}`, Body: body(i) }))
  }
}

export async function holdAll(s3: S3Client): Promise<void> {
  for (let i = 0; i < objects; i++) {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'bucket', Key: `key-${i}` }))
    expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(body(i))).toBe(true)
  }
}
