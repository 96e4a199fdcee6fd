/** Every operation of the admin port. */
import { accountOperations } from './accounts.ts'
import { bucketOperations } from './buckets.ts'
import { keyOperations } from './keys.ts'
import { metricsOperations } from './metrics.ts'
import { operatingOperations } from './operating.ts'
import { policyOperations } from './policies.ts'
import { quotaOperations } from './quotas.ts'
import { replicationOperations } from './replication.ts'
import type { AdminOperation } from './requests/operation.ts'
import { serverOperations } from './server.ts'
import { sessionOperations } from './session.ts'
import { storageOperations } from './storage.ts'
import { taskOperations } from './tasks.ts'
import { userOperations } from './users.ts'

export const adminOperations: readonly AdminOperation[] = [
  ...sessionOperations(() => adminOperations),
  ...serverOperations,
  ...bucketOperations,
  ...quotaOperations,
  ...replicationOperations,
  ...storageOperations,
  ...taskOperations,
  ...operatingOperations,
  ...metricsOperations,
  ...accountOperations,
  ...userOperations,
  ...policyOperations,
  ...keyOperations,
]
