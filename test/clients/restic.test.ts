import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  CreateBucketCommand,
  GetBucketVersioningCommand,
  ListObjectVersionsCommand,
  PutObjectLockConfigurationCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { beforeAll, describe, expect, it } from 'vitest'
import { environmentKey } from '../cli/holdfast-process.ts'
import { patternBytes } from '../support/seeded.ts'
import { describeClient } from './client-tools.ts'
import { treeDifferences, writeTree } from './file-tree.ts'

describeClient('restic', ['restic', 'version'], (at) => {
  let s3: S3Client

  beforeAll(async () => {
    const { endpoint } = at
    s3 = new S3Client({ endpoint, region: 'us-east-1', credentials: environmentKey, forcePathStyle: true })
    await writeTree(join(at.directory, 'tree'))
    await writeFile(join(at.directory, 'password'), 'canary-password')
  })

  describe.each([
    ['a plain bucket', 'plain', async () => {}],
    [
      'a bucket that keeps every version for a day at least',
      'locked',
      async (Bucket: string) => {
        const DefaultRetention = { Mode: 'COMPLIANCE', Days: 1 } as const
        await s3.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }))
        await s3.send(
          new PutObjectLockConfigurationCommand({
            Bucket,
            ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled', Rule: { DefaultRetention } },
          }),
        )
      },
    ],
  ])('in %s', (_, bucket, prepare) => {
    const restic = (...words: string[]): Promise<string> =>
      at.client(
        'restic',
        ...['--repo', `s3:${at.endpoint}/${bucket}/backups`, '--password-file', 'password', '--cache-dir', 'cache'],
        ...words,
      )
    const snapshots = async (): Promise<{ id: string }[]> => JSON.parse(await restic('snapshots', '--json'))

    beforeAll(async () => {
      await prepare(bucket)
      await restic('init')
      await restic('backup', 'tree')
      await writeFile(join(at.directory, 'tree', 'kilobytes.bin'), patternBytes(bucket.length, 400_000))
      await writeFile(join(at.directory, 'tree', `added-${bucket}`), bucket)
      await restic('backup', 'tree')
    })

    it('keeps a snapshot for each backup', async () => {
      expect(await snapshots()).toHaveLength(2)
    })

    it('restores a tree as it was backed up last', async () => {
      await restic('restore', 'latest', '--target', `restored-${bucket}`)
      expect(
        await treeDifferences(join(at.directory, 'tree'), join(at.directory, `restored-${bucket}`, 'tree')),
      ).toEqual([])
    })

    it('forgets and prunes the first backup, and finds every byte of the rest', async () => {
      const [, last] = await snapshots()
      await restic('forget', '--keep-last', '1', '--prune')
      expect((await snapshots()).map(({ id }) => id)).toEqual([last?.id])
      expect(await restic('check', '--read-data')).toContain('no errors were found')
    })

    it('leaves behind what the bucket keeps: nothing, or versions under delete markers', async () => {
      const { Status } = await s3.send(new GetBucketVersioningCommand({ Bucket: bucket }))
      const { DeleteMarkers = [], Versions = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket: bucket }))
      const hidden = Versions.filter(({ Key }) => DeleteMarkers.some((marker) => marker.Key === Key))
      expect([DeleteMarkers.length > 0, hidden.length > 0]).toEqual(Array(2).fill(Status === 'Enabled'))
    })
  })
})
