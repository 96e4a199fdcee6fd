/** What clients encrypt with their own keys and with the server's: over TLS, and on this machine without. */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  CopyObjectCommand,
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { environmentKey } from '../cli/holdfast-process.ts'
import { patternBytes } from '../support/seeded.ts'
import { describeClient, type Workplace } from './client-tools.ts'
import { treeDifferences, writeTree } from './file-tree.ts'

const MiB = 1024 * 1024
const script = fileURLToPath(new URL('boto3_encryption.py', import.meta.url))
const body = patternBytes(3, 12 * MiB + 5)

const secretOf = (owner: string): Buffer => createHash('sha256').update(owner).digest()

/** As the SDK takes it: it computes the MD5 itself. */
const keyOf = (owner: string) => ({
  SSECustomerAlgorithm: 'AES256',
  SSECustomerKey: secretOf(owner).toString('base64'),
})

function sdkSuite(at: Workplace): void {
  const Bucket = 'sdk-encrypted'
  let client: S3Client

  beforeAll(async () => {
    const ca = at.authorityFile === '' ? undefined : await readFile(at.authorityFile)
    client = new S3Client({
      endpoint: at.endpoint,
      region: 'us-east-1',
      credentials: environmentKey,
      forcePathStyle: true,
      ...(ca === undefined ? {} : { requestHandler: { httpsAgent: new Agent({ ca }) } }),
    })
    await client.send(new CreateBucketCommand({ Bucket }))
  })
  afterAll(() => client.destroy())

  async function bytesOf(Key: string, more: object = {}): Promise<Buffer> {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, ...more }))
    return Buffer.from((await Body?.transformToByteArray()) ?? [])
  }

  it('keeps what a customer’s key encrypts, in one request and in parts, from whoever lacks the key', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: 'one', Body: body.subarray(0, 200_000), ...keyOf('mine') }))
    const params = { Bucket, Key: 'parts', Body: body, ...keyOf('mine') }
    await new Upload({ client, params, partSize: 5 * MiB }).done()
    expect((await bytesOf('one', keyOf('mine'))).equals(body.subarray(0, 200_000))).toBe(true)
    expect((await bytesOf('parts', keyOf('mine'))).equals(body)).toBe(true)
    const range = await bytesOf('parts', { ...keyOf('mine'), Range: 'bytes=5242870-5242899' })
    expect(range.equals(body.subarray(5_242_870, 5_242_900))).toBe(true)
    await expect(bytesOf('one')).rejects.toMatchObject({ name: 'InvalidRequest' })
    await expect(bytesOf('one', keyOf('other'))).rejects.toMatchObject({ name: 'AccessDenied' })
  })

  it('copies from one key to another, and to the server’s', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: 'source', Body: 'words', ...keyOf('mine') }))
    const from = {
      Bucket,
      CopySource: `${Bucket}/source`,
      CopySourceSSECustomerAlgorithm: 'AES256',
      CopySourceSSECustomerKey: keyOf('mine').SSECustomerKey,
    }
    await client.send(new CopyObjectCommand({ ...from, Key: 'others', ...keyOf('other') }))
    await client.send(new CopyObjectCommand({ ...from, Key: 'servers', ServerSideEncryption: 'AES256' }))
    expect((await bytesOf('others', keyOf('other'))).toString()).toBe('words')
    expect((await bytesOf('servers')).toString()).toBe('words')
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'servers' }))
    expect(head.ServerSideEncryption).toBe('AES256')
  })

  it('presigns what is encrypted by the server', async () => {
    const asked = { Bucket, Key: 'url', ServerSideEncryption: 'AES256' } as const
    const url = await getSignedUrl(client, new PutObjectCommand(asked), { expiresIn: 60 })
    expect(url).not.toContain('customer-key')
  })
}

