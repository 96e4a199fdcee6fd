/** What a request is to an operation: what the protocol layer found out, and what `run` adds before a handler sees it. */
import type { ContextValue } from '../access/access-request.ts'
import type { Principal } from '../auth/principal.ts'
import type { Backend } from '../commits/backend.ts'
import type { BucketScope } from '../commits/scope.ts'
import { operationsIn } from '../contract/operation.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import type { AccountBlocks } from './account-blocks.ts'
import type { ExistingObject } from './authorize.ts'

/** See `ContextValue`. */
export type ConditionValue = ContextValue

export interface OperationRequest {
  backend: Backend
  principal: Principal
  /** What the request says of a condition key of policies. */
  conditionValue(key: string): ConditionValue
  /** Those that a decision needed to know and that are not read with their bucket; by `resourceId`. */
  existing?: ReadonlyMap<string, ExistingObject> | undefined
  /** The name that lists show of an account. */
  accountName(accountId: string): string
  isAccount(accountId: string): boolean
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
  /** Absent: accounts block nothing. */
  accountBlocks?: AccountBlocks | undefined
}

/** An account, as lists show it. */
export interface OwnerElement {
  ID: string
  DisplayName: string
}

/** A bucket as one request may use it. */
export interface AskingScope extends BucketScope {
  /**
   * For what a document or a header asks in addition to the operation: to do this, too. Throws AccessDenied, here or, where the bucket is not read yet, when it
   * is admitted.
   */
  ask(permission: string): void
}

/** `key` is empty for the bucket itself. */
export interface ScopedResource {
  bucket: string
  key: string
  versionId?: string | undefined
}

/** Tells resources apart: no name of a bucket has a slash in it, and no version's name a space. */
export const resourceId = ({ bucket, key, versionId = '' }: ScopedResource): string => `${bucket}/${versionId} ${key}`

export interface OperationContext extends OperationRequest {
  /** The addressed bucket or object, as far as this request may use it. */
  scope: AskingScope
  /** To whom a bucket belongs, or an account as an owner. */
  ownerOf(bucket: Pick<BucketRecord, 'owner'>): OwnerElement
  /** Whether locks in GOVERNANCE mode may be passed over: asked for, and permitted. `scope` throws AccessDenied when it is asked for and not permitted. */
  mayBypassGovernance(asked: boolean | undefined): boolean
  /** Another object, or the same for something else: the source of a copy. */
  scopeOf(resource: ScopedResource, permission: string, expectedOwner: string | undefined): AskingScope
}

export const defineOperation = operationsIn<OperationContext>()
