/** Clients that are told whom to trust, over TLS. boto3: boto3.test.ts. */
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { environmentKey } from '../cli/holdfast-process.ts'
import { describeClient, type Workplace } from './client-tools.ts'
import { treeDifferences, writeTree } from './file-tree.ts'

const tls = { tls: true }

function carriesTree(at: Workplace, sync: (from: string, to: string) => Promise<string>, place: string): void {
  it('carries a tree up and down unchanged, also what it sends in parts', async () => {
    expect(at.endpoint).toMatch(/^https:/)
    await writeTree(join(at.directory, 'tree'))
    await sync('tree', place)
    await sync(place, 'down')
    expect(await treeDifferences(join(at.directory, 'tree'), join(at.directory, 'down'))).toEqual([])
  })
}

describeClient(
  'aws-cli over TLS',
  ['aws', '--version'],
  (at) => {
    beforeAll(async () => void (await at.client('aws', 's3', 'mb', 's3://bucket')))
    carriesTree(at, (from, to) => at.client('aws', 's3', 'sync', from, to), 's3://bucket/tree')
  },
  tls,
)

describeClient(
  'rclone over TLS',
  ['rclone', 'version'],
  (at) => {
    const rclone = (...words: string[]): Promise<string> => {
      const { accessKeyId, secretAccessKey } = environmentKey
      const remote = `provider=Other,access_key_id=${accessKeyId},secret_access_key=${secretAccessKey}`
      const there = (word: string): string => word.replace(/^hf:/, `:s3,${remote},endpoint='${at.endpoint}':`)
      // rclone can't start where that variable is set: it has a flag of its own.
      const rcloneProper = ['-u', 'AWS_CA_BUNDLE', 'rclone']
      return at.client('env', ...rcloneProper, '--config', '', '--ca-cert', at.authorityFile, ...words.map(there))
    }
    beforeAll(async () => void (await rclone('mkdir', 'hf:bucket')))
    carriesTree(at, (from, to) => rclone('sync', from, to), 'hf:bucket/tree')
  },
  tls,
)

describeClient(
  's3cmd over TLS',
  ['s3cmd', '--version'],
  (at) => {
    const s3cmd = (...words: string[]): Promise<string> => {
      const { accessKeyId, secretAccessKey } = environmentKey
      const key = [`--access_key=${accessKeyId}`, `--secret_key=${secretAccessKey}`]
      const server = ['--ssl', `--ca-certs=${at.authorityFile}`, `--host=${at.host}`, `--host-bucket=${at.host}`]
      return at.client('s3cmd', '--config=/dev/null', '--region=us-east-1', ...key, ...server, ...words)
    }
    beforeAll(async () => void (await s3cmd('mb', 's3://bucket')))
    carriesTree(at, (from, to) => s3cmd('sync', `${from}/`, `${to}/`), 's3://bucket/tree')
  },
  tls,
)
