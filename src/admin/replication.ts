/** The admin port's view of replication: what waits, and for which destination. Rules are set through the S3 port. */
import { z } from 'zod'
import { defineAdminOperation } from './requests/operation.ts'
import { destinationView } from './state-views.ts'

const listReplication = defineAdminOperation({
  name: 'ListReplication',
  summary:
    'Lists the destinations of replication rules: how many versions wait for each, since when, and why it takes none, which each is asked. A site that does not answer makes this take up to ten seconds.',
  method: 'GET',
  path: '/v1/replication',
  permission: 'admin:ListBuckets',
  status: 200,
  input: z.strictObject({
    /** Only those of this bucket. */
    bucket: z.string().optional(),
  }),
  output: z.object({ destinations: z.array(destinationView) }),
  handle: async ({ replication }, _, { bucket }) => ({ destinations: await replication(bucket) }),
})

export const replicationOperations = [listReplication]
