/** What a handler knows of the request beyond its fields. */
import type { Principal } from '../auth/principal.ts'
import { operationsIn } from '../contract/operation.ts'
import type { Store } from '../store/store.ts'

export interface OperationContext {
  store: Store
  principal: Principal
  requestId: string
  /** The addressed bucket's name; empty for operations on the service. */
  bucket: string
  /** The addressed object's key; empty unless the operation's target is an object. */
  key: string
  /** Account id of `expected-bucket-owner`, when sent. */
  expectedBucketOwner: string | undefined
  /** URL by which the client addressed the bucket or object, without query: `http://host:port/bucket/key`. */
  resourceUrl: string
}

export const defineOperation = operationsIn<OperationContext>()
