/** A bucket, or an object in it, as one request may use it. Permissions are checked when the bucket's record has been read. */
import type { Principal } from '../../auth/principal.ts'
import type { ContinuedUpload, ReadExisting } from '../../commits/scope.ts'
import type { ConditionValues } from '../../contract/operation.ts'
import { S3Error } from '../../errors.ts'
import type { BucketRecord } from '../../records/bucket-record.ts'
import type { EventSender } from '../../records/notifications.ts'
import { checkBucketNameLength } from '../bucket-name.ts'
import {
  type AskingScope,
  type ConditionValue,
  type OperationRequest,
  resourceId,
  type ScopedResource,
} from '../context.ts'
import { encryptionOutputs } from '../objects/encryption.ts'
import { withAccountBlock } from './account-blocks.ts'
import { type Asker, authorize, type ExistingObject, ObjectNeeded } from './authorize.ts'

/** Names the object that a decision needs: `run` reads it and runs the operation again. */
export class ObjectNeededOf extends ObjectNeeded {
  readonly resource: ScopedResource

  constructor(resource: ScopedResource) {
    super()
    this.resource = resource
  }
}

/** The condition values that the operation's declaration derives from its input. Called only when a policy needs one. */
type DeclaredConditions = () => ConditionValues

const noConditions: DeclaredConditions = () => ({})
const requestedTag = 's3:RequestObjectTag/'
const requestedTagKeys = 's3:RequestObjectTagKeys'
const dayMs = 24 * 60 * 60 * 1000

export type ScopedRequest = Pick<
  OperationRequest,
  'principal' | 'conditionValue' | 'existing' | 'expectedBucketOwner' | 'accountBlocks' | 'requestId'
>

export class RequestScope implements AskingScope, Asker {
  readonly name: string
  readonly #request: ScopedRequest
  readonly #resource: ScopedResource
  readonly #declaredConditions: DeclaredConditions
  #asked: readonly string[]
  #bucket: BucketRecord | undefined
  #existing: ReadExisting | undefined
  #upload: ContinuedUpload | undefined

  /** `asked`: permissions that every use of the bucket needs. Throws NoSuchBucket for a name that none can have. */
  constructor(
    request: ScopedRequest,
    resource: ScopedResource,
    asked: readonly string[],
    declaredConditions = noConditions,
  ) {
    checkBucketNameLength(resource.bucket)
    this.name = resource.bucket
    this.#request = request
    this.#resource = resource
    this.#asked = asked
    this.#declaredConditions = declaredConditions
  }

  get principal(): Principal {
    return this.#request.principal
  }

  get sender(): EventSender {
    const { principal, requestId, conditionValue } = this.#request
    const sourceIp = conditionValue('aws:SourceIp')
    return {
      principalId: principal.user?.id ?? principal.accountId,
      sourceIp: typeof sourceIp === 'string' ? sourceIp : '',
      requestId,
    }
  }

  existing(): ExistingObject | undefined {
    if (this.#resource.everyKey) return 'none'
    // The operation works on the object that was read with the bucket, so the decision is about that one.
    if (this.#existing !== undefined) return this.#existing() ?? 'none'
    return this.#request.existing?.get(resourceId(this.#resource))
  }

  conditionValue(key: string): ConditionValue {
    if (key === 's3:object-lock-remaining-retention-days') return this.#retentionDays()
    // Not the request's version: a copy's source and each entry of a DeleteObjects have a scope with their own.
    if (key === 's3:versionid') return this.#resource.versionId
    if (key === 's3:prefix' && this.#resource.absentKey !== undefined) return this.#resource.absentKey
    const declared = this.#declaredConditions()
    // A header that has no effect satisfies no condition.
    if (key in declared || (key.startsWith(requestedTag) && requestedTagKeys in declared)) return declared[key]
    return this.#request.conditionValue(key) ?? this.#valueOfUpload(key)
  }

  admit(bucket: BucketRecord, existing?: ReadExisting, upload?: ContinuedUpload): void {
    this.#existing = existing
    this.#upload ??= upload
    const { expectedBucketOwner } = this.#request
    if (expectedBucketOwner !== undefined && expectedBucketOwner !== bucket.owner) throw new S3Error('AccessDenied')
    if (this.#asked.length === 0) refuseStranger(this.#request, bucket)
    for (const permission of this.#asked) this.#authorize(permission, bucket)
    this.#bucket = bucket
  }

  ask(permission: string): void {
    if (this.#bucket !== undefined) this.#authorize(permission, this.#bucket)
    else this.#asked = [...this.#asked, permission]
  }

  /** Days from the time of the request to the retention date that it asks for, rounded up. */
  #retentionDays(): string | undefined {
    const [until, now] = ['s3:object-lock-retain-until-date', 'aws:CurrentTime'].map((key) => this.conditionValue(key))
    const days = (Date.parse(String(until)) - Date.parse(String(now))) / dayMs
    return Number.isNaN(days) ? undefined : String(Math.ceil(days))
  }

  /** Clients name the encryption only when they begin an upload. So S3 lets it count for the parts and the end, except for a customer's key, which each request has to bring. */
  #valueOfUpload(key: string): ConditionValue {
    const { serverSideEncryption, kmsKeyId } = encryptionOutputs(this.#upload?.encryption, {})
    if (key === 's3:x-amz-server-side-encryption') return serverSideEncryption
    return key === 's3:x-amz-server-side-encryption-aws-kms-key-id' ? kmsKeyId : undefined
  }

  #authorize(permission: string, record: BucketRecord): void {
    const bucket = withAccountBlock(record, this.#request.accountBlocks)
    try {
      const written = permission === 's3:PutObjectAcl' && this.#asked.includes('s3:PutObject')
      const { key, everyKey, uploadId } = this.#resource
      const begun = uploadId !== undefined
      const initiator = this.#upload?.initiator
      authorize(this, { permission, name: this.name, bucket, key, everyKey, written, begun, initiator })
    } catch (error) {
      throw error instanceof ObjectNeeded ? new ObjectNeededOf(this.#resource) : error
    }
  }
}

/** For a request whose handler checks each permission itself: throws AccessDenied, so that a bucket without a policy or grants does not reveal that it exists. */
function refuseStranger({ principal }: ScopedRequest, { owner, policy, grants, unconfirmed }: BucketRecord): void {
  if (owner === principal.accountId) return
  const isOpened = policy !== undefined || grants !== undefined
  if (!isOpened || unconfirmed === true) throw new S3Error('AccessDenied')
}

/** The scope of an operation on no bucket, or on a bucket that does not exist yet. */
export class BucketlessScope implements AskingScope {
  readonly name: string
  readonly #asker: Asker

  /** Throws AccessDenied, InvalidBucketName. */
  constructor(request: ScopedRequest, name: string, asked: readonly string[], declaredConditions = noConditions) {
    this.name = name
    this.#asker = {
      principal: request.principal,
      conditionValue: (key) => declaredConditions()[key] ?? request.conditionValue(key),
    }
    if (name !== '') checkBucketNameLength(name, 'InvalidBucketName')
    for (const permission of asked) this.ask(permission)
  }

  admit(): never {
    throw new Error('an operation reads a bucket although its declaration says that it needs none')
  }

  ask(permission: string): void {
    authorize(this.#asker, { permission, name: this.name, bucket: undefined, key: '' })
  }
}
