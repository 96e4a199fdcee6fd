/** Quotas over the admin port: who may set them, what it refuses, and where they are shown. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBucket, deleteBucket } from '../../src/objects/buckets.ts'
import { outcome, put, scopeOf } from '../objects/fixture.ts'
import { type AdminWorld, type Asked, openAdminWorld, rootKey } from './admin-world.ts'

let world: AdminWorld
beforeAll(async () => {
  world = await openAdminWorld()
  for (const name of ['bucket', 'other']) {
    const locationConstraint = undefined
    await createBucket(world.backend, {
      name,
      owner: 'main',
      locationConstraint,
      location: 'default',
      objectLock: undefined,
    })
  }
  await put(world, 'there before', '12345')
})
afterAll(() => world.close())

const path = '/v1/quotas/bucket'
const asked = async (method: string, more: Partial<Asked> = {}): Promise<unknown[]> => {
  const { status, json } = await world.ask({ method, path, ...more })
  return [status, json]
}
const refused = (code: string) => expect.objectContaining({ code })

describe('a quota', () => {
  it('holds as soon as it is set, for what was there before, too', async () => {
    expect(await asked('GET')).toEqual([404, refused('NoSuchQuota')])
    const shown = { bucket: 'bucket', owner: 'main', bytes: 10, objects: 3 }
    const input = { bytes: 10, objects: 3 }
    expect(await asked('PUT', { input })).toEqual([200, { ...shown, used: { bytes: 5, objects: 1 } }])
    expect(await outcome(put(world, 'a', '123456'))).toBe('QuotaExceeded')
    expect(await outcome(put(world, 'a', '123'))).toBe('ok')
    const now = { ...shown, used: { bytes: 8, objects: 2 } }
    expect(await asked('GET')).toEqual([200, now])
    expect(await asked('GET', { path: '/v1/quotas' })).toEqual([200, { quotas: [now] }])
  })

  it('is shown with its bucket, to the account that owns it', async () => {
    const { json } = await world.ask({ method: 'GET', path: '/v1/accounts/main/buckets' })
    expect(json.buckets).toMatchObject([
      { name: 'bucket', quota: { bytes: 10, objects: 3, used: { bytes: 8, objects: 2 } } },
      { name: 'other' },
    ])
    expect(json.buckets).not.toMatchObject([{}, { quota: {} }])
  })

  it('is measured', async () => {
    const { text } = await world.raw({ method: 'GET', path: '/metrics', by: 'nobody' })
    expect(text).toContain('\nholdfast_quota_used_ratio{bucket="bucket",of="bytes"} 0.8\n')
  })

  it('is written to the audit log when it changes', async () => {
    await asked('PUT', { input: { bytes: 20 } })
    expect(world.audited.at(-1)).toMatchObject({ operation: 'SetQuota', target: { bucket: 'bucket' } })
    expect(await asked('GET')).toEqual([200, { bucket: 'bucket', owner: 'main', bytes: 20, used: expect.anything() }])
  })

  it.each<[string, Partial<Asked>, number, string]>([
    ['nothing', { input: {} }, 409, 'Refused'],
    ['less than nothing', { input: { bytes: -1 } }, 400, 'InvalidArgument'],
    ['half a byte', { input: { bytes: 0.5 } }, 400, 'InvalidArgument'],
    ['more than is countable', { input: { objects: 2 ** 60 } }, 400, 'InvalidArgument'],
    ['what it does not know', { input: { bytes: 1, files: 1 } }, 400, 'InvalidArgument'],
    ['a bucket that does not exist', { path: '/v1/quotas/missing', input: { bytes: 1 } }, 404, 'NoSuchBucket'],
    ['what can’t be a bucket', { path: `/v1/quotas/${'a'.repeat(3000)}`, input: { bytes: 1 } }, 404, 'NoSuchBucket'],
  ])('is refused for %s', async (_, more, status, code) => {
    expect(await asked('PUT', more)).toEqual([status, refused(code)])
  })

  it.each(['GET', 'DELETE'])('is no reason for a failure where there can be no bucket: %s', async (method) => {
    expect(await asked(method, { path: `/v1/quotas/${'a'.repeat(3000)}` })).toEqual([404, refused('NoSuchBucket')])
  })

  it('is the operator’s: an account can’t change that of its own bucket', async () => {
    const account = { method: 'POST', path: '/v1/accounts', input: { id: 'tenant', name: 'Tenant' } }
    expect((await world.ask(account)).status).toBe(201)
    const { json } = await world.ask({ method: 'POST', path: '/v1/accounts/tenant/keys', input: {} })
    const by = { accessKeyId: String(json.accessKeyId), secretAccessKey: String(json.secretAccessKey) }
    const owner = 'tenant'
    const bucket = { name: 'theirs', owner, locationConstraint: undefined, location: 'default', objectLock: undefined }
    await createBucket(world.backend, bucket)
    const theirs = '/v1/quotas/theirs'
    expect((await world.ask({ method: 'PUT', path: theirs, input: { bytes: 5 }, by: rootKey })).status).toBe(200)
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const input = method === 'PUT' ? { input: { bytes: 1e9 } } : {}
      expect(await asked(method, { path: theirs, by, ...input })).toEqual([403, refused('AccessDenied')])
    }
    const { json: seen } = await world.ask({ method: 'GET', path: '/v1/accounts/tenant/buckets', by })
    expect(seen.buckets).toMatchObject([{ name: 'theirs', quota: { bytes: 5, used: { bytes: 0, objects: 0 } } }])
    await deleteBucket(world.backend, scopeOf('theirs'))
  })

  it('ends when it is removed', async () => {
    expect(await asked('DELETE')).toEqual([204, {}])
    expect(await asked('GET')).toEqual([404, refused('NoSuchQuota')])
    expect(await outcome(put(world, 'b', 'much more than it was'))).toBe('ok')
  })
})
