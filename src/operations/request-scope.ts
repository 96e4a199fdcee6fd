/** A bucket, or an object in it, as one request may use it: each permission is asked of the decision once the bucket's record is there. */
import { S3Error } from '../errors.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import { authorize } from './authorize.ts'
import { checkBucketNameLength } from './bucket-name.ts'
import type { AskingScope, OperationRequest, ScopedResource } from './context.ts'

export type ScopedRequest = Pick<
  OperationRequest,
  'principal' | 'conditionValue' | 'existingTags' | 'expectedBucketOwner'
>

export class RequestScope implements AskingScope {
  readonly name: string
  readonly #request: ScopedRequest
  readonly #key: string
  #asked: readonly string[]
  #bucket: BucketRecord | undefined

  /** `asked`: permissions that every use of the bucket takes. Throws InvalidBucketName. */
  constructor(request: ScopedRequest, { bucket, key }: ScopedResource, asked: readonly string[]) {
    checkBucketNameLength(bucket)
    this.name = bucket
    this.#request = request
    this.#key = key
    this.#asked = asked
  }

  admit(bucket: BucketRecord): void {
    const { expectedBucketOwner } = this.#request
    if (expectedBucketOwner !== undefined && expectedBucketOwner !== bucket.owner) throw new S3Error('AccessDenied')
    if (this.#asked.length === 0) admitStranger(this.#request, bucket)
    for (const permission of this.#asked) this.#authorize(permission, bucket)
    this.#bucket = bucket
  }

  ask(permission: string): void {
    if (this.#bucket !== undefined) this.#authorize(permission, this.#bucket)
    else this.#asked = [...this.#asked, permission]
  }

  #authorize(permission: string, bucket: BucketRecord): void {
    authorize(this.#request, { permission, bucket, key: this.#key })
  }
}

/** Where each thing that a request does is asked for by itself, a bucket that nothing opens to others must not show that it is there. */
function admitStranger({ principal }: ScopedRequest, { owner, policy }: BucketRecord): void {
  if (owner !== principal.accountId && policy === undefined) throw new S3Error('AccessDenied')
}

/** Of an operation on no bucket, or on one that is still to be made. */
export class UnmadeScope implements AskingScope {
  readonly name: string
  readonly #request: ScopedRequest

  /** Throws AccessDenied, InvalidBucketName. */
  constructor(request: ScopedRequest, name: string, asked: readonly string[]) {
    this.name = name
    this.#request = request
    if (name !== '') checkBucketNameLength(name)
    for (const permission of asked) this.ask(permission)
  }

  admit(): never {
    throw new Error('an operation reads a bucket that its declaration says it has none of')
  }

  ask(permission: string): void {
    authorize(this.#request, { permission, bucket: undefined, key: '' })
  }
}
