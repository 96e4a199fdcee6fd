/** Forms that clients presign, sent as pages and programs send them: by `fetch` with FormData, and by curl. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { S3Client } from '@aws-sdk/client-s3'
import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
import { Client } from 'minio'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Server, startServer } from '../../src/index.ts'
import { patternBytes } from '../support/seeded.ts'
import { describeClient } from './client-tools.ts'

const Bucket = 'posted'
let server: Server
let s3: S3Client
let minio: Client
beforeAll(async () => {
  server = await startServer({ buckets: [Bucket] })
  const { credentials, endpoint, port } = server
  s3 = new S3Client({ endpoint, credentials, region: 'us-east-1', forcePathStyle: true })
  const { accessKeyId: accessKey, secretAccessKey: secretKey } = credentials
  minio = new Client({ endPoint: '127.0.0.1', port, useSSL: false, accessKey, secretKey })
})
afterAll(async () => {
  s3.destroy()
  await server.close()
})

const large = patternBytes(3, 3_000_001)

function formOf(fields: object, content: Buffer, filename = 'photo.jpg'): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value))
  form.append('file', new Blob([new Uint8Array(content)], { type: 'image/jpeg' }), filename)
  return form
}

async function stored(name: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of await minio.getObject(Bucket, name)) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

describe('the AWS SDK for JavaScript', () => {
  it.each([10, large.length])('presigns a form for a file of %i bytes', async (size) => {
    const { url, fields } = await createPresignedPost(s3, {
      Bucket,
      Key: 'by-sdk/$' + '{filename}',
      Conditions: [
        ['content-length-range', 0, large.length],
        ['starts-with', '$Content-Type', 'image/'],
        { success_action_status: '201' },
      ],
      Fields: { 'Content-Type': 'image/jpeg', success_action_status: '201' },
      Expires: 60,
    })
    const content = large.subarray(0, size)
    const reply = await fetch(url, { method: 'POST', body: formOf(fields, content) })
    expect([reply.status, await reply.text()]).toEqual([201, expect.stringContaining('<Key>by-sdk/photo.jpg</Key>')])
    expect((await stored('by-sdk/photo.jpg')).equals(content)).toBe(true)

    const refused = await fetch(url, {
      method: 'POST',
      body: formOf({ ...fields, 'Content-Type': 'text/html' }, content),
    })
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('Policy Condition failed')])
    const tooLarge = await fetch(url, { method: 'POST', body: formOf(fields, Buffer.concat([large, large])) })
    expect([tooLarge.status, await tooLarge.text()]).toEqual([400, expect.stringContaining('EntityTooLarge')])
  })
})

it('minio-js presigns the policy of a form', async () => {
  const policy = minio.newPostPolicy()
  policy.setBucket(Bucket)
  policy.setKeyStartsWith('by-minio/')
  policy.setContentType('image/jpeg')
  policy.setContentLengthRange(1, large.length)
  policy.setUserMetaData({ color: 'blue' })
  policy.setExpires(new Date(Date.now() + 3_600_000))
  const { postURL, formData } = await minio.presignedPostPolicy(policy)
  const fields = { ...formData, key: 'by-minio/photo.jpg' }
  const reply = await fetch(postURL, { method: 'POST', body: formOf(fields, large) })
  expect([reply.status, await reply.text()]).toEqual([204, ''])
  expect((await stored('by-minio/photo.jpg')).equals(large)).toBe(true)
  expect((await minio.statObject(Bucket, 'by-minio/photo.jpg')).metaData).toMatchObject({ color: 'blue' })
  const elsewhere = await fetch(postURL, { method: 'POST', body: formOf({ ...fields, key: 'photo.jpg' }, large) })
  expect(elsewhere.status).toBe(403)
})

describeClient('curl', ['curl', '--version'], (at) => {
  it('posts a file by -F', async () => {
    const path = join(at.directory, 'photo.jpg')
    await writeFile(path, large)
    const { url, fields } = await createPresignedPost(s3, { Bucket, Key: 'by-curl' })
    const words = Object.entries(fields).flatMap(([name, value]) => ['-F', `${name}=${value}`])
    const answer = await at.client('curl', '-sS', '-i', ...words, '-F', `file=@${path}`, '-F', 'submit=Upload', url)
    expect(answer).toMatch(/HTTP\/1.1 204 /)
    expect((await stored('by-curl')).equals(large)).toBe(true)
  })
})
