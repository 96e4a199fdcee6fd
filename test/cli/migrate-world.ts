/** Tests `holdfast migrate`: a database and a data directory for each test, servers on either side, and what clients see of them. */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectRetentionCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  ListPartsCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  PutObjectRetentionCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { readMark } from '../../src/instance/unfinished-metadata.ts'
import { openEngine } from '../../src/opening/metadata/open-engine.ts'
import { PostgresServer } from '../support/postgres.ts'
import { patientPostgres } from '../support/postgres-engine.ts'
import { keyVariables, type Outcome, type Running, run, serve } from './holdfast-process.ts'
import { openWorkplace, type Workplace } from './workplace.ts'

export const Bucket = 'photos'
const listening = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']

export class MigrateWorld {
  readonly place: Workplace
  #postgres: PostgresServer | undefined
  #tests = 0
  /** The URL of the test's database. */
  url = ''

  /** Registers hooks: call it once, before the tests. */
  constructor(name: string) {
    this.place = openWorkplace(name)
    beforeAll(async () => {
      this.#postgres = await PostgresServer.start()
    })
    afterAll(() => this.#postgres?.remove())
    beforeEach(async () => {
      this.#tests++
      this.url = await this.postgres.database(this.database)
      await mkdir(this.place.path('shared'))
      await this.configure()
    })
  }

  get postgres(): PostgresServer {
    if (this.#postgres === undefined) throw new Error('there is none before the tests')
    return this.#postgres
  }

  get database(): string {
    return `migrate${this.#tests}`
  }

  /** The URL of another, empty database. */
  otherDatabase = (name: string): Promise<string> => this.postgres.database(`${name}${this.#tests}`)

  configure = (more = ''): Promise<void> =>
    writeFile(
      this.place.path('holdfast.toml'),
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

  /** Where to the metadata was moved, as the audit log has it. */
  audited = async (): Promise<unknown[]> => {
    const lines = (await readFile(this.#auditLog, 'utf8')).trim().split('\n')
    return lines.map((line) => {
      const { operation, target } = JSON.parse(line)
      return operation === 'MigrateMetadata' ? target.to : operation
    })
  }

  get #auditLog(): string {
    return this.place.path('audit.jsonl')
  }

  alone = (): Record<string, string> => ({ ...keyVariables, HOLDFAST_CONFIG: this.place.path('holdfast.toml') })
  shared = (to = this.url): Record<string, string> => ({ ...this.alone(), HOLDFAST_METADATA_URL: to })
  migrating = (...more: string[]): Running =>
    run(['migrate', '--data', this.place.path('data'), '--audit-log', this.#auditLog, '--json', ...more], this.shared())
  migrate = (...more: string[]): Promise<Outcome> => this.migrating(...more).ended
  there = (...more: string[]): Promise<Outcome> => this.migrate('--to', 'postgres', ...more)
  back = (...more: string[]): Promise<Outcome> => this.migrate('--to', 'lmdb', ...more)

  #words = (host: string): string[] => ['serve', '--data', this.place.path(host), ...listening]

  serving = async <T>(
    variables: Record<string, string>,
    work: (client: S3Client, adminEndpoint: string) => Promise<T>,
    host = 'data',
  ): Promise<T> => (await this.servingLogged(variables, work, host)).result

  /** Includes what the server printed. */
  servingLogged = async <T>(
    variables: Record<string, string>,
    work: (client: S3Client, adminEndpoint: string) => Promise<T>,
    host = 'data',
  ): Promise<{ result: T; stderr: string }> => {
    const { ready, child, ended } = await serve(this.#words(host), variables)
    try {
      const result = await work(this.place.clientOf(ready.endpoint), ready.adminEndpoint ?? '')
      child.kill('SIGTERM')
      return { result, stderr: (await ended).stderr }
    } finally {
      child.kill('SIGTERM')
      await ended
    }
  }

  refusal = async (variables: Record<string, string>, host = 'data'): Promise<string> => {
    const { code, stderr } = await run(this.#words(host), variables).ended
    expect(code).toBe(1)
    return stderr
  }

  /** The sides on which a server could start now. */
  usable = async (): Promise<string[]> => {
    const own = await openEngine({ path: this.place.path('data', 'meta'), onFatal: () => {} })
    const database = await patientPostgres({ url: this.url })
    const marker = JSON.parse(await readFile(this.place.path('data', 'holdfast.json'), 'utf8'))
    const isOwn = marker.layout === 1 && (await readMark(own)) === undefined
    const bucket = this.postgres.run(
      this.database,
      `select count(*) from holdfast_entries where key >= 'b' and key < 'c'`,
    )
    const isShared = bucket === '1' && (await readMark(database)) === undefined
    await own.close()
    await database.close()
    return [...(isOwn ? ['own'] : []), ...(isShared ? ['database'] : [])]
  }
}

export async function fill(client: S3Client): Promise<void> {
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

/** Everything that clients see. */
export async function seen(client: S3Client) {
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

export async function lockedStays(client: S3Client): Promise<void> {
  const { Versions = [] } = await client.send(new ListObjectVersionsCommand({ Bucket, Prefix: 'locked' }))
  const removal = client.send(new DeleteObjectCommand({ Bucket, Key: 'locked', VersionId: Versions[0]?.VersionId }))
  await expect(removal).rejects.toMatchObject({ name: 'AccessDenied' })
}
