/** What a request is to an operation: what the protocol layer found out, and what `run` adds before a handler sees it. */
import type { Principal } from '../auth/principal.ts'
import type { Backend } from '../commits/backend.ts'
import type { BucketScope } from '../commits/scope.ts'
import { operationsIn } from '../contract/operation.ts'

export interface OperationRequest {
  backend: Backend
  principal: Principal
  requestId: string
  /** Signed by a URL's query rather than by headers. */
  presigned: boolean
  /** The addressed bucket's name; empty for operations on the service. */
  bucket: string
  /** The addressed object's key; empty unless the operation's target is an object. */
  key: string
  /** Account id of `expected-bucket-owner`, when sent. */
  expectedBucketOwner: string | undefined
  /** URL by which the client addressed the bucket or object, without query: `http://host:port/bucket/key`. */
  resourceUrl: string
  /** The region that this server says it is. */
  region: string
  /** Whether keys of SSE-C may come over this connection: it is encrypted or local, or the operator vouches for it. */
  customerKeysMayTravel: boolean
}

export interface OperationContext extends OperationRequest {
  /** The addressed bucket, as far as this request may use it. */
  scope: BucketScope
  /** For what a document asks in addition to its operation. Throws AccessDenied unless the key may do this too. */
  permit(permission: string): void
  /** Whether locks in GOVERNANCE mode may be passed over: asked for, and permitted to the key. Throws AccessDenied when asked for and not permitted. */
  mayBypassGovernance(asked: boolean | undefined): boolean
  /** Another bucket, or the same for something else: the source of a copy. */
  scopeOf(bucket: string, permission: string, expectedOwner: string | undefined): BucketScope
}

export const defineOperation = operationsIn<OperationContext>()
