/** The admin port's lists of buckets with their usage. What a bucket contains is read through the S3 port. */
import { z } from 'zod'
import { defineAdminOperation } from './requests/operation.ts'
import { bucketView } from './state-views.ts'
import { noInput } from './views.ts'

const output = z.object({ buckets: z.array(bucketView) })

const listBuckets = defineAdminOperation({
  name: 'ListBuckets',
  summary:
    'Lists the buckets of all accounts, with counts of objects and bytes. They are counted in the background, again when they are older than a minute; `measured` says when.',
  method: 'GET',
  path: '/v1/buckets',
  permission: 'admin:ListBuckets',
  status: 200,
  input: noInput,
  output,
  handle: async ({ buckets }) => ({ buckets: await buckets(undefined) }),
})

const listAccountBuckets = defineAdminOperation({
  name: 'ListAccountBuckets',
  summary: 'The same for the buckets of one account.',
  method: 'GET',
  path: '/v1/accounts/{account}/buckets',
  permission: 'admin:ListBuckets',
  status: 200,
  input: noInput,
  output,
  handle: async ({ buckets, identities }, { account }) => {
    await identities.accounts.get(account)
    return { buckets: await buckets(account) }
  },
})

export const bucketOperations = [listBuckets, listAccountBuckets]
