import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { environmentKey } from '../cli/holdfast-process.ts'
import { describeClient } from './client-tools.ts'
import { largeFile, treeDifferences, treeSize, writeTree } from './file-tree.ts'

describeClient('s3cmd', ['s3cmd', '--version'], (at) => {
  const s3cmd = (...words: string[]): Promise<string> =>
    at.client('s3cmd', '--config', 's3cfg', '--no-progress', ...words)

  beforeAll(async () => {
    const settings = {
      access_key: environmentKey.accessKeyId,
      secret_key: environmentKey.secretAccessKey,
      host_base: at.host,
      host_bucket: at.host,
      use_https: 'False',
      signurl_use_https: 'False',
      multipart_chunk_size_mb: '5',
    }
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`)
    await writeFile(join(at.directory, 's3cfg'), `[default]\n${lines.join('')}`)
    await writeTree(join(at.directory, 'tree'))
    await s3cmd('mb', 's3://bucket')
  })

  it('puts, lists and gets an object, in several parts when it is large', async () => {
    await s3cmd('put', `tree/${largeFile}`, 's3://bucket/large')
    expect(await s3cmd('ls', 's3://bucket/')).toContain('s3://bucket/large')
    await s3cmd('get', 's3://bucket/large', 'large-back')
    await at.client('cmp', `tree/${largeFile}`, 'large-back')
  })

  it('syncs a tree up and down unchanged', async () => {
    await s3cmd('sync', 'tree/', 's3://bucket/tree/')
    const listed = await s3cmd('ls', '--recursive', 's3://bucket/tree/')
    expect(listed.trim().split('\n')).toHaveLength(treeSize)
    await s3cmd('sync', 's3://bucket/tree/', 'down/')
    expect(await treeDifferences(join(at.directory, 'tree'), join(at.directory, 'down'))).toEqual([])
  })

  it('copies and moves on the server', async () => {
    await s3cmd('put', 'tree/plain.txt', 's3://bucket/plain')
    await s3cmd('cp', 's3://bucket/plain', 's3://bucket/copied')
    await s3cmd('mv', 's3://bucket/copied', 's3://bucket/moved')
    await s3cmd('get', 's3://bucket/moved', 'moved-back')
    await at.client('cmp', 'tree/plain.txt', 'moved-back')
    expect(await s3cmd('ls', 's3://bucket/copied')).toBe('')
  })

  it('shows what a bucket and an object are, and who may use them', async () => {
    await s3cmd('put', 'tree/plain.txt', 's3://bucket/shown')
    for (const place of ['s3://bucket', 's3://bucket/shown']) {
      const shown = await s3cmd('info', place)
      expect(shown).toMatch(/ACL: +\S.*: FULL_CONTROL/)
      expect(shown).not.toContain('ERROR')
    }
    expect(await s3cmd('info', 's3://bucket')).toMatch(/Payer: +BucketOwner/)
    expect(await s3cmd('info', 's3://bucket')).toMatch(/Policy: +none/)
  })

  it('keeps what is private private, and cannot make it public', async () => {
    for (const place of ['s3://bucket', 's3://bucket/shown']) {
      await s3cmd('setacl', '--acl-private', place)
      const refused = await at.failing('s3cmd', '--config', 's3cfg', 'setacl', '--acl-public', place)
      expect(refused).toContain('AccessControlListNotSupported')
    }
  })

  it('makes public what is in a bucket with access control lists, and private again', async () => {
    await s3cmd('mb', '--add-header=x-amz-object-ownership:ObjectWriter', 's3://lists')
    await s3cmd('put', 'tree/plain.txt', 's3://lists/a')
    await s3cmd('put', '--acl-public', 'tree/plain.txt', 's3://lists/b')
    const read = async (key: string): Promise<number> => (await fetch(`${at.endpoint}/lists/${key}`)).status
    expect([await read('a'), await read('b')]).toEqual([403, 200])
    await s3cmd('setacl', '--acl-public', 's3://lists/a')
    expect(await s3cmd('info', 's3://lists/a')).toContain('*anon*: READ')
    expect(await read('a')).toBe(200)
    await s3cmd('setacl', '--acl-private', 's3://lists/a')
    expect([await read('a'), await read('')]).toEqual([403, 403])
    await s3cmd('setacl', '--acl-public', 's3://lists')
    expect(await read('')).toBe(200)
  })

  it('sets, shows and removes lifecycle rules', async () => {
    await s3cmd('expire', 's3://bucket', '--expiry-days', '30', '--expiry-prefix', 'logs/')
    const shown = await s3cmd('getlifecycle', 's3://bucket')
    expect(shown).toContain('<Prefix>logs/</Prefix>')
    expect(shown).toContain('<Days>30</Days>')
    await s3cmd('dellifecycle', 's3://bucket')
    expect(await s3cmd('info', 's3://bucket')).toMatch(/Expiration [Rr]ule: +none/)
  })

  it('makes a bucket a website, shows it, and ends it', async () => {
    await s3cmd('ws-create', '--ws-index=index.html', '--ws-error=error.html', 's3://bucket')
    const shown = await s3cmd('ws-info', 's3://bucket')
    expect(shown).toMatch(/Index document: +index\.html/)
    expect(shown).toMatch(/Error document: +error\.html/)
    await s3cmd('ws-delete', 's3://bucket')
    expect(await at.output('s3cmd', '--config', 's3cfg', 'ws-info', 's3://bucket')).toContain(
      'Unable to receive website configuration',
    )
  })

  it('signs a URL', async () => {
    await s3cmd('put', 'tree/plain.txt', 's3://bucket/signed by s3cmd')
    const url = (await s3cmd('signurl', 's3://bucket/signed by s3cmd', '+60')).trim()
    const body = Buffer.from(await (await fetch(url)).arrayBuffer())
    expect(body.equals(await readFile(join(at.directory, 'tree/plain.txt')))).toBe(true)
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(403)
  })

  it('deletes objects, one and many, and the bucket', async () => {
    await s3cmd('del', 's3://bucket/large')
    await s3cmd('del', '--recursive', '--force', 's3://bucket/')
    expect(await s3cmd('ls', '--recursive', 's3://bucket')).toBe('')
    await s3cmd('rb', 's3://bucket')
    expect(await at.failing('s3cmd', '--config', 's3cfg', 'ls', 's3://bucket')).toContain('NoSuchBucket')
  })
})
