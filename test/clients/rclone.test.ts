import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { environmentKey } from '../cli/holdfast-process.ts'
import { describeClient } from './client-tools.ts'
import { treeDifferences, treeSize, writeTree } from './file-tree.ts'

describeClient('rclone', ['rclone', 'version'], (at) => {
  const rclone = (...words: string[]): Promise<string> => at.client('rclone', '--config', 'rclone.conf', ...words)

  beforeAll(async () => {
    const settings = {
      type: 's3',
      provider: 'Other',
      access_key_id: environmentKey.accessKeyId,
      secret_access_key: environmentKey.secretAccessKey,
      endpoint: at.endpoint,
      chunk_size: '5M',
      upload_cutoff: '10M',
    }
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`)
    await writeFile(join(at.directory, 'rclone.conf'), `[hf]\n${lines.join('')}`)
    await writeTree(join(at.directory, 'tree'))
    await rclone('mkdir', 'hf:bucket')
  })

  it('makes a bucket again without complaint', async () => {
    await rclone('mkdir', 'hf:bucket')
  })

  it('syncs a tree up, checks it, and syncs it down unchanged', async () => {
    await rclone('sync', 'tree', 'hf:bucket/tree')
    await rclone('check', '--download', 'tree', 'hf:bucket/tree')
    expect((await rclone('lsf', '-R', '--files-only', 'hf:bucket/tree')).trim().split('\n')).toHaveLength(treeSize)
    await rclone('sync', 'hf:bucket/tree', 'down')
    expect(await treeDifferences(join(at.directory, 'tree'), join(at.directory, 'down'))).toEqual([])
  })

  it('sees nothing to do the second time, and removes what the source does not have', async () => {
    await rclone('sync', 'tree', 'hf:bucket/again')
    const sync = ['--config', 'rclone.conf', 'sync', '-v', 'tree', 'hf:bucket/again']
    expect(await at.output('rclone', ...sync)).toContain('There was nothing to transfer')
    await rclone('copyto', 'tree/plain.txt', 'hf:bucket/again/added')
    expect(await at.output('rclone', ...sync)).toContain('added: Deleted')
  })

  it('syncs between two places of the server', async () => {
    await rclone('sync', 'tree', 'hf:bucket/from')
    await rclone('sync', 'hf:bucket/from', 'hf:bucket/to')
    await rclone('check', '--download', 'tree', 'hf:bucket/to')
  })

  it('copies and moves on the server, also what takes several parts', async () => {
    await rclone('copyto', 'tree/megabytes.bin', 'hf:bucket/large')
    await rclone('copyto', 'hf:bucket/large', 'hf:bucket/large-copy')
    await rclone('moveto', 'hf:bucket/large-copy', 'hf:bucket/large-moved')
    expect(await rclone('hashsum', 'MD5', '--download', 'hf:bucket/large-moved')).toBe(
      (await rclone('hashsum', 'MD5', 'tree/megabytes.bin')).replace('megabytes.bin', 'large-moved'),
    )
  })

  it('purges a bucket', async () => {
    await rclone('mkdir', 'hf:to-purge')
    await rclone('copy', 'tree', 'hf:to-purge')
    await rclone('purge', 'hf:to-purge')
    expect(await rclone('lsd', 'hf:')).not.toContain('to-purge')
  })
})
