/** Buckets moved as an operator moves them: beside a server that is used, through kills, and what a plan says before. */
import { mkdir, rename, writeFile } from 'node:fs/promises'
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetBucketLocationCommand,
  GetObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { beforeEach, describe, expect, test } from 'vitest'
import { patternBytes, seededRandom } from '../../support/seeded.ts'
import { keyVariables, lastEvent, type Outcome, run, serve } from '../holdfast-process.ts'
import { openWorkplace, testClient } from '../workplace.ts'

const place = openWorkplace('move')
let config: string

const disk = (name: string): string => `[stores.${name}]\ntype = "directory"\npath = "${name}"\n`
const disks = ['disk1', 'disk2', 'disk3', 'disk4']
const pair = '[locations.pair]\nscheme = "replica"\ncopies = 2\nstores = ["disk1", "disk2", "disk3"]\n'
const striped = (name: string): string =>
  `[locations.${name}]\nscheme = "erasure"\ndata = 2\nparity = 1\nstores = ${JSON.stringify(disks)}\n`
const configure = (toml: string): Promise<void> => writeFile(config, `data = "data"\nlisten = "127.0.0.1:0"\n${toml}`)

beforeEach(async () => {
  config = place.path('holdfast.toml')
  await configure(disks.map(disk).join('') + pair + striped('striped'))
})

const bodies = [patternBytes(1, 3_000), patternBytes(2, 90_000), patternBytes(3, 700_000)]
const body = (i: number): Buffer => bodies[i % bodies.length] ?? Buffer.alloc(0)

class Client {
  readonly s3: S3Client
  constructor(endpoint: string) {
    const maxAttempts = 1
    this.s3 = testClient(endpoint, { maxAttempts })
  }
  makeBucket = () => this.s3.send(new CreateBucketCommand({ Bucket: 'bucket' }))
  location = async () =>
    (await this.s3.send(new GetBucketLocationCommand({ Bucket: 'bucket' }))).LocationConstraint as string | undefined
  put = (Key: string, Body: Buffer) => this.s3.send(new PutObjectCommand({ Bucket: 'bucket', Key, Body }))
  delete = (Key: string) => this.s3.send(new DeleteObjectCommand({ Bucket: 'bucket', Key }))
  async get(Key: string, VersionId?: string): Promise<Buffer> {
    const { Body } = await this.s3.send(new GetObjectCommand({ Bucket: 'bucket', Key, VersionId }))
    return Buffer.from((await Body?.transformToByteArray()) ?? [])
  }
  async fill(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await this.put(`key-${i}`, body(i))
  }
  async holds(count: number): Promise<void> {
    for (let i = 0; i < count; i++) expect((await this.get(`key-${i}`)).equals(body(i)), `key-${i}`).toBe(true)
  }
}

const command = (...words: string[]): Promise<Outcome> => run([...words, '--config', config], keyVariables).ended

async function movesTo(location: string): Promise<Record<string, unknown>[]> {
  const { locations } = lastEvent(await command('locations', 'status', '--json'))
  return locations.find(({ name }: { name: string }) => name === location).moves
}

async function plan(): Promise<{ blobs: Record<string, number>; held: Record<string, number>; refusals: string[] }> {
  const event = lastEvent(await command('locations', 'plan', '--json'))
  const named = (list: Record<string, string>[], value: string) =>
    Object.fromEntries(list.map((one) => [one.name, one[value]]))
  return {
    blobs: named(event.locations, 'blobs'),
    held: named(event.stores, 'heldBytes'),
    refusals: event.refusals,
  }
}

/** Writes, reads back and deletes until it is told to stop. Every answer must be right. */
async function use(client: Client, who: number, isOver: () => boolean): Promise<Map<string, Buffer>> {
  const random = seededRandom(who)
  const held = new Map<string, Buffer>()
  for (let i = 0; !isOver() || i < 10; i++) {
    const key = `user-${who}/${Math.floor(random() * 5)}`
    const chance = random()
    const known = held.get(key)
    if (chance < 0.5) {
      const bytes = body(Math.floor(random() * 3))
      await client.put(key, bytes)
      held.set(key, bytes)
    } else if (chance < 0.6) {
      await client.delete(key)
      held.delete(key)
    } else if (known !== undefined) expect((await client.get(key)).equals(known), key).toBe(true)
    await client.get(`key-${i % 12}`)
  }
  return held
}

