/** `holdfast migrate` on real PostgreSQL: what clients stored is the same on the other side, and at no moment can both sides be served. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectRetentionCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  ListPartsCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  PutObjectRetentionCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { readMark } from '../../src/instance/unfinished-metadata.ts'
import { openPostgres } from '../../src/kv/postgres.ts'
import { openEngine } from '../../src/opening/open-engine.ts'
import { describeInstalled } from '../support/installed.ts'
import { cloneObject } from '../support/many-objects.ts'
import { PostgresServer, postgresProbe } from '../support/postgres.ts'
import { keyVariables, lastEvent, type Outcome, run, serve } from './holdfast-process.ts'
import { openWorkplace } from './workplace.ts'

const Bucket = 'photos'

describeInstalled('holdfast migrate', [postgresProbe, ['strace', '-V']], () => {
  const place = openWorkplace('migrate')
  let postgres: PostgresServer
  let url: string
  let databases = 0
  beforeAll(async () => {
    postgres = await PostgresServer.start()
  })
  afterAll(() => postgres?.remove())
  beforeEach(async () => {
    url = await postgres.database(`migrate${++databases}`)
    await mkdir(place.path('shared'))
    await configure()
  })
  const configure = (more = ''): Promise<void> =>
    writeFile(
      place.path('holdfast.toml'),
      `defaultLocation = "shared"
[stores.shared]
type = "directory"
path = "shared"
${more}
[locations.shared]
scheme = "replica"
copies = 1
stores = ["shared"]
`,
    )

  const alone = (): Record<string, string> => ({ ...keyVariables, HOLDFAST_CONFIG: place.path('holdfast.toml') })
  const shared = (to = url): Record<string, string> => ({ ...alone(), HOLDFAST_METADATA_URL: to })
  const listening = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
  const words = (host = 'data'): string[] => ['serve', '--data', place.path(host), ...listening]
  const migrating = (...more: string[]) => run(['migrate', '--data', place.path('data'), '--json', ...more], shared())
  const migrate = (...more: string[]): Promise<Outcome> => migrating(...more).ended
  const there = (...more: string[]): Promise<Outcome> => migrate('--to', 'postgres', ...more)
  const back = (...more: string[]): Promise<Outcome> => migrate('--to', 'lmdb', ...more)

  async function serving<T>(
    variables: Record<string, string>,
    work: (client: S3Client, adminEndpoint: string) => Promise<T>,
    host = 'data',
  ): Promise<T> {
    const { ready, child, ended } = await serve(words(host), variables)
    try {
      return await work(place.clientOf(ready.endpoint), ready.adminEndpoint ?? '')
    } finally {
      child.kill('SIGTERM')
      await ended
    }
  }
  const refusal = async (variables: Record<string, string>, host = 'data'): Promise<string> => {
    const { code, stderr } = await run(words(host), variables).ended
    expect(code).toBe(1)
    return stderr
  }

  async function fill(client: S3Client): Promise<void> {
    await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }))
    for (const Body of ['one', 'two']) await client.send(new PutObjectCommand({ Bucket, Key: 'twice', Body }))
    await client.send(new PutObjectCommand({ Bucket, Key: 'sealed', Body: 'secret', ServerSideEncryption: 'AES256' }))
    await client.send(new PutObjectCommand({ Bucket, Key: 'large', Body: Buffer.alloc(1 << 20, 5) }))
    const { VersionId } = await client.send(new PutObjectCommand({ Bucket, Key: 'locked', Body: 'kept' }))
    const Retention = { Mode: 'COMPLIANCE', RetainUntilDate: new Date(Date.now() + 86_400_000) } as const
    await client.send(new PutObjectRetentionCommand({ Bucket, Key: 'locked', VersionId, Retention }))
    await client.send(new PutObjectCommand({ Bucket, Key: 'removed', Body: 'gone' }))
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'removed' }))
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'open' }))
    await client.send(new UploadPartCommand({ Bucket, Key: 'open', UploadId, PartNumber: 1, Body: 'part' }))
    const Statement = [
      { Effect: 'Deny', Principal: '*', Action: 's3:PutObject', Resource: `arn:aws:s3:::${Bucket}/no/*` },
    ]
    await client.send(
      new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify({ Version: '2012-10-17', Statement }) }),
    )
  }

  /** All that clients see. */
  async function seen(client: S3Client) {
    const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }))
    const bodies = Versions.map(async ({ Key, VersionId }) => {
      const { Body, ServerSideEncryption } = await client.send(new GetObjectCommand({ Bucket, Key, VersionId }))
      return [Key, VersionId, ServerSideEncryption, await Body?.transformToString('base64')]
    })
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }))
    const parts = Uploads.map(async ({ Key, UploadId }) => {
      const { Parts } = await client.send(new ListPartsCommand({ Bucket, Key, UploadId }))
      return { Key, UploadId, Parts }
    })
    const denied = client.send(new PutObjectCommand({ Bucket, Key: 'no/no', Body: '' }))
    await expect(denied).rejects.toMatchObject({ name: 'AccessDenied' })
    const { Retention } = await client.send(new GetObjectRetentionCommand({ Bucket, Key: 'locked' }))
    return {
      versions: Versions,
      markers: DeleteMarkers,
      bodies: await Promise.all(bodies),
      uploads: await Promise.all(parts),
      Retention,
    }
  }

  async function lockedStays(client: S3Client): Promise<void> {
    const { Versions = [] } = await client.send(new ListObjectVersionsCommand({ Bucket, Prefix: 'locked' }))
    const removal = client.send(new DeleteObjectCommand({ Bucket, Key: 'locked', VersionId: Versions[0]?.VersionId }))
    await expect(removal).rejects.toMatchObject({ name: 'AccessDenied' })
  }

  it('brings versions, locks, uploads, policies and keys there and back, and there again, and only one side serves', async () => {
    const key = await serving(alone(), async (client, adminEndpoint) => {
      await fill(client)
      const added = ['keys', 'add', '--account', 'main', '--admin-endpoint', adminEndpoint, '--json']
      return JSON.parse((await run(added, keyVariables).ended).stdout).key
    })
    const before = await serving(alone(), seen)
    const moved = await there()
    expect([moved.code, lastEvent(moved)]).toMatchObject([0, { event: 'migrated', wasMovedBefore: false }])
    expect(await refusal(alone())).toContain(`PostgreSQL, at 127.0.0.1:${postgres.port}/migrate${databases}`)
    await serving(shared(), async (client) => {
      expect(await seen(client)).toEqual(before)
      await lockedStays(client)
    })
    // Another host, which has the key ring, and the key that was made before the move.
    await mkdir(place.path('other'))
    const other = { ...shared(), HOLDFAST_KEY_RING: await readFile(place.path('data', 'keys'), 'utf8') }
    const after = await serving(
      other,
      async (client) => {
        await client.send(new PutObjectCommand({ Bucket, Key: 'new', Body: 'written there' }))
        return seen(client)
      },
      'other',
    )

    expect(await back()).toMatchObject({ code: 0 })
    expect(await refusal(shared())).toContain('holds metadata of its own')
    expect(await refusal(other, 'other')).toContain(`was moved to the data directory ${place.path('data')}`)
    await serving(alone(), async (client) => {
      expect(await seen(client)).toEqual(after)
      await lockedStays(client)
      await client.send(new DeleteObjectCommand({ Bucket, Key: 'new' }))
    })
    expect(await back()).toMatchObject({ code: 0, stdout: expect.stringContaining('"wasMovedBefore":true') })

    expect(await there()).toMatchObject({ code: 0 })
    await serving(
      other,
      async (client) => {
        const { Versions } = await client.send(new ListObjectVersionsCommand({ Bucket, Prefix: 'new' }))
        expect(Versions).toMatchObject([{ IsLatest: false }])
        const user = place.clientOf(
          (await client.config.endpoint?.().then((at) => `http://${at.hostname}:${at.port}`)) ?? '',
          {
            credentials: key,
          },
        )
        expect((await user.send(new ListBucketsCommand({}))).Buckets).toMatchObject([{ Name: Bucket }])
      },
      'other',
    )
    expect(await there()).toMatchObject({ code: 0, stdout: expect.stringContaining('"wasMovedBefore":true') })
  })

  /** Which side a server could use now. */
  async function usable(): Promise<string[]> {
    const own = await openEngine({ path: place.path('data', 'meta'), onFatal: () => {} })
    const database = await openPostgres({ url })
    const marker = JSON.parse(await readFile(place.path('data', 'holdfast.json'), 'utf8'))
    const isOwn = marker.layout === 1 && (await readMark(own)) === undefined
    const bucket = postgres.run(
      `migrate${databases}`,
      `select count(*) from holdfast_entries where key >= 'b' and key < 'c'`,
    )
    const isShared = bucket === '1' && (await readMark(database)) === undefined
    await own.close()
    await database.close()
    return [...(isOwn ? ['own'] : []), ...(isShared ? ['database'] : [])]
  }

  const manyObjects = 20_000
  async function fillWithMany(): Promise<void> {
    await serving(alone(), fill)
    await cloneObject(place.path('data'), {
      bucket: Bucket,
      key: 'large',
      count: manyObjects,
      name: (number) => `many/${number}`,
    })
  }

  /** Kills a move when it says for the first time how far it is. */
  async function killCopying(engine: 'postgres' | 'lmdb'): Promise<void> {
    const { child, ended, line } = migrating('--to', engine)
    await line((said) => said.includes('"task":"copy"'))
    child.kill('SIGKILL')
    expect((await ended).signal).toBe('SIGKILL')
  }

  /** Kills a move when everything is copied: before the directory says where its metadata is, or after that. */
  async function killNearTheEnd(engine: 'postgres' | 'lmdb', call: 'rename' | 'fsync'): Promise<void> {
    // The first such call is one of the start. Calls are counted by thread, so there must be only one.
    const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:signal=SIGKILL:when=2`]
    const within = call === 'fsync' ? ['-P', place.path('data')] : []
    const through = ['strace', '-f', '-qq', '-o', '/dev/null', ...within, ...inject]
    const move = ['migrate', '--data', place.path('data'), '--to', engine]
    expect((await run(move, { ...shared(), UV_THREADPOOL_SIZE: '1' }, { through }).ended).code).not.toBe(0)
    const { layout } = JSON.parse(await readFile(place.path('data', 'holdfast.json'), 'utf8'))
    expect([call, layout === (engine === 'lmdb' ? 1 : 2)]).toEqual([call, call === 'fsync'])
  }

  it.each([
    ['postgres', 'own', 'database'],
    ['lmdb', 'database', 'own'],
  ] as const)(
    'goes on to %s after it was killed, and never leaves two sides that can be served',
    async (engine, from, to) => {
      await fillWithMany()
      if (engine === 'lmdb') expect(await there()).toMatchObject({ code: 0 })
      expect(await usable()).toEqual([from])
      await killCopying(engine)
      expect(await usable()).toEqual([])
      for (const call of ['rename', 'fsync'] as const) {
        await killNearTheEnd(engine, call)
        expect(await usable()).toEqual([])
      }
      expect(await migrate('--to', engine)).toMatchObject({ code: 0 })
      expect(await usable()).toEqual([to])
      await serving(engine === 'lmdb' ? alone() : shared(), async (client) => {
        for (const number of [0, manyObjects - 1]) {
          const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: `many/${number}` }))
          expect((await Body?.transformToByteArray())?.length).toBe(1 << 20)
        }
      })
    },
  )

  it('moves nothing while objects lie in the data directory, and says which buckets to move', async () => {
    await serving({ ...alone(), HOLDFAST_CONFIG: '' }, fill)
    const refused = await there()
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`locations move ${Bucket} shared`) })
    expect(await usable()).toEqual(['own'])
    await serving(alone(), async () => {
      const moved = run(['locations', 'move', Bucket, 'shared', '--data', place.path('data')], alone())
      expect(await moved.ended).toMatchObject({ code: 0 })
    })
    expect(await there()).toMatchObject({ code: 0 })
    await serving(shared(), async (client) => expect((await seen(client)).versions.length).toBeGreaterThan(4))
  })

  it('--keep-local leaves objects in the data directory, whose store becomes one like others, and takes it back', async () => {
    await serving({ ...alone(), HOLDFAST_CONFIG: '' }, fill)
    const before = await serving(alone(), seen)
    expect(await there('--keep-local')).toMatchObject({ code: 1, stderr: expect.stringContaining('[stores.local]') })
    await configure('[stores.local]\ntype = "directory"\npath = "data/store"\n')
    expect(await there('--keep-local')).toMatchObject({ code: 0 })
    const { ready, child, ended } = await serve(words('data'), shared())
    const client = place.clientOf(ready.endpoint)
    expect(await seen(client)).toEqual(before)
    await client.send(new PutObjectCommand({ Bucket, Key: 'more', Body: 'more' }))
    child.kill('SIGTERM')
    // No configuration can name the location of its buckets, so none is asked to.
    expect((await ended).stderr).not.toContain('locations.default')
    const elsewhere = run(['migrate', '--to', 'lmdb', '--data', place.path('elsewhere')], shared()).ended
    expect(await elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining('in which objects lie') })
    expect(await back()).toMatchObject({ code: 0 })
    await configure()
    await serving(alone(), async (client) => {
      expect((await seen(client)).versions.length).toBe(before.versions.length + 1)
    })
  })

  it('moves nothing while a server runs, on either side', async () => {
    await serving(alone(), async (client) => {
      await fill(client)
      expect(await there()).toMatchObject({ code: 1, stderr: expect.stringContaining('is in use by process') })
    })
    expect(await there()).toMatchObject({ code: 0 })
    await serving(shared(), async (client) => {
      expect(await back()).toMatchObject({ code: 1, stderr: expect.stringContaining('is in use by server') })
      // The refusal has left no trace.
      await client.send(new PutObjectCommand({ Bucket, Key: 'on', Body: 'and on' }))
    })
    await serving(shared(), seen)
  })

  it('takes no database that holds anything, and goes on only to the one where it began', async () => {
    await fillWithMany()
    const used = await postgres.database(`used${databases}`)
    const stores = await readFile(place.path('holdfast.toml'), 'utf8')
    await writeFile(place.path('b.toml'), stores.replace('path = "shared"', 'path = "shared-b"'))
    await serving({ ...shared(used), HOLDFAST_CONFIG: place.path('b.toml') }, async () => {}, 'b')
    const wrong = (to: string): Promise<Outcome> =>
      run(['migrate', '--to', 'postgres', '--data', place.path('data')], shared(to)).ended
    expect(await wrong(used)).toMatchObject({ code: 1, stderr: expect.stringContaining('holds metadata already') })
    await killCopying('postgres')
    const empty = await postgres.database(`empty${databases}`)
    expect(await wrong(empty)).toMatchObject({ code: 1, stderr: expect.stringContaining('which is not the place') })
    expect(await refusal(alone())).toContain('with --cancel to go on here')
    await expect.poll(() => refusal(shared(), 'c')).toContain('is incomplete: holdfast migrate did not finish')
    expect(await there()).toMatchObject({ code: 0 })
    expect(await wrong(empty)).toMatchObject({ code: 1, stderr: expect.stringContaining('belongs to other metadata') })
    expect(await back('--data', place.path('b'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('belongs to other metadata'),
    })
    expect(await run(['migrate', '--to', 'postgres', '--data', place.path('data')], alone()).ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('HOLDFAST_METADATA_URL'),
    })
  })

  it('--cancel gives up a move that was begun: its source serves again, and the target can be filled anew', async () => {
    await fillWithMany()
    expect(await there('--cancel')).toMatchObject({ code: 1 })
    await killCopying('postgres')
    expect(await there('--cancel')).toMatchObject({ code: 0, stdout: expect.stringContaining('"cancelled":true') })
    expect(await usable()).toEqual(['own'])
    await serving(alone(), lockedStays)
    expect(await there()).toMatchObject({ code: 0 })
    expect(await there('--cancel')).toMatchObject({ code: 1, stderr: expect.stringContaining('already') })

    await killCopying('lmdb')
    expect(await back('--cancel')).toMatchObject({ code: 0 })
    expect(await usable()).toEqual(['database'])
    await serving(shared(), lockedStays)
    expect(await back()).toMatchObject({ code: 0 })

    await killCopying('postgres')
    await postgres.stop()
    try {
      expect(await there('--cancel')).toMatchObject({ code: 0 })
      await serving(alone(), lockedStays)
    } finally {
      await postgres.begin()
    }
    expect(await there()).toMatchObject({ code: 0 })
  })

  it('carries the number of the maintainer on, so that no store refuses the next one', async () => {
    await serving(alone(), fill)
    const numbers: number[] = []
    for (let round = 0; round < 2; round++) {
      expect(await there()).toMatchObject({ code: 0 })
      for (let start = 0; start < 2; start++) {
        await serving(shared(), async () => {
          const listed = () => run(['members', '--data', place.path('data'), '--json'], shared()).ended
          await expect.poll(async () => (await listed()).stdout).toContain('"maintainer"')
          numbers.push(JSON.parse((await listed()).stdout.split('\n')[0] ?? '').maintainer)
        })
      }
      expect(await back()).toMatchObject({ code: 0 })
      await serving(alone(), seen)
    }
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
    expect(new Set(numbers).size).toBe(4)
  })
})
