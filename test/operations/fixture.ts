/** A request by the owner of the bucket, as the protocol layer hands it to an operation. */
import type { Principal } from '../../src/auth/principal.ts'
import type { OperationRequest } from '../../src/operations/context.ts'
import type { TestStore } from '../objects/fixture.ts'

export const owner: Principal = { accountId: 'main', displayName: 'Main', accessKeyId: 'key' }

export function request({ backend }: TestStore, over: Partial<OperationRequest> = {}): OperationRequest {
  return {
    backend,
    principal: owner,
    conditionValue: () => undefined,
    accountName: (id) => id,
    isAccount: () => false,
    requestId: 'request',
    presigned: false,
    bucket: 'bucket',
    key: '',
    expectedBucketOwner: undefined,
    resourceUrl: 'http://localhost/bucket',
    region: 'us-east-1',
    customerKeysMayTravel: true,
    ...over,
  }
}
