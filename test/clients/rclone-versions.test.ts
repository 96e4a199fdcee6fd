import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { environmentKey } from '../cli/holdfast-process.ts'
import { describeClient } from './client-tools.ts'

describeClient('rclone on versions', ['rclone', 'version'], (at) => {
  const rclone = (...words: string[]): Promise<string> => at.client('rclone', '--config', 'rclone.conf', ...words)
  const list = async (...words: string[]): Promise<string[]> =>
    (await rclone('lsf', ...words)).split('\n').filter((line) => line !== '')
  const put = async (text: string): Promise<void> => {
    await writeFile(join(at.directory, 'file.txt'), text)
    await rclone('copyto', 'file.txt', 'hf:bucket/dir/file.txt')
  }
  /** The names that rclone gives old versions, from the oldest: `file-v2024-01-02-030405-678.txt`. */
  const oldVersions = async (): Promise<string[]> =>
    (await list('--s3-versions', 'hf:bucket/dir')).filter((name) => name.startsWith('file-v')).sort()

  beforeAll(async () => {
    const settings = {
      type: 's3',
      provider: 'Other',
      access_key_id: environmentKey.accessKeyId,
      secret_access_key: environmentKey.secretAccessKey,
      endpoint: at.endpoint,
    }
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`)
    await writeFile(join(at.directory, 'rclone.conf'), `[hf]\n${lines.join('')}`)
    await rclone('mkdir', 'hf:bucket')
  })

  it('turns versioning on, and sees that it is', async () => {
    expect(await rclone('backend', 'versioning', 'hf:bucket')).toContain('Unversioned')
    await rclone('backend', 'versioning', 'hf:bucket', 'Enabled')
    expect(await rclone('backend', 'versioning', 'hf:bucket')).toContain('Enabled')
  })

  it('lists the current version by its name, and old ones by their time', async () => {
    for (const text of ['one', 'two, longer', 'three']) await put(text)
    expect(await list('hf:bucket/dir')).toEqual(['file.txt'])
    expect(await list('--s3-versions', 'hf:bucket/dir')).toHaveLength(3)
    expect(await oldVersions()).toHaveLength(2)
  })

  it('copies an old version back', async () => {
    const [first = ''] = await oldVersions()
    // By a filter: rclone 1.60 does not find an old version that is named as the whole source.
    await rclone('copy', '--s3-versions', '--include', `/${first}`, 'hf:bucket/dir', 'back')
    expect(await readdir(join(at.directory, 'back'))).toEqual([first])
    expect(await readFile(join(at.directory, 'back', first), 'utf8')).toBe('one')
  })

  it('copies all versions of a tree', async () => {
    await rclone('copy', '--s3-versions', 'hf:bucket/dir', 'down')
    const [first = ''] = await oldVersions()
    expect(await readFile(join(at.directory, 'down', first), 'utf8')).toBe('one')
    expect(await readFile(join(at.directory, 'down', 'file.txt'), 'utf8')).toBe('three')
  })

  it('copies a bucket as it was at a time', async () => {
    const [, second = ''] = await oldVersions()
    const [, date, hours, minutes, seconds, ms] = /v([\d-]{10})-(\d\d)(\d\d)(\d\d)-(\d{3})/.exec(second) ?? []
    const time = `${date}T${hours}:${minutes}:${seconds}.${ms}Z`
    await rclone('copy', '--s3-version-at', time, 'hf:bucket/dir', 'then')
    expect(await readFile(join(at.directory, 'then', 'file.txt'), 'utf8')).toBe('two, longer')
  })

  it('deletes a file, still lists its versions, and cleans them up', async () => {
    await rclone('deletefile', 'hf:bucket/dir/file.txt')
    expect(await list('-R', '--files-only', 'hf:bucket')).toEqual([])
    expect(await oldVersions()).toHaveLength(3)
    await rclone('backend', 'cleanup-hidden', 'hf:bucket')
    expect(await oldVersions()).toEqual([])
    await rclone('rmdir', 'hf:bucket')
    expect(await rclone('lsd', 'hf:')).not.toContain('bucket')
  })
})
