/** The admin port's operations on quotas: the most that a bucket may hold. They are the operator's, whoever owns the bucket. */
import { z } from 'zod'
import { checkBucketNameLength } from '../operations/bucket-name.ts'
import { defineAdminOperation } from './requests/operation.ts'
import { AdminRefused } from './requests/refusal.ts'
import { quotaView } from './state-views.ts'
import { noInput } from './views.ts'

/** Throws NoSuchBucket for what can't be one. */
function named({ bucket }: { bucket: string }): string {
  checkBucketNameLength(bucket)
  return bucket
}

const most = z.int().min(0).optional()

const listQuotas = defineAdminOperation({
  name: 'ListQuotas',
  summary: 'Lists the buckets that have a quota, and what they hold.',
  method: 'GET',
  path: '/v1/quotas',
  permission: 'admin:ListBuckets',
  status: 200,
  input: noInput,
  output: z.object({ quotas: z.array(quotaView) }),
  handle: async ({ quotas }) => ({ quotas: await quotas.list() }),
})

const getQuota = defineAdminOperation({
  name: 'GetQuota',
  summary: 'Shows the quota of a bucket, and what it holds.',
  method: 'GET',
  path: '/v1/quotas/{bucket}',
  permission: 'admin:ListBuckets',
  status: 200,
  input: noInput,
  output: quotaView,
  handle: async ({ quotas }, parameters) => {
    const found = await quotas.find(named(parameters))
    if (found === undefined) throw new AdminRefused('NoSuchQuota', 'The bucket has no quota.')
    return found
  },
})

const setQuota = defineAdminOperation({
  name: 'SetQuota',
  summary:
    'Sets the quota of a bucket: the most bytes, the most objects, or both. Both include noncurrent versions and open uploads. What the bucket holds is counted first; until then, nothing is refused. A bucket that holds more keeps what it has.',
  method: 'PUT',
  path: '/v1/quotas/{bucket}',
  permission: 'admin:SetQuota',
  status: 200,
  input: z.strictObject({
    /** As clients send them: copies and parity of the location do not count. */
    bytes: most,
    objects: most,
  }),
  output: quotaView,
  handle: async ({ quotas }, parameters, quota) => {
    if (quota.bytes === undefined && quota.objects === undefined)
      throw new AdminRefused('Refused', 'A quota needs bytes, objects or both.')
    return quotas.set(named(parameters), quota)
  },
})

const removeQuota = defineAdminOperation({
  name: 'RemoveQuota',
  summary: 'Removes the quota of a bucket.',
  method: 'DELETE',
  path: '/v1/quotas/{bucket}',
  permission: 'admin:SetQuota',
  status: 204,
  input: noInput,
  output: undefined,
  handle: async ({ quotas }, parameters) => quotas.remove(named(parameters)),
})

export const quotaOperations = [listQuotas, getQuota, setQuota, removeQuota]