describe('a bucket moved under load', () => {
  test('from one copy to two, and on to stripes, while workers that know nothing of it use it', async () => {
    const server = await serve(['serve', '--config', config, '--workers', '2'])
    const client = new Client(server.ready.endpoint)
    await client.makeBucket()
    await client.s3.send(
      new PutBucketVersioningCommand({ Bucket: 'bucket', VersioningConfiguration: { Status: 'Enabled' } }),
    )
    await client.fill(12)
    const older = (await client.put('key-0', body(1))).VersionId
    await client.put('key-0', body(0))
    const parts = Buffer.concat([patternBytes(4, 5 * 1024 * 1024), body(1)])
    await new Upload({ client: client.s3, params: { Bucket: 'bucket', Key: 'parts', Body: parts } }).done()

    for (const to of ['pair', 'striped']) {
      let isMoved = false
      const users = [1, 2, 3].map((who) => use(client, who, () => isMoved))
      const moved = await command('locations', 'move', 'bucket', to, '--json')
      expect(moved).toMatchObject({ code: 0 })
      expect(lastEvent(moved)).toMatchObject({ event: 'moved', bucket: 'bucket', to, state: 'done', unreadable: 0 })
      expect(moved.stdout).toContain('"event":"progress"')
      isMoved = true
      const held = await Promise.all(users)
      for (const [key, bytes] of held.flatMap((one) => [...one])) {
        expect((await client.get(key)).equals(bytes), key).toBe(true)
        await client.delete(key)
      }
      expect(await client.location()).toBe(to)
      await client.holds(12)
      expect((await client.get('key-0', older)).equals(body(1))).toBe(true)
      expect((await client.get('parts')).equals(parts)).toBe(true)
    }
    client.s3.destroy()
    server.child.kill('SIGTERM')
    await server.ended
    expect(lastEvent(await command('reclaim', '--grace', '0', '--json'))).toMatchObject({
      degradedBlobs: 0,
    })
    const { blobs, held } = await plan()
    expect(blobs).toMatchObject({ default: 0, pair: 0 })
    expect(held.default).toBe(0)
  })
})

describe('a move that is killed', () => {
  const slowly = ['--rate', '4MiB', '--json']

  test('with its server is gone on with by the command', async () => {
    const server = await serve(['serve', '--config', config])
    const client = new Client(server.ready.endpoint)
    await client.makeBucket()
    await client.fill(12)
    const moving = run(['locations', 'move', 'bucket', 'striped', '--config', config, ...slowly], keyVariables)
    await moving.line((line) => Number(/"done":(\d+)/.exec(line)?.[1] ?? 0) > 0)
    server.child.kill('SIGKILL')
    expect(await moving.ended).toMatchObject({ code: 0 })
    client.s3.destroy()
    await isWhole('striped')
  })

  test('by itself is gone on with by the server, and asked for again, ended', async () => {
    const first = await serve(['serve', '--config', config])
    const client = new Client(first.ready.endpoint)
    await client.makeBucket()
    await client.fill(12)
    client.s3.destroy()
    first.child.kill('SIGTERM')
    await first.ended
    const moving = run(['locations', 'move', 'bucket', 'pair', '--config', config, ...slowly], keyVariables)
    await moving.line((line) => Number(/"done":(\d+)/.exec(line)?.[1] ?? 0) > 0)
    moving.child.kill('SIGKILL')
    await moving.ended

    const server = await serve(['serve', '--config', config])
    const again = await command('locations', 'move', 'bucket', 'pair', '--json')
    expect(again).toMatchObject({ code: 0 })
    server.child.kill('SIGKILL')
    await server.ended
    await isWhole('pair')
  })

  test('by the operator stops, and goes on when it is asked for again', async () => {
    const server = await serve(['serve', '--config', config])
    const client = new Client(server.ready.endpoint)
    await client.makeBucket()
    await client.fill(12)
    expect(await command('locations', 'move', 'bucket', '--cancel')).toMatchObject({ code: 1 })
    const words = ['locations', 'move', 'bucket', 'pair', '--config', config, '--rate', '10KiB', '--json']
    const moving = run(words, keyVariables)
    await moving.line((line) => Number(/"done":(\d+)/.exec(line)?.[1] ?? 0) > 0)
    expect(await movesTo('pair')).toMatchObject([{ bucket: 'bucket', state: 'running', progress: { unit: 'bytes' } }])
    expect(await movesTo('default')).toEqual([])
    const shown = (await command('locations', 'status')).stdout
    expect(shown).toMatch(/bucket bucket is moved here: [\d.]+ [KM]iB of 3\.0 MiB in \d+ blobs? so far/)
    expect(shown).toMatch(/default {2}domain \S+ {2}up {2}[\d.]+ MiB used, [\d.]+ [GT]iB free/)

    expect(await command('locations', 'move', 'bucket', '--cancel')).toMatchObject({ code: 0 })
    const ended = await moving.ended
    expect([ended.code, lastEvent(ended)]).toEqual([1, expect.objectContaining({ state: 'cancelled' })])
    expect((await command('locations', 'status')).stdout).toMatch(
      /the move of bucket bucket here was not ended \(cancelled\): .*\. Repeat it to go on/,
    )
    expect((await plan()).blobs.default).toBeGreaterThan(0)
    await client.holds(12)
    expect(await command('locations', 'move', 'bucket', 'pair')).toMatchObject({ code: 0 })
    expect((await plan()).blobs).toMatchObject({ default: 0, pair: 12 })
    expect(await movesTo('pair')).toEqual([])
    client.s3.destroy()
  })

  async function isWhole(location: string): Promise<void> {
    const server = await serve(['serve', '--config', config])
    const client = new Client(server.ready.endpoint)
    await client.holds(12)
    expect(await client.location()).toBe(location)
    client.s3.destroy()
    server.child.kill('SIGTERM')
    await server.ended
    const { blobs, held } = await plan()
    expect(blobs).toEqual({ default: 0, pair: 0, striped: 0, [location]: 12 })
    expect(held.default).toBe(0)
  }
})

