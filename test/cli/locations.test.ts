/** Locations as an operator meets them: a server over three directories, one of which goes away and is replaced; and what a configuration may not take away. */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetBucketLocationCommand,
  GetObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { beforeEach, describe, expect, test } from 'vitest'
import { patternBytes } from '../support/seeded.ts'
import { keyVariables, lastEvent, type Outcome, run, serve } from './holdfast-process.ts'
import { openWorkplace, testClient } from './workplace.ts'

const place = openWorkplace('locations')
let config: string

beforeEach(async () => {
  config = place.path('holdfast.toml')
  await configure(three + safe)
})

const disk = (name: string): string => `[stores.${name}]\ntype = "directory"\npath = "${name}"\n`
const three = ['disk1', 'disk2', 'disk3'].map(disk).join('')
const safe = '[locations.safe]\nscheme = "replica"\ncopies = 2\nstores = ["disk1", "disk2", "disk3"]\n'
const configure = (toml: string): Promise<void> => writeFile(config, `data = "data"\nlisten = "127.0.0.1:0"\n${toml}`)

const small = (i: number): Buffer => patternBytes(i, 2_000)
const large = (i: number): Buffer => patternBytes(i, 400_000)

class Client {
  readonly #s3: S3Client
  constructor(endpoint: string) {
    this.#s3 = testClient(endpoint)
  }
  makeBucket = (location: string) =>
    this.#s3.send(
      new CreateBucketCommand({
        Bucket: 'bucket',
        CreateBucketConfiguration: { LocationConstraint: location as 'eu-west-1' },
      }),
    )
  location = async () =>
    (await this.#s3.send(new GetBucketLocationCommand({ Bucket: 'bucket' }))).LocationConstraint as string
  put = (Key: string, Body: Buffer) => this.#s3.send(new PutObjectCommand({ Bucket: 'bucket', Key, Body }))
  async range(Key: string, from: number, to: number): Promise<Buffer> {
    const { Body } = await this.#s3.send(
      new GetObjectCommand({ Bucket: 'bucket', Key, Range: `bytes=${from}-${to - 1}` }),
    )
    return Buffer.from((await Body?.transformToByteArray()) ?? [])
  }
  async holds(key: string, bytes: Buffer): Promise<void> {
    const { Body } = await this.#s3.send(new GetObjectCommand({ Bucket: 'bucket', Key: key }))
    expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(bytes), key).toBe(true)
  }
  delete = (Key: string) => this.#s3.send(new DeleteObjectCommand({ Bucket: 'bucket', Key }))
  deleteBucket = () => this.#s3.send(new DeleteBucketCommand({ Bucket: 'bucket' }))
  close = (): void => this.#s3.destroy()
}

async function serving(use: (client: Client) => Promise<unknown>, ...words: string[]): Promise<Outcome> {
  const server = await serve(['serve', '--config', config, ...words])
  const client = new Client(server.ready.endpoint)
  try {
    await use(client)
  } finally {
    client.close()
    server.child.kill('SIGTERM')
  }
  return server.ended
}

const command = (...words: string[]): Promise<Outcome> => run([...words, '--config', config], keyVariables).ended
const refusal = async (): Promise<string> => {
  const { code, stderr } = await run(['serve', '--config', config], keyVariables).ended
  expect(code).toBe(1)
  return stderr
}
const exitCodes: Record<string, number> = { OK: 0, DEGRADED: 3, 'AT RISK': 4 }
async function status(): Promise<Record<string, unknown>> {
  const { stdout, code } = await command('locations', 'status', '--json')
  const { health, locations } = JSON.parse(stdout)
  expect(code).toBe(exitCodes[health])
  return { health, ...locations.find(({ name }: { name: string }) => name === 'safe') }
}

