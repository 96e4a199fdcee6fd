/** Every operation of the admin port. */
import { accountOperations } from './accounts.ts'
import { keyOperations } from './keys.ts'
import type { AdminOperation } from './operation.ts'
import { policyOperations } from './policies.ts'
import { serverOperations } from './server.ts'
import { userOperations } from './users.ts'

export const adminOperations: readonly AdminOperation[] = [
  ...serverOperations,
  ...accountOperations,
  ...userOperations,
  ...policyOperations,
  ...keyOperations,
]
