/** Temporary keys as clients get and use them. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import {
  AssumeRoleCommand,
  AssumeRoleWithWebIdentityCommand,
  GetCallerIdentityCommand,
  STSClient,
} from '@aws-sdk/client-sts'
import { Upload } from '@aws-sdk/lib-storage'
import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { Client } from 'minio'
import { AssumeRoleProvider } from 'minio/dist/esm/AssumeRoleProvider.mjs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Server, startServer } from '../../src/index.ts'
import { known } from '../../src/known.ts'
import { audience, startOidcIssuer } from '../support/oidc-issuer.ts'
import { patternBytes } from '../support/seeded.ts'
import { describeClient } from './client-tools.ts'

const MiB = 1024 * 1024
const Bucket = 'bucket'
let server: Server

beforeAll(async () => {
  server = await startServer({ buckets: [Bucket] })
})
afterAll(() => server.close())

const policy = JSON.stringify({
  Version: '2012-10-17',
  Statement: { Effect: 'Allow', Action: 's3:*', Resource: `arn:aws:s3:::${Bucket}/mine/*` },
})

/** minio-js looks for uploads that it could continue. */
const minioPolicy = JSON.stringify({
  Version: '2012-10-17',
  Statement: [
    { Effect: 'Allow', Action: 's3:*', Resource: `arn:aws:s3:::${Bucket}/mine/*` },
    { Effect: 'Allow', Action: 's3:ListBucketMultipartUploads', Resource: `arn:aws:s3:::${Bucket}` },
  ],
})

describe('the AWS SDK for JavaScript', () => {
  const sts = (): STSClient => new STSClient({ ...server.clientConfig() })

  async function assumed(): Promise<S3Client> {
    const role = { RoleArn: 'arn:aws:iam::123456789012:role/uploader', RoleSessionName: 'sdk', Policy: policy }
    const { Credentials: keys } = await sts().send(new AssumeRoleCommand(role))
    const credentials = {
      accessKeyId: keys?.AccessKeyId ?? '',
      secretAccessKey: keys?.SecretAccessKey ?? '',
      sessionToken: known(keys?.SessionToken),
    }
    return new S3Client({ ...server.clientConfig(), credentials })
  }

  it('uploads in parts, signs URLs and forms, and is refused what the session may not', async () => {
    const client = await assumed()
    const Body = Buffer.from(patternBytes(3, 11 * MiB))
    await new Upload({ client, params: { Bucket, Key: 'mine/large', Body } }).done()
    const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'mine/large' }))
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(Body)).toBe(true)
    const form = await createPresignedPost(client, { Bucket, Key: 'mine/posted' })
    const fields = new FormData()
    for (const [name, value] of Object.entries(form.fields)) fields.append(name, value)
    fields.append('file', new Blob(['content']), 'a.txt')
    expect((await fetch(form.url, { method: 'POST', body: fields })).status).toBe(204)
    const refused = client.send(new PutObjectCommand({ Bucket, Key: 'others/a', Body: 'x' }))
    await expect(refused).rejects.toMatchObject({ name: 'AccessDenied' })
  })

  it('exchanges the token of an issuer', async () => {
    const issuer = await startOidcIssuer()
    const trusting = await startServer({ buckets: [Bucket], oidc: [{ issuer: issuer.url, clientId: audience }] })
    try {
      issuer.claims = { policy: ['readwrite'] }
      const role = { RoleArn: 'arn:aws:iam::123456789012:role/any', RoleSessionName: 'sdk' }
      const asked = new AssumeRoleWithWebIdentityCommand({ ...role, WebIdentityToken: await issuer.token('ann') })
      const { Credentials: keys } = await new STSClient({ endpoint: trusting.endpoint, region: 'us-east-1' }).send(
        asked,
      )
      const credentials = {
        accessKeyId: keys?.AccessKeyId ?? '',
        secretAccessKey: keys?.SecretAccessKey ?? '',
        sessionToken: known(keys?.SessionToken),
      }
      const client = new S3Client({ ...trusting.clientConfig(), credentials })
      await client.send(new PutObjectCommand({ Bucket, Key: 'by-ann', Body: 'x' }))
    } finally {
      await trusting.close()
      await issuer.close()
    }
  })

  it('knows the errors by their names', async () => {
    const caller = await sts().send(new GetCallerIdentityCommand({}))
    expect(caller).toMatchObject({ Account: 'main', Arn: 'arn:aws:iam::main:root' })
    const role = { RoleArn: 'arn:aws:iam::123456789012:role/any', RoleSessionName: 'sdk' }
    const malformed = sts().send(new AssumeRoleCommand({ ...role, Policy: '{}' }))
    await expect(malformed).rejects.toMatchObject({ name: 'MalformedPolicyDocumentException' })
    const forged = sts().send(new AssumeRoleWithWebIdentityCommand({ ...role, WebIdentityToken: 'a.b.c' }))
    await expect(forged).rejects.toMatchObject({ name: 'InvalidIdentityTokenException' })
  })
})

