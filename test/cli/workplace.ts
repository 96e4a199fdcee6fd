/** Where the tests of a file run servers: a directory of its own for each test, and clients. All of it, and every process, ends with the test. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { afterEach, beforeEach } from 'vitest'
import { environmentKey, killLeftovers, takeLogs } from './holdfast-process.ts'

export interface Workplace {
  /** Of what lies in the directory. */
  path(...names: string[]): string
  /** With the key of the tests. It asks once for each request: a retry would hide what the first attempt met. */
  clientOf(endpoint: string, settings?: S3ClientConfig): S3Client
}

/** With the key of the tests. Whoever makes one destroys it. */
export const testClient = (endpoint: string, settings: S3ClientConfig = {}): S3Client =>
  new S3Client({ endpoint, region: 'us-east-1', credentials: environmentKey, forcePathStyle: true, ...settings })

/** Call it once, before the file's own hooks: those after each test then run first. */
export function openWorkplace(name: string): Workplace {
  let root = ''
  const clients: S3Client[] = []
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), `holdfast-${name}-`))
  })
  afterEach(async ({ task }) => {
    const logs = takeLogs()
    if (task.result?.state === 'fail') console.error(logs)
    for (const client of clients.splice(0)) client.destroy()
    await killLeftovers()
    // Workers end a moment after their server.
    await rm(root, { recursive: true, force: true, maxRetries: 20 })
  })
  return {
    path: (...names) => join(root, ...names),
    clientOf: (endpoint, settings = {}) => {
      const client = testClient(endpoint, { maxAttempts: 1, ...settings })
      clients.push(client)
      return client
    },
  }
}
