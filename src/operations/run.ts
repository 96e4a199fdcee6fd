/** Runs an operation: permit, then handle. The permission is asked again, with the bucket's owner, wherever a handler reaches a bucket. */
import { permits } from '../auth/permissions.ts'
import type { Principal } from '../auth/principal.ts'
import type { BucketScope } from '../commits/scope.ts'
import type { Answer, Operation, Permissions } from '../contract/operation.ts'
import { notImplemented, S3Error } from '../errors.ts'
import { findBucket } from '../objects/buckets.ts'
import type { BucketRecord } from '../records/bucket-record.ts'
import { checkBucketNameLength } from './bucket-name.ts'
import type { OperationContext, OperationRequest } from './context.ts'

/** Rejects with AccessDenied, NotImplemented, InvalidBucketName, and what the handler throws. */
export function run(
  operation: Operation<OperationContext>,
  request: OperationRequest,
  input: Record<string, unknown>,
): Promise<Answer> {
  // Not asynchronous itself, as a promise that waits for the handler's would cost each request some turns of the microtask queue.
  try {
    const scope = permittedScope(operation, request, input)
    if (!operation.implemented) throw notImplemented(operation.name)
    return operation.handle(new RequestContext(request, scope), input)
  } catch (error) {
    return Promise.reject(error)
  }
}

/**
 * What to throw for a request that failed with `error`. S3 looks for the bucket before it looks at headers and bodies, so where those are wrong and
 * the bucket is not there, NoSuchBucket takes their place; and AccessDenied where it is not the asker's. The bucket is looked up only now: no good
 * request pays for it. `input` is what could be read of it.
 */
export async function bucketFirst(
  operation: Operation<OperationContext>,
  request: OperationRequest,
  input: Record<string, unknown>,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof S3Error) || !saysRequestIsWrong(error)) return error
  // To one operation the bucket need not be there: it makes it.
  if (!operation.errors.includes('NoSuchBucket')) return error
  try {
    await findBucket(request.backend, permittedScope(operation, request, input))
    return error
  } catch (instead) {
    return instead
  }
}

const saysRequestIsWrong = ({ status, code }: S3Error): boolean => status === 400 || code === 'MissingContentLength'

/** Throws AccessDenied where the key may not do this in any bucket. */
function permittedScope(
  operation: Operation<OperationContext>,
  request: OperationRequest,
  input: Record<string, unknown>,
): RequestScope {
  const permissions = permissionsFor(operation, input)
  for (const permission of permissions) permits(request.principal, permission, undefined)
  // Even if the handler asks for each permission by itself, the bucket must belong to the right account.
  return new RequestScope(request, request.bucket, permissions.length === 0 ? withoutName : permissions)
}

const withoutName: readonly (string | undefined)[] = [undefined]

class RequestScope implements BucketScope {
  readonly name: string
  readonly #principal: Principal
  readonly #asked: readonly (string | undefined)[]
  readonly #expectedOwner: string | undefined

  /** Throws InvalidBucketName. */
  constructor(
    { principal, expectedBucketOwner }: Pick<OperationRequest, 'principal' | 'expectedBucketOwner'>,
    name: string,
    asked: readonly (string | undefined)[],
  ) {
    checkBucketNameLength(name)
    this.name = name
    this.#principal = principal
    this.#asked = asked
    this.#expectedOwner = expectedBucketOwner
  }

  admit(bucket: BucketRecord): void {
    for (const permission of this.#asked) permits(this.#principal, permission, bucket, this.#expectedOwner)
  }
}

/** Field by field, and what few handlers ask for made when they ask: every request comes by here. */
class RequestContext implements OperationContext {
  readonly backend: OperationContext['backend']
  readonly principal: Principal
  readonly requestId: string
  readonly presigned: boolean
  readonly bucket: string
  readonly key: string
  readonly expectedBucketOwner: string | undefined
  readonly resourceUrl: string
  readonly region: string
  readonly customerKeysMayTravel: boolean
  readonly scope: BucketScope

  constructor(request: OperationRequest, scope: BucketScope) {
    this.backend = request.backend
    this.principal = request.principal
    this.requestId = request.requestId
    this.presigned = request.presigned
    this.bucket = request.bucket
    this.key = request.key
    this.expectedBucketOwner = request.expectedBucketOwner
    this.resourceUrl = request.resourceUrl
    this.region = request.region
    this.customerKeysMayTravel = request.customerKeysMayTravel
    this.scope = scope
  }

  get permit(): OperationContext['permit'] {
    return (permission) => permits(this.principal, permission, undefined)
  }

  get mayBypassGovernance(): OperationContext['mayBypassGovernance'] {
    return (asked) => {
      if (asked === true) this.permit('s3:BypassGovernanceRetention')
      return asked === true
    }
  }

  get scopeOf(): OperationContext['scopeOf'] {
    return (bucket, permission, expectedOwner) =>
      new RequestScope({ principal: this.principal, expectedBucketOwner: expectedOwner }, bucket, [permission])
  }
}

/**
 * To read, delete or tag a version that is not the current one is a right of its own: a key without it can't destroy what versioning keeps. So is
 * what a header asks for in addition to the operation: to lock, to tag.
 */
function permissionsFor(operation: Operation<OperationContext>, input: Record<string, unknown>): readonly string[] {
  const { current, version, byField } = compiledPermissions(operation)
  const own = input.versionId === undefined ? current : version
  if (byField.length === 0) return own
  const asked = [...own]
  for (const [name, needed] of byField) {
    const value = input[name]
    if (value !== undefined && value !== false) asked.push(...needed)
  }
  return asked
}

interface CompiledPermissions {
  current: readonly string[]
  version: readonly string[]
  /** Fields that need permissions of their own when they are sent. */
  byField: readonly (readonly [name: string, needed: readonly string[]])[]
}

const compiled = new WeakMap<Operation<OperationContext>, CompiledPermissions>()

function compiledPermissions(operation: Operation<OperationContext>): CompiledPermissions {
  const known = compiled.get(operation)
  if (known !== undefined) return known
  const { permission, versionPermission = permission, input } = operation
  const listed = (one: Permissions): readonly string[] => (typeof one === 'string' ? [one] : one)
  const byField = Object.entries(input).flatMap(([name, { permissions }]) =>
    permissions === undefined ? [] : [[name, permissions] as const],
  )
  const made = { current: listed(permission), version: listed(versionPermission), byField }
  compiled.set(operation, made)
  return made
}
