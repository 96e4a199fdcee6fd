/** A request as an operation sees it: what the protocol layer found out, and what `run` adds for the handler. */
import type { ContextValue } from '../access/access-request.ts'
import type { Principal } from '../auth/principal.ts'
import type { Backend } from '../commits/backend.ts'
import type { BucketScope } from '../commits/scope.ts'
import { operationsIn } from '../contract/operation.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import type { AccountBlocks } from './access/account-blocks.ts'
import type { ExistingObject } from './access/authorize.ts'

/** See `ContextValue`. */
export type ConditionValue = ContextValue

export interface OperationRequest {
  backend: Backend
  principal: Principal
  /** The request's value for a condition key of policies. */
  conditionValue(key: string): ConditionValue
  /** Objects that a decision needed and that were not read with their bucket, by `resourceId`. */
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
  /** Whether clients may send keys of SSE-C over this connection: it is encrypted or local, or the operator has declared it safe. */
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
   * Checks a permission that a document or a header needs in addition to the operation's own. Throws AccessDenied at once, or from `admit` if the bucket has
   * not been read yet.
   */
  ask(permission: string): void
}

/** `key` is empty for the bucket itself. */
export interface ScopedResource {
  bucket: string
  key: string
  versionId?: string | undefined
  /** Every object whose key begins with `key`, which ends with a star: what is asked must be permitted for each. */
  everyKey?: boolean
  /** The request continues this upload to the key. */
  uploadId?: string | undefined
  /** A key that the bucket lacks. Whoever may list keys with it as their prefix may know that. */
  absentKey?: string
}

/** Unique for each resource, because bucket names contain no slash and version ids no space. */
export const resourceId = ({ bucket, key, versionId = '' }: ScopedResource): string => `${bucket}/${versionId} ${key}`

export interface OperationContext extends OperationRequest {
  /** The addressed bucket or object, as far as this request may use it. */
  scope: AskingScope
  /** The owner of a bucket, or any account id given as `owner`, as lists show it. */
  ownerOf(bucket: Pick<BucketRecord, 'owner'>): OwnerElement
  /** True when the request asks to bypass locks in GOVERNANCE mode. Then `scope` checks the permission to do so, and throws AccessDenied without it. */
  mayBypassGovernance(asked: boolean | undefined): boolean
  /** The scope of another resource, such as the source of a copy, or of the same one for another permission. */
  scopeOf(resource: ScopedResource, permission: string, expectedOwner: string | undefined): AskingScope
}

export const defineOperation = operationsIn<OperationContext>()
