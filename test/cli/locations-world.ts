/** Tests locations as an operator meets them: a configuration over directories, a server, a client, commands. */
import { writeFile } from 'node:fs/promises'
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetBucketLocationCommand,
  GetObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { beforeEach, expect } from 'vitest'
import { patternBytes } from '../support/seeded.ts'
import { keyVariables, type Outcome, run, serve } from './holdfast-process.ts'
import { openWorkplace, testClient, type Workplace } from './workplace.ts'

export const disk = (name: string): string => `[stores.${name}]\ntype = "directory"\npath = "${name}"\n`
export const three = ['disk1', 'disk2', 'disk3'].map(disk).join('')
export const safe = '[locations.safe]\nscheme = "replica"\ncopies = 2\nstores = ["disk1", "disk2", "disk3"]\n'

export const sixDisks = ['disk1', 'disk2', 'disk3', 'disk4', 'disk5', 'disk6']
/** Over six disks. */
export const striped = `[locations.safe]\nscheme = "erasure"\ndata = 4\nparity = 2\nwriteAck = 4\nstores = ${JSON.stringify(sixDisks)}\n`

export const small = (i: number): Buffer => patternBytes(i, 2_000)
export const large = (i: number): Buffer => patternBytes(i, 400_000)
const huge = (i: number): Buffer => patternBytes(i, 3_000_000 + i)

export class Client {
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

/** Small objects, and objects that take many stripes. */
export async function putAll(client: Client, prefix: string): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await client.put(`${prefix}-small-${i}`, small(i))
    await client.put(`${prefix}-${i}`, huge(i))
  }
}

export async function holdsAll(client: Client, prefix: string): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await client.holds(`${prefix}-small-${i}`, small(i))
    await client.holds(`${prefix}-${i}`, huge(i))
    expect(
      (await client.range(`${prefix}-${i}`, 600_001, 1_400_000)).equals(huge(i).subarray(600_001, 1_400_000)),
    ).toBe(true)
  }
}

const exitCodes: Record<string, number> = { OK: 0, DEGRADED: 3, 'AT RISK': 4 }

export class LocationsWorld {
  readonly place: Workplace
  #config = ''

  /** Registers hooks: call it once, before the tests. */
  constructor(name: string) {
    this.place = openWorkplace(name)
    beforeEach(async () => {
      this.#config = this.place.path('holdfast.toml')
      await this.configure(three + safe)
    })
  }

  configure = (toml: string): Promise<void> => writeFile(this.#config, `data = "data"\nlisten = "127.0.0.1:0"\n${toml}`)

  serving = async (use: (client: Client) => Promise<unknown>, ...words: string[]): Promise<Outcome> => {
    const server = await serve(['serve', '--config', this.#config, ...words])
    const client = new Client(server.ready.endpoint)
    try {
      await use(client)
    } finally {
      client.close()
      server.child.kill('SIGTERM')
    }
    return server.ended
  }

  command = (...words: string[]): Promise<Outcome> => run([...words, '--config', this.#config], keyVariables).ended

  refusal = async (): Promise<string> => {
    const { code, stderr } = await run(['serve', '--config', this.#config], keyVariables).ended
    expect(code).toBe(1)
    return stderr
  }

  status = async (): Promise<Record<string, unknown>> => {
    const { stdout, code } = await this.command('locations', 'status', '--json')
    const { health, locations } = JSON.parse(stdout)
    expect(code).toBe(exitCodes[health])
    return { health, ...locations.find(({ name }: { name: string }) => name === 'safe') }
  }
}