describe('a location of two copies over three disks', () => {
  test.each([['1'], ['2']])(
    'goes on without one of them, and is whole again on a new one, with %s workers',
    async (workers) => {
      const words = ['--workers', workers]
      await serving(
        async (client) => {
          await client.makeBucket('safe')
          expect(await client.location()).toBe('safe')
          for (let i = 0; i < 6; i++) await client.put(`small-${i}`, small(i))
          for (let i = 0; i < 3; i++) await client.put(`large-${i}`, large(i))
          expect(await status()).toMatchObject({ degradedBlobs: 0, failuresSurvived: { now: 1, whole: 1 } })
          // The disk goes away under the running server.
          await rename(place.path('disk2'), place.path('lost'))
          for (let i = 0; i < 3; i++) await client.holds(`large-${i}`, large(i))
          for (let i = 0; i < 6; i++) await client.put(`after-${i}`, small(10 + i))
          for (let i = 0; i < 3; i++) await client.put(`after-large-${i}`, large(10 + i))
        },
        ...words,
      )

      const away = { name: 'disk2', state: 'out', reason: expect.stringContaining('not mounted') }
      expect(await status()).toMatchObject({ health: 'AT RISK', failuresSurvived: { now: 0 }, stores: [{}, away, {}] })
      expect((await command('locations', 'status')).stdout).toMatch(/^AT RISK: /)
      // What is empty in its place is not taken for it.
      await mkdir(place.path('disk2'))
      await serving(
        async (client) => {
          for (let i = 0; i < 6; i++) await client.holds(`small-${i}`, small(i))
          await client.put('again', small(20))

          const replaced = await command('locations', 'replace', 'disk2', '--json')
          expect(replaced).toMatchObject({ code: 0 })
          expect(JSON.parse(replaced.stdout).queuedBlobs).toBeGreaterThan(0)
          // Every process takes the new one up when it next looks at the lost one; until then it is not whole.
          for (let repaired = await command('repair'); repaired.code !== 0; repaired = await command('repair'));
          expect(await status()).toMatchObject({ degradedBlobs: 0, stores: [{}, { state: 'up' }, {}] })
        },
        ...words,
      )

      expect(await status()).toMatchObject({
        degradedBlobs: 0,
        failuresSurvived: { now: 1, whole: 1 },
        stores: [{ state: 'up' }, { state: 'up' }, { state: 'up' }],
      })

      expect(await command('locations', 'status')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^OK: /) })

      // Whole: any one of the others may now go.
      await rename(place.path('disk1'), place.path('lost-too'))
      await serving(
        async (client) => {
          for (let i = 0; i < 6; i++) await client.holds(`small-${i}`, small(i))
          for (let i = 0; i < 6; i++) await client.holds(`after-${i}`, small(10 + i))
          for (let i = 0; i < 3; i++) await client.holds(`large-${i}`, large(i))
          for (let i = 0; i < 3; i++) await client.holds(`after-large-${i}`, large(10 + i))
          await client.holds('again', small(20))
        },
        ...words,
      )
    },
  )

  test('does not start with as many disks away as there are copies', async () => {
    await serving((client) => client.makeBucket('safe'))
    for (const name of ['disk1', 'disk3']) await rename(place.path(name), place.path(`${name}-away`))
    const said = await refusal()
    expect(said).toContain("location safe keeps 2 copies, and 2 of its stores can't be used")
    expect(said).toContain('disk1: ')
    expect(said).toContain('disk3: ')
  })

  test('refuses to replace a disk that is there', async () => {
    await serving((client) => client.makeBucket('safe'))
    const { code, stderr } = await command('locations', 'replace', 'disk1')
    expect([code, stderr]).toEqual([1, expect.stringContaining('store disk1 is there and in use')])
  })
})

describe('a changed configuration', () => {
  test('may not lack a location that a bucket is in, nor a store that holds data; what is unused may go', async () => {
    await serving(async (client) => {
      await client.makeBucket('safe')
      await client.put('key', small(1))
    })
    await configure(three)
    expect(await refusal()).toContain(
      '[locations.safe] was removed from the configuration, but it is the location of bucket',
    )

    await configure(three + safe.replace('copies = 2', 'copies = 1').replace('"disk1", "disk2", ', ''))
    await serving((client) => client.holds('key', small(1)))
    expect(await status()).toMatchObject({ version: 2, copies: 1 })

    await configure(disk('disk3') + safe.replace('copies = 2', 'copies = 1').replace('"disk1", "disk2", ', ''))
    expect(await refusal()).toMatch(
      /\[stores\.disk\d\] was removed from the configuration, but it still holds data, such as of bucket bucket/,
    )

    await configure(three + safe)
    await serving(async (client) => {
      await client.delete('key')
      await client.deleteBucket()
    })
    await configure('')
    expect(await serving(async () => {})).toMatchObject({ code: 0 })
  })

  test('may not bring a directory that holds something else, nor one store twice', async () => {
    await mkdir(place.path('disk1'))
    await writeFile(place.path('disk1', 'photo.jpg'), 'x')
    expect(await refusal()).toContain('stores.disk1: ')
    await rm(place.path('disk1', 'photo.jpg'))
    await serving(async () => {})
    // Another server's store, with data.
    await configure(
      `${disk('disk1')}${safe.replace('copies = 2', 'copies = 1').replace('"disk1", "disk2", "disk3"', '"disk1"')}`,
    )
    await serving(async (client) => {
      await client.makeBucket('safe')
      await client.put('key', small(1))
    })
    await rm(place.path('data'), { recursive: true })
    expect(await refusal()).toContain('belongs to other metadata')
  })

  test('that is left out is asked for by the commands for a stopped server', async () => {
    await serving((client) => client.makeBucket('safe'))
    const { code, stderr } = await run(['reclaim', '--data', place.path('data')], keyVariables).ended
    expect([code, stderr]).toEqual([1, expect.stringContaining('[stores.disk1], which the configuration lacks')])
  })
})

