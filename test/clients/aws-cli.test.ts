import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { patternBytes } from '../support/seeded.ts'
import { describeClient } from './client-tools.ts'
import { largeFile, treeDifferences, treeSize, writeTree } from './file-tree.ts'

const MiB = 1024 * 1024

describeClient('aws-cli', ['aws', '--version'], (at) => {
  const s3 = (...words: string[]): Promise<string> => at.client('aws', 's3', ...words)

  beforeAll(async () => {
    await writeTree(join(at.directory, 'tree'))
    await s3('mb', 's3://bucket')
  })

  it('copies, lists and removes, also what it sends in parts', async () => {
    await s3('cp', `tree/${largeFile}`, 's3://bucket/large')
    await s3('cp', 's3://bucket/large', 'large-back')
    await at.client('cmp', `tree/${largeFile}`, 'large-back')
    await s3('cp', 's3://bucket/large', 's3://bucket/large-copy')
    expect(await s3('ls', 's3://bucket/')).toContain('large-copy')
    await s3('rm', 's3://bucket/large-copy')
    expect(await s3('ls', 's3://bucket/')).not.toContain('large-copy')
  })

  it('syncs a tree up and down unchanged, and sees nothing to do the second time', async () => {
    await s3('sync', 'tree', 's3://bucket/tree')
    expect(await s3('sync', 'tree', 's3://bucket/tree')).toBe('')
    expect((await s3('ls', '--recursive', 's3://bucket/tree')).trim().split('\n')).toHaveLength(treeSize)
    await s3('sync', 's3://bucket/tree', 'down')
    expect(await treeDifferences(join(at.directory, 'tree'), join(at.directory, 'down'))).toEqual([])
  })

  it('makes public what it copies into a bucket with access control lists, and nothing in one without', async () => {
    expect(await at.failing('aws', 's3', 'cp', '--acl', 'public-read', 'tree/plain.txt', 's3://bucket/open')).toContain(
      'AccessControlListNotSupported',
    )
    await at.client('aws', 's3api', 'create-bucket', '--bucket', 'lists', '--object-ownership', 'ObjectWriter')
    await s3('cp', '--acl', 'public-read', 'tree/plain.txt', 's3://lists/open')
    await s3('cp', 'tree/plain.txt', 's3://lists/closed')
    await s3('cp', '--acl', 'public-read', `tree/${largeFile}`, 's3://lists/large')
    const statuses = ['open', 'closed', 'large'].map(async (key) => (await fetch(`${at.endpoint}/lists/${key}`)).status)
    expect(await Promise.all(statuses)).toEqual([200, 403, 200])
    expect(await s3('ls', '--no-sign-request', 's3://lists/').catch((error: Error) => error.message)).toContain(
      'AccessDenied',
    )
  })

  it('serves what a presigned URL asks for, in either version of signatures', async () => {
    await s3('cp', 'tree/plain.txt', 's3://bucket/presigned')
    const presigned = async (): Promise<URL> => new URL((await s3('presign', 's3://bucket/presigned')).trim())
    const bytesAt = async (url: URL): Promise<number> => (await (await fetch(url)).arrayBuffer()).byteLength
    // Version 1 of the CLI signs URLs the old way unless told otherwise.
    expect(await bytesAt(await presigned())).toBe(12)

    await at.client('aws', 'configure', 'set', 'default.s3.signature_version', 's3v4')
    const url = await presigned()
    expect([url.searchParams.has('X-Amz-Signature'), await bytesAt(url)]).toEqual([true, 12])
  })

  it('removes a bucket with all that is in it', async () => {
    await s3('mb', 's3://to-remove')
    await s3('cp', '--recursive', 'tree', 's3://to-remove')
    await s3('rb', '--force', 's3://to-remove')
    expect(await s3('ls')).not.toContain('to-remove')
  })

  describe('s3api', () => {
    const api = async (operation: string, ...words: string[]): Promise<Record<string, unknown>> => {
      const printed = await at.client('aws', 's3api', operation, '--output', 'json', ...words)
      return printed.trim() === '' ? {} : JSON.parse(printed)
    }
    const bucket = ['--bucket', 'api']
    const object = [...bucket, '--key', 'dir/object']

    beforeAll(async () => {
      await writeFile(join(at.directory, 'body'), 'hello, object')
      await writeFile(join(at.directory, 'part-1'), patternBytes(1, 5 * MiB))
      await writeFile(join(at.directory, 'part-2'), patternBytes(2, 100))
    })

    it('drives every operation on buckets', async () => {
      expect(await api('create-bucket', ...bucket)).toMatchObject({ Location: '/api' })
      await api('head-bucket', ...bucket)
      expect(await api('list-buckets')).toMatchObject({
        Buckets: expect.arrayContaining([expect.objectContaining({ Name: 'api' })]),
      })
      expect(await api('list-buckets', '--max-buckets', '1', '--no-paginate')).toMatchObject({
        ContinuationToken: expect.any(String),
      })
      expect(await api('get-bucket-location', ...bucket)).toEqual({ LocationConstraint: null })
      await api('put-bucket-tagging', ...bucket, '--tagging', 'TagSet=[{Key=a,Value=b}]')
      expect(await api('get-bucket-tagging', ...bucket)).toEqual({ TagSet: [{ Key: 'a', Value: 'b' }] })
      await api('delete-bucket-tagging', ...bucket)
      expect(await at.failing('aws', 's3api', 'get-bucket-tagging', ...bucket)).toContain('NoSuchTagSet')
    })

    it('drives every operation on objects', async () => {
      const put = await api(
        'put-object',
        ...object,
        '--body',
        'body',
        '--metadata',
        'a=b',
        '--tagging',
        'k=v',
        '--checksum-algorithm',
        'SHA256',
      )
      expect(put).toMatchObject({ ETag: expect.stringMatching(/^"[0-9a-f]{32}"$/), ChecksumSHA256: expect.any(String) })
      expect(await api('head-object', ...object)).toMatchObject({ ContentLength: 13, Metadata: { a: 'b' } })
      expect(await api('get-object', ...object, '--range', 'bytes=0-4', 'range-back')).toMatchObject({
        ContentRange: 'bytes 0-4/13',
      })
      expect(await api('get-object-tagging', ...object)).toMatchObject({ TagSet: [{ Key: 'k', Value: 'v' }] })
      await api('put-object-tagging', ...object, '--tagging', 'TagSet=[{Key=x,Value=y}]')
      await api('delete-object-tagging', ...object)
      expect(await api('get-object-tagging', ...object)).toMatchObject({ TagSet: [] })
      const copy = await api('copy-object', ...bucket, '--key', 'copied', '--copy-source', 'api/dir/object')
      expect(copy).toMatchObject({ CopyObjectResult: { ETag: put.ETag } })
      expect(await api('list-objects', ...bucket, '--delimiter', '/')).toMatchObject({
        Contents: [{ Key: 'copied' }],
        CommonPrefixes: [{ Prefix: 'dir/' }],
      })
      expect(await api('list-objects-v2', ...bucket, '--prefix', 'dir', '--fetch-owner')).toMatchObject({
        Contents: [{ Key: 'dir/object', Owner: { ID: expect.any(String) } }],
      })
      await api('delete-object', ...bucket, '--key', 'copied')
      const deleted = await api(
        'delete-objects',
        ...bucket,
        '--delete',
        'Objects=[{Key=dir/object},{Key=not-there}],Quiet=false',
      )
      expect(deleted).toMatchObject({ Deleted: [{ Key: 'dir/object' }, { Key: 'not-there' }] })
      expect(await at.failing('aws', 's3api', 'head-object', ...object)).toContain('404')
    })

    it('drives every operation on multipart uploads', async () => {
      const upload = [...bucket, '--key', 'assembled']
      const { UploadId } = await api('create-multipart-upload', ...upload)
      const id = ['--upload-id', String(UploadId)]
      const first = await api('upload-part', ...upload, ...id, '--part-number', '1', '--body', 'part-1')
      await api('put-object', ...bucket, '--key', 'source', '--body', 'part-2')
      const second = await api(
        'upload-part-copy',
        ...upload,
        ...id,
        '--part-number',
        '2',
        '--copy-source',
        'api/source',
      )
      expect(await api('list-multipart-uploads', ...bucket)).toMatchObject({
        Uploads: [{ Key: 'assembled', UploadId }],
      })
      expect(await api('list-parts', ...upload, ...id)).toMatchObject({
        Parts: [{ PartNumber: 1 }, { PartNumber: 2, Size: 100 }],
      })
      const etags = [first.ETag, (second.CopyPartResult as { ETag: string }).ETag]
      const parts = JSON.stringify({ Parts: etags.map((ETag, i) => ({ ETag, PartNumber: i + 1 })) })
      expect(await api('complete-multipart-upload', ...upload, ...id, '--multipart-upload', parts)).toMatchObject({
        Location: `${at.endpoint}/api/assembled`,
        ETag: expect.stringMatching(/-2"$/),
      })
      expect(await api('head-object', ...upload, '--part-number', '2')).toMatchObject({
        ContentLength: 100,
        PartsCount: 2,
      })

      const aborted = await api('create-multipart-upload', ...upload)
      await api('abort-multipart-upload', ...upload, '--upload-id', String(aborted.UploadId))
      expect((await api('list-multipart-uploads', ...bucket)).Uploads).toBeUndefined()
      await at.client('aws', 's3', 'rm', '--recursive', 's3://api')
      await api('delete-bucket', ...bucket)
    })
  })
})