describe('a plan', () => {
  test('says what a changed configuration means, and what refuses it', async () => {
    const server = await serve(['serve', '--config', config])
    const client = new Client(server.ready.endpoint)
    await client.makeBucket()
    await client.fill(12)
    expect((await command('locations', 'plan')).stdout).toContain('nothing is changed by this configuration')
    const foreseen = await command('locations', 'plan', 'bucket', 'striped')
    expect([foreseen.code, foreseen.stdout]).toEqual([
      0,
      expect.stringContaining('moving bucket from default to striped reads 12 blobs'),
    ])
    expect(foreseen.stdout).toContain('there is room')
    expect(await command('locations', 'move', 'bucket', 'striped')).toMatchObject({ code: 0 })

    // The same name, another code over one disk more, which is not there yet; and a store that is somebody else's.
    await mkdir(place.path('disk6'))
    await writeFile(place.path('disk6', 'photo.jpg'), 'x')
    const three = striped('striped').replace('data = 2', 'data = 3').replace('"disk4"', '"disk4", "disk5"')
    await configure([...disks, 'disk5', 'disk6'].map(disk).join('') + pair + three)
    const changed = await command('locations', 'plan')
    expect(changed.code).toBe(1)
    expect(changed.stdout).toContain(
      'location striped  version 1 -> 2  3 + 1 shards (2 copies below 256.0 KiB) over 5 stores',
    )
    expect(changed.stdout).toContain('4 blobs of 2.7 MiB lie otherwise')
    expect(changed.stdout).toContain('`holdfast locations move bucket striped`')
    expect(changed.stdout).toMatch(/store disk5 {2}new {2}up/)
    expect(changed.stdout).toMatch(/refused: stores\.disk6: .*disk6 is not empty, and no store/)
    expect(changed.stdout).toContain('a server with this configuration would not start')

    await configure(disks.map(disk).join('') + pair)
    const removed = await command('locations', 'plan')
    expect([removed.code, removed.stdout]).toEqual([
      1,
      expect.stringContaining(
        'refused: [locations.striped] was removed from the configuration, but it is the location of bucket',
      ),
    ])
    await configure(
      striped('striped').replace('"disk4"', '"disk5"') + ['disk1', 'disk2', 'disk3', 'disk5'].map(disk).join(''),
    )
    expect((await command('locations', 'plan')).stdout).toContain(
      'refused: [stores.disk4] was removed from the configuration, but it still holds data, such as of bucket bucket',
    )
    client.s3.destroy()
    server.child.kill('SIGTERM')
    await server.ended

    // With what it takes, the server starts, and a move to the same name brings the data to the new shape.
    await configure([...disks, 'disk5'].map(disk).join('') + pair + three)
    expect((await command('locations', 'plan')).code).toBe(0)
    const next = await serve(['serve', '--config', config])
    expect(await command('locations', 'move', 'bucket', 'striped')).toMatchObject({ code: 0 })
    const after = await command('locations', 'plan', 'bucket', 'striped')
    expect(after.stdout).toContain('all data of bucket lies as striped lays it')
    const reader = new Client(next.ready.endpoint)
    await reader.holds(12)
    reader.s3.destroy()
  })

  test('and a move refuse what is not there, or cannot be done', async () => {
    const server = await serve(['serve', '--config', config])
    const client = new Client(server.ready.endpoint)
    await client.makeBucket()
    await client.fill(3)
    for (const verb of ['plan', 'move']) {
      expect(await command('locations', verb, 'bucket', 'pai')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("there is no location 'pai'; did you mean 'pair'?"),
      })
      const { code, stdout, stderr } = await command('locations', verb, 'nowhere', 'pair')
      expect([code, stdout + stderr]).toEqual([1, expect.stringContaining('there is no bucket nowhere')])
    }
    // The server is told of it as of no fault of its own.
    const line = await server.logged((line) => line.includes('there is no bucket nowhere'))
    expect(JSON.parse(line)).toEqual({
      level: 40,
      time: expect.anything(),
      pid: expect.anything(),
      msg: 'move of nowhere was refused: there is no bucket nowhere',
    })
    expect(await command('locations', 'move', 'bucket')).toMatchObject({ code: 2 })
    for (const name of ['disk1', 'disk2']) await rename(place.path(name), place.path(`${name}-away`))
    const refused = await command('locations', 'plan', 'bucket', 'pair')
    expect([refused.code, refused.stdout]).toEqual([
      1,
      expect.stringContaining('a write needs 2 durable shards, and only 1 can be placed'),
    ])
    expect(await client.location()).toBeUndefined()
    await client.holds(3)
    client.s3.destroy()
  })
})