describe('a location of 4 + 2 shards over six disks', () => {
  const names = ['disk1', 'disk2', 'disk3', 'disk4', 'disk5', 'disk6']
  const striped = `[locations.safe]\nscheme = "erasure"\ndata = 4\nparity = 2\nwriteAck = 4\nstores = ${JSON.stringify(names)}\n`
  const huge = (i: number): Buffer => patternBytes(i, 3_000_000 + i)
  const holdsAll = async (client: Client, prefix: string): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      await client.holds(`${prefix}-small-${i}`, small(i))
      await client.holds(`${prefix}-${i}`, huge(i))
      expect(
        (await client.range(`${prefix}-${i}`, 600_001, 1_400_000)).equals(huge(i).subarray(600_001, 1_400_000)),
      ).toBe(true)
    }
  }
  const putAll = async (client: Client, prefix: string): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      await client.put(`${prefix}-small-${i}`, small(i))
      await client.put(`${prefix}-${i}`, huge(i))
    }
  }
  const away = (...lost: string[]) =>
    Promise.all(lost.map((name) => rename(place.path(name), place.path(`${name}-away`))))

  test('goes on without two of them, and is whole again on new ones', async () => {
    await configure(names.map(disk).join('') + striped)
    await serving(async (client) => {
      await client.makeBucket('safe')
      await putAll(client, 'before')
      expect(await status()).toMatchObject({
        scheme: 'erasure',
        striping: { data: 4, parity: 2 },
        degradedBlobs: 0,
        failuresSurvived: { now: 2, whole: 2 },
      })
      await away('disk2', 'disk5')
      await holdsAll(client, 'before')
      await putAll(client, 'during')
      await holdsAll(client, 'during')
    })
    expect(await status()).toMatchObject({ failuresSurvived: { now: 0, whole: 2 } })
    for (const name of ['disk2', 'disk5']) {
      const missing = await command('locations', 'replace', name)
      expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining(`${name} does not exist`)])
      await mkdir(place.path(name))
      expect(await command('locations', 'replace', name, '--json')).toMatchObject({ code: 0 })
    }
    const repaired = await command('reclaim', '--json')
    expect(lastEvent(repaired)).toMatchObject({ degradedBlobs: 0, lostBlobs: 0 })
    expect(await status()).toMatchObject({ degradedBlobs: 0, failuresSurvived: { now: 2, whole: 2 } })

    // Whole: any two of the others may now go, and no third.
    await away('disk1', 'disk4')
    await serving(async (client) => {
      await holdsAll(client, 'before')
      await holdsAll(client, 'during')
    })
    await away('disk3')
    expect(await refusal()).toContain("location safe keeps 4 + 2 shards, and 3 of its stores can't be used")
  })

  test('takes over what lay there in copies', async () => {
    await configure(names.map(disk).join('') + safe)
    await serving(async (client) => {
      await client.makeBucket('safe')
      await putAll(client, 'before')
    })
    await configure(names.map(disk).join('') + striped)
    await serving(async (client) => {
      await holdsAll(client, 'before')
      await putAll(client, 'after')
      await holdsAll(client, 'after')
    })
    expect(await status()).toMatchObject({ version: 2, scheme: 'erasure' })
    await configure(names.map(disk).join('') + safe)
    await serving((client) => holdsAll(client, 'after'))
  })
})

test('a location that is not configured is refused', async () => {
  await serving(async (client) => {
    await expect(client.makeBucket('nowhere')).rejects.toMatchObject({
      name: 'InvalidLocationConstraint',
      message: expect.stringContaining('are: default, safe.'),
    })
  })
})