describe('minio-js', () => {
  it('assumes a role, uploads in parts with its keys, and signs URLs', async () => {
    const { accessKeyId, secretAccessKey } = server.credentials
    const provider = new AssumeRoleProvider({
      stsEndpoint: server.endpoint,
      accessKey: accessKeyId,
      secretKey: secretAccessKey,
      policy: minioPolicy,
      region: 'us-east-1',
    })
    const { accessKey, secretKey, sessionToken } = await provider.getCredentials()
    const { port } = server
    const keys = { accessKey, secretKey, sessionToken }
    const client = new Client({
      endPoint: '127.0.0.1',
      port,
      useSSL: false,
      ...keys,
      partSize: 5 * MiB,
      region: 'us-east-1',
    })
    const content = Buffer.from(patternBytes(9, 11 * MiB))
    await client.putObject(Bucket, 'mine/minio', content, content.length)
    const url = await client.presignedGetObject(Bucket, 'mine/minio', 60)
    expect(url).toContain('X-Amz-Security-Token')
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(content)).toBe(true)
    await expect(client.putObject(Bucket, 'others/minio', 'x')).rejects.toMatchObject({ code: 'AccessDenied' })
  })
})

describeClient('boto3', ['python3', '-c', 'import boto3'], (at) => {
  it('gets temporary keys and works with them', async () => {
    const script = fileURLToPath(new URL('boto3_sts.py', import.meta.url))
    expect((await at.client('python3', script)).trim().split('\n').at(-1)).toBe('all well')
  })
})

describeClient('aws-cli', ['aws', '--version'], (at) => {
  it('gets temporary keys, and works with them and with a profile that assumes a role', async () => {
    const json = async (...words: string[]) => JSON.parse(await at.client('aws', 'sts', ...words, '--output', 'json'))
    expect(await json('get-caller-identity')).toMatchObject({ Account: 'main' })
    const role = ['--role-arn', 'arn:aws:iam::123456789012:role/any']
    const assumed = await json('assume-role', ...role, '--role-session-name', 'cli', '--policy', policy)
    const session = await json('get-session-token', '--duration-seconds', '900')
    const s3With = ({ Credentials: keys }: { Credentials: Record<string, string> }, ...words: string[]) =>
      at.output(
        'env',
        `AWS_ACCESS_KEY_ID=${keys.AccessKeyId}`,
        `AWS_SECRET_ACCESS_KEY=${keys.SecretAccessKey}`,
        `AWS_SESSION_TOKEN=${keys.SessionToken}`,
        ...['aws', 's3', ...words],
      )
    await s3With(session, 'mb', `s3://${Bucket}`)
    await writeFile(join(at.directory, 'large'), patternBytes(5, 11 * MiB))
    await s3With(assumed, 'cp', 'large', `s3://${Bucket}/mine/large`)
    await s3With(session, 'cp', `s3://${Bucket}/mine/large`, 'back')
    await at.client('cmp', 'large', 'back')
    await expect(s3With(assumed, 'cp', 'large', `s3://${Bucket}/others/large`)).rejects.toThrow('AccessDenied')
    const url = (await s3With(assumed, 'presign', `s3://${Bucket}/mine/large`)).trim()
    expect((await fetch(url)).status).toBe(200)

    const set = (name: string, value: string) => at.client('aws', 'configure', 'set', name, value, '--profile', 'role')
    await set('role_arn', 'arn:aws:iam::123456789012:role/any')
    await set('credential_source', 'Environment')
    // It keeps the keys of roles at home, for whatever endpoint they are.
    const listed = await at.client('sh', '-c', `HOME='${at.directory}' aws s3 ls --profile role`)
    expect(listed).toContain(Bucket)
  })
})
