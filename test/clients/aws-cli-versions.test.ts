import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { describeClient } from './client-tools.ts'

interface Listed {
  Versions?: { Key: string; VersionId: string; IsLatest: boolean }[]
  DeleteMarkers?: { Key: string; VersionId: string; IsLatest: boolean }[]
}

const dayMs = 86_400_000
const daysFromNow = (days: number): string => new Date(Date.now() + days * dayMs).toISOString().replace(/\.\d+/, '')

describeClient('aws-cli on versions and locks', ['aws', '--version'], (at) => {
  const words = (operation: string, more: string[]): string[] => ['s3api', operation, '--output', 'json', ...more]
  const api = async (operation: string, ...more: string[]): Promise<Record<string, unknown>> => {
    const printed = await at.client('aws', ...words(operation, more))
    return printed.trim() === '' ? {} : JSON.parse(printed)
  }
  const failing = (operation: string, ...more: string[]): Promise<string> =>
    at.failing('aws', ...words(operation, more))
  const versions = ['--bucket', 'versions']
  const vault = ['--bucket', 'vault']

  async function put(bucket: string[], key: string, text: string, ...more: string[]): Promise<string> {
    await writeFile(join(at.directory, 'body'), text)
    const { VersionId } = await api('put-object', ...bucket, '--key', key, '--body', 'body', ...more)
    return String(VersionId)
  }
  async function get(bucket: string[], key: string, ...more: string[]): Promise<string> {
    await api('get-object', ...bucket, '--key', key, ...more, 'back')
    return readFile(join(at.directory, 'back'), 'utf8')
  }

  beforeAll(async () => {
    await api('create-bucket', ...versions)
    await api('create-bucket', ...vault, '--object-lock-enabled-for-bucket')
  })

  it('turns versioning on and suspends it', async () => {
    expect(await api('get-bucket-versioning', ...versions)).toEqual({})
    for (const Status of ['Enabled', 'Suspended', 'Enabled']) {
      await api('put-bucket-versioning', ...versions, '--versioning-configuration', `Status=${Status}`)
      expect(await api('get-bucket-versioning', ...versions)).toEqual({ Status })
    }
  })

  it('writes, reads, deletes, lists and brings back versions', async () => {
    const one = await put(versions, 'a', 'one')
    const two = await put(versions, 'a', 'two')
    expect(await get(versions, 'a', '--version-id', one)).toBe('one')
    const marker = await api('delete-object', ...versions, '--key', 'a')
    expect(marker).toEqual({ DeleteMarker: true, VersionId: expect.any(String) })
    expect(await failing('get-object', ...versions, '--key', 'a', 'back')).toContain('NoSuchKey')

    const listed = (await api('list-object-versions', ...versions, '--prefix', 'a')) as Listed
    expect(listed.Versions?.map(({ VersionId }) => VersionId)).toEqual([two, one])
    expect(listed.DeleteMarkers).toMatchObject([{ VersionId: marker.VersionId, IsLatest: true }])

    await api('delete-object', ...versions, '--key', 'a', '--version-id', String(marker.VersionId))
    expect(await get(versions, 'a')).toBe('two')
    const copy = await api('copy-object', ...versions, '--key', 'a', '--copy-source', `versions/a?versionId=${one}`)
    expect(copy).toMatchObject({ CopySourceVersionId: one, VersionId: expect.any(String) })
    expect(await get(versions, 'a')).toBe('one')
    await api(
      'put-object-tagging',
      ...versions,
      '--key',
      'a',
      '--version-id',
      two,
      '--tagging',
      'TagSet=[{Key=k,Value=v}]',
    )
    expect(await api('get-object-tagging', ...versions, '--key', 'a', '--version-id', two)).toEqual({
      VersionId: two,
      TagSet: [{ Key: 'k', Value: 'v' }],
    })
  })

  it('pages through versions, also within one key', async () => {
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.unshift(await put(versions, 'paged', String(i)))
    const listed = (await api('list-object-versions', ...versions, '--prefix', 'paged', '--page-size', '2')) as Listed
    expect(listed.Versions?.map(({ VersionId }) => VersionId)).toEqual(ids)
  })

  it('sets a default retention that new versions get', async () => {
    const rule = { DefaultRetention: { Mode: 'GOVERNANCE', Days: 1 } }
    const configuration = { ObjectLockEnabled: 'Enabled', Rule: rule }
    const json = ['--object-lock-configuration', JSON.stringify(configuration)]
    await api('put-object-lock-configuration', ...vault, ...json)
    expect(await api('get-object-lock-configuration', ...vault)).toEqual({ ObjectLockConfiguration: configuration })
    const id = await put(vault, 'default', 'kept')
    expect(await api('head-object', ...vault, '--key', 'default')).toMatchObject({ ObjectLockMode: 'GOVERNANCE' })
    expect(await failing('delete-object', ...vault, '--key', 'default', '--version-id', id)).toContain('AccessDenied')
    await api('delete-object', ...vault, '--key', 'default', '--version-id', id, '--bypass-governance-retention')
    const suspend = ['--versioning-configuration', 'Status=Suspended']
    expect(await failing('put-bucket-versioning', ...vault, ...suspend)).toContain('InvalidBucketState')
  })

  it('holds a version, and lifts the hold', async () => {
    const id = await put(vault, 'held', 'kept', '--object-lock-legal-hold-status', 'ON')
    const version = [...vault, '--key', 'held', '--version-id', id]
    expect(await api('get-object-legal-hold', ...version)).toEqual({ LegalHold: { Status: 'ON' } })
    expect(await failing('delete-object', ...version, '--bypass-governance-retention')).toContain('AccessDenied')
    await api('put-object-legal-hold', ...version, '--legal-hold', 'Status=OFF')
    expect(await api('get-object-legal-hold', ...version)).toEqual({ LegalHold: { Status: 'OFF' } })
  })

  it('retains a version, extends it, and can neither shorten nor delete it', async () => {
    const [soon, later] = [daysFromNow(2), daysFromNow(3)]
    const lock = ['--object-lock-mode', 'COMPLIANCE', '--object-lock-retain-until-date', soon]
    const id = await put(vault, 'retained', 'kept', ...lock)
    const version = [...vault, '--key', 'retained', '--version-id', id]
    const until = (date: string): string[] => ['--retention', `Mode=COMPLIANCE,RetainUntilDate=${date}`]
    await api('put-object-retention', ...version, ...until(later))
    const { Retention } = await api('get-object-retention', ...version)
    const { Mode, RetainUntilDate } = Retention as { Mode: string; RetainUntilDate: string }
    expect([Mode, Date.parse(RetainUntilDate)]).toEqual(['COMPLIANCE', Date.parse(later)])
    expect(await failing('put-object-retention', ...version, ...until(soon))).toContain('AccessDenied')
    const bypass = ['--bypass-governance-retention']
    expect(await failing('delete-object', ...version, ...bypass)).toContain('AccessDenied')
    const many = ['--delete', `Objects=[{Key=retained,VersionId=${id}}]`]
    expect(await api('delete-objects', ...vault, ...many, ...bypass)).toMatchObject({
      Errors: [{ Code: 'AccessDenied', Key: 'retained', VersionId: id }],
    })
    expect(await get(vault, 'retained', '--version-id', id)).toBe('kept')
    expect(await at.failing('aws', 's3', 'rb', '--force', 's3://vault')).toContain('BucketNotEmpty')
  })
})
