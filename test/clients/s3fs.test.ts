import { closeSync, openSync } from 'node:fs'
import { chmod, cp, mkdir, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { environmentKey } from '../cli/holdfast-process.ts'
import { patternBytes } from '../support/seeded.ts'
import { describeClient } from './client-tools.ts'

/** Without a device a mount is impossible, whatever is installed. */
function hasFuse(): boolean {
  try {
    closeSync(openSync('/dev/fuse', 'r+'))
    return true
  } catch {
    return false
  }
}
const canMount = hasFuse()

describeClient('s3fs', ['s3fs', '--version'], (at) => {
  const name = 'a mounted bucket'
  describe.skipIf(!canMount)(canMount ? name : `${name} (/dev/fuse can't be used here)`, () => {
    const bytes = patternBytes(30, 30 * 1024 * 1024)
    const mount = (): string => join(at.directory, 'mount')

    beforeAll(async () => {
      await mkdir(mount())
      await writeFile(join(at.directory, 'large'), bytes)
      const { accessKeyId, secretAccessKey } = environmentKey
      await writeFile(join(at.directory, 'password'), `${accessKeyId}:${secretAccessKey}`, { mode: 0o600 })
      const { endpoint } = at
      const s3 = new S3Client({ endpoint, region: 'us-east-1', credentials: environmentKey, forcePathStyle: true })
      await s3.send(new CreateBucketCommand({ Bucket: 'fuse-bucket' }))
      s3.destroy()
      const options = ['use_path_request_style', `url=${endpoint}`, 'passwd_file=password']
      await at.client('s3fs', 'fuse-bucket', mount(), '-o', options.join(','))
    })
    afterAll(() => at.client('fusermount', '-u', mount()))

    it('keeps 30 MiB as they are, through mv, touch and chmod', async () => {
      const moved = join(mount(), 'moved')
      await cp(join(at.directory, 'large'), join(mount(), 'large'))
      await rename(join(mount(), 'large'), moved)
      await utimes(moved, 1_000_000_000, 1_000_000_000)
      await chmod(moved, 0o640)
      const { size, mode, mtimeMs } = await stat(moved)
      expect([size, mode & 0o777, mtimeMs]).toEqual([bytes.length, 0o640, 1_000_000_000_000])
      await at.client('cmp', 'large', moved)
    })
  })
})