function cliSuite(at: Workplace): void {
  const cp = (...words: string[]): Promise<string> => at.client('aws', 's3', 'cp', ...words)

  beforeAll(async () => {
    await writeFile(join(at.directory, 'body'), body)
    await writeFile(join(at.directory, 'key'), secretOf('mine'))
    await writeFile(join(at.directory, 'other'), secretOf('other'))
    await at.client('aws', 's3', 'mb', 's3://bucket')
  })

  it.each([
    ['--sse AES256', 'AES256'],
    ['--sse aws:kms', 'aws:kms'],
    ['--sse aws:kms --sse-kms-key-id alias/aws/s3', 'aws:kms'],
  ])('copies up and down with %s', async (words, told) => {
    await cp('body', 's3://bucket/sealed', ...words.split(' '))
    await cp('s3://bucket/sealed', 'back')
    await at.client('cmp', 'body', 'back')
    const head = await at.client(
      'aws',
      's3api',
      'head-object',
      '--bucket',
      'bucket',
      '--key',
      'sealed',
      '--output',
      'json',
    )
    expect(JSON.parse(head)).toMatchObject({ ServerSideEncryption: told })
  })

  it('copies up, down and on the server with a key of its own', async () => {
    const mine = ['--sse-c', 'AES256', '--sse-c-key', 'fileb://key']
    const from = ['--sse-c-copy-source', 'AES256', '--sse-c-copy-source-key', 'fileb://key']
    await cp('body', 's3://bucket/mine', ...mine)
    await cp('s3://bucket/mine', 'mine-back', ...mine)
    await at.client('cmp', 'body', 'mine-back')
    await cp('s3://bucket/mine', 's3://bucket/other', ...from, '--sse-c', 'AES256', '--sse-c-key', 'fileb://other')
    await cp('s3://bucket/other', 'other-back', '--sse-c', 'AES256', '--sse-c-key', 'fileb://other')
    await at.client('cmp', 'body', 'other-back')
    expect(await at.failing('aws', 's3', 'cp', 's3://bucket/mine', 'no')).toContain('400')
    expect(await at.failing('aws', 's3', 'cp', 's3://bucket/other', 'no', ...mine)).toContain('403')
  })
}

const botoSuite = (at: Workplace): void => {
  it('works through a whole session', async () => {
    expect((await at.client('python3', script)).trim().split('\n').at(-1)).toBe('all well')
  })
}

function rcloneSuite(at: Workplace): void {
  const rclone = (settings: Record<string, string>, ...words: string[]): string[] => {
    const { accessKeyId, secretAccessKey } = environmentKey
    const remote = { provider: 'Other', access_key_id: accessKeyId, secret_access_key: secretAccessKey, ...settings }
    const options = Object.entries(remote).map(([name, value]) => `${name}='${value}'`)
    const there = `:s3,${options.join(',')},endpoint='${at.endpoint}':`
    const trust = at.authorityFile === '' ? [] : ['--ca-cert', at.authorityFile]
    // rclone can't start where that variable is set: it has a flag of its own.
    return [
      '-u',
      'AWS_CA_BUNDLE',
      'rclone',
      '--config',
      '',
      ...trust,
      ...words.map((word) => word.replace(/^hf:/, there)),
    ]
  }
  const parts = { chunk_size: '5M', upload_cutoff: '5M' }
  const customer = (owner: string) => ({
    ...parts,
    sse_customer_algorithm: 'AES256',
    sse_customer_key_base64: secretOf(owner).toString('base64'),
  })

  beforeAll(async () => {
    await writeTree(join(at.directory, 'tree'))
    await at.client('env', ...rclone({}, 'mkdir', 'hf:bucket'))
  })

  it('syncs a tree up and down that the server encrypts', async () => {
    const settings = { ...parts, server_side_encryption: 'AES256' }
    await at.client('env', ...rclone(settings, 'sync', 'tree', 'hf:bucket/tree'))
    await at.client('env', ...rclone(settings, 'sync', 'hf:bucket/tree', 'down'))
    expect(await treeDifferences(join(at.directory, 'tree'), join(at.directory, 'down'))).toEqual([])
  })

  // Its SDK sends no keys over HTTP.
  it.runIf(at.tls)('syncs a tree up and down with a key of its own, which another does not open', async () => {
    await at.client('env', ...rclone(customer('mine'), 'sync', 'tree', 'hf:bucket/mine'))
    await at.client('env', ...rclone(customer('mine'), 'sync', 'hf:bucket/mine', 'mine'))
    expect(await treeDifferences(join(at.directory, 'tree'), join(at.directory, 'mine'))).toEqual([])
    await at.failing('env', ...rclone(customer('other'), '--retries', '1', 'copy', 'hf:bucket/mine', 'no'))
  })
}

const suites = [
  ['the AWS SDK', ['true'], sdkSuite],
  ['aws-cli', ['aws', '--version'], cliSuite],
  ['boto3', ['python3', '-c', 'import boto3'], botoSuite],
  ['rclone', ['rclone', 'version'], rcloneSuite],
] as const

for (const [name, probe, suite] of suites) {
  describeClient(`${name}, encrypting`, probe, suite)
  describeClient(`${name}, encrypting, over TLS`, probe, suite, { tls: true })
}
