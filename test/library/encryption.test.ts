/** A server within a program encrypts like any other: over memory, and over a directory that it finds again. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { type Server, type StartOptions, startServer } from '../../src/index.ts'

const Bucket = 'one'

async function exchange(server: Server, name: string, write: boolean): Promise<string | undefined> {
  const client = new S3Client(server.clientConfig())
  try {
    const asked = { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: name } as const
    if (write) await client.send(new PutObjectCommand({ Bucket, Key: name, Body: `by ${name}`, ...asked }))
    const { Body, SSEKMSKeyId } = await client.send(new GetObjectCommand({ Bucket, Key: name }))
    return `${SSEKMSKeyId}: ${await Body?.transformToString()}`
  } finally {
    client.destroy()
  }
}

test('keys of SSE-KMS are there by name, over memory and over a directory', async () => {
  const data = await mkdtemp(join(tmpdir(), 'holdfast-library-'))
  try {
    for (const more of [{}, { data }] as StartOptions[]) {
      await using server = await startServer({ buckets: [Bucket], kmsKeys: ['invoices'], ...more })
      for (const name of ['invoices', 'aws/s3']) expect(await exchange(server, name, true)).toBe(`${name}: by ${name}`)
      await expect(exchange(server, 'nobody', true)).rejects.toMatchObject({ name: 'KMS.NotFoundException' })
    }
    await using again = await startServer({ data })
    expect(await exchange(again, 'invoices', false)).toBe('invoices: by invoices')
  } finally {
    await rm(data, { recursive: true, force: true })
  }
})

test.each([['sse-s3'], ['a b'], ['']])('a key of SSE-KMS can not be named %j', async (name) => {
  await expect(startServer({ kmsKeys: [name] })).rejects.toThrow(/expects up to 64 letters/)
})
