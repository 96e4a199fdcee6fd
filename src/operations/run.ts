/** Runs an operation. Permissions are checked where a handler reaches a bucket, because the bucket's owner and policy take part in the decision. */
import { nobody, type Principal } from '../auth/principal.ts'
import type { Backend } from '../commits/backend.ts'
import { lastSeen } from '../commits/scope.ts'
import type { Answer, Operation, Permissions } from '../contract/operation.ts'
import { notImplemented, S3Error } from '../errors.ts'
import { findBucket } from '../objects/buckets.ts'
import { findVersion } from '../objects/find-version.ts'
import type { ExistingObject } from './access/authorize.ts'
import { BucketlessScope, ObjectNeededOf, RequestScope } from './access/request-scope.ts'
import { regionOf } from './buckets/location-constraint.ts'
import {
  type AskingScope,
  type OperationContext,
  type OperationRequest,
  resourceId,
  type ScopedResource,
} from './context.ts'

/** Rejects with AccessDenied, NotImplemented, InvalidBucketName, and what the handler throws. */
export function run(
  operation: Operation<OperationContext>,
  request: OperationRequest,
  input: Record<string, unknown>,
): Promise<Answer> {
  // Not async: a promise that waits for the handler's promise would cost each request some turns of the microtask queue.
  try {
    const scope = scopeOf(operation, request, input)
    if (!operation.implemented) throw notImplemented(operation.name)
    return operation.handle(new RequestContext(request, scope), input)
  } catch (error) {
    return Promise.reject(error)
  }
}

/**
 * Handles a request that failed with `error`: returns an answer after all, or throws the error that the client gets. Lookups happen only here, so a request
 * that succeeds pays nothing for them. `input` holds the fields that could be read.
 */
export async function runAfter(
  error: unknown,
  operation: Operation<OperationContext>,
  request: OperationRequest,
  input: Record<string, unknown>,
): Promise<Answer> {
  // A handler checks permissions before it reads the body, so it can run again.
  if (error instanceof ObjectNeededOf) return runWithObject(error.resource, operation, request, input)
  if (!(error instanceof S3Error)) throw error
  if (isMissingObject(error)) throw await hiddenFromStrangers(error, operation, request)
  throw withRegion(await bucketFirst(operation, request, input, error), operation, request)
}

const tellingRegion: ReadonlySet<string> = new Set(['HeadBucket', 'ListObjects', 'ListObjectsV2'])

/**
 * S3 names the bucket's region also to those whom it refuses, and clients look it up so before they sign. An unsigned request gets this server's region, also
 * where there is no bucket, because the bucket's own would tell that there is one.
 */
function withRegion(
  error: S3Error,
  { name }: Operation<OperationContext>,
  { bucket, principal, region }: OperationRequest,
): S3Error {
  if (error.code !== 'AccessDenied' || !tellingRegion.has(name)) return error
  const constraint = principal === nobody ? undefined : lastSeen(bucket)?.locationConstraint
  const { message, reason } = error
  const vendorHeaders = { 'bucket-region': regionOf(constraint, region) }
  return new S3Error('AccessDenied', { message, vendorHeaders, ...(reason === undefined ? {} : { reason }) })
}

async function runWithObject(
  resource: ScopedResource,
  operation: Operation<OperationContext>,
  request: OperationRequest,
  input: Record<string, unknown>,
): Promise<Answer> {
  const again = await withExisting(request, resource)
  try {
    return await run(operation, again, input)
  } catch (error) {
    return runAfter(error, operation, again, input)
  }
}

async function withExisting(request: OperationRequest, resource: ScopedResource): Promise<OperationRequest> {
  const known = request.existing ?? new Map<string, ExistingObject>()
  const id = resourceId(resource)
  if (known.has(id)) throw new Error('a decision needs an object that was already read for it')
  return { ...request, existing: new Map([...known, [id, await existingOf(request.backend, resource)]]) }
}

/** The object that a decision needs; `none` when there is none. Only the decision sees it, so no permission is checked for this read. */
export async function existingOf(
  backend: Pick<Backend, 'kv'>,
  { bucket, key, versionId }: ScopedResource,
): Promise<ExistingObject> {
  try {
    const { record } = await findVersion(backend, { name: bucket, admit: () => {} }, key, versionId)
    return record.attributes
  } catch (error) {
    if (error instanceof S3Error) return 'none'
    throw error
  }
}

const isMissingObject = ({ code }: S3Error): boolean => code === 'NoSuchKey' || code === 'NoSuchVersion'

/** Turns the error into AccessDenied for a principal that may not list the bucket, so that a missing object looks like a private one. */
async function hiddenFromStrangers(
  error: S3Error,
  operation: Operation<OperationContext>,
  request: OperationRequest,
): Promise<S3Error> {
  if (operation.target !== 'object' || !reachesBucket(operation)) return error
  // The permission is about the bucket itself, so no policy can need an object's tags.
  const listed = { ...request, key: '', absentKey: request.key, expectedBucketOwner: undefined }
  const scope = new RequestScope(listed, listed, ['s3:ListBucket'])
  const seen = lastSeen(request.bucket)
  // Nearly always the record that this request read. A copy reads its source before this bucket, so after a missing source the record can be older.
  if (seen !== undefined && (await refusalOf(async () => scope.admit(seen))) === undefined) return error
  const refusal = await refusalOf(() => findBucket(request.backend, scope))
  return refusal === undefined ? error : denied(refusal)
}

/** AccessDenied without a hint for the client. The reason goes only to the log. */
const denied = ({ reason }: S3Error): S3Error => new S3Error('AccessDenied', reason === undefined ? {} : { reason })

/**
 * S3 looks up the bucket before it checks headers and bodies. So when a header or a body is wrong, the answer is NoSuchBucket if the bucket is missing, and
 * AccessDenied if the request is not permitted. An unsigned request gets only AccessDenied unless the bucket admits it.
 */
async function bucketFirst(
  operation: Operation<OperationContext>,
  request: OperationRequest,
  input: Record<string, unknown>,
  error: S3Error,
): Promise<S3Error> {
  const isUnsigned = request.principal === nobody
  if (!isUnsigned && !saysRequestIsWrong(error)) return error
  // Some operations do not need the bucket to exist.
  if (!reachesBucket(operation)) return isUnsigned ? new S3Error('AccessDenied') : error
  const permissions = permissionsFor(operation, input)
  const ask = (asking: OperationRequest): Promise<S3Error | undefined> =>
    refusalOf(() => findBucket(asking.backend, new RequestScope(asking, asking, permissions)))
  const instead = await ask(request).catch(async (needed: unknown) => {
    if (!(needed instanceof ObjectNeededOf)) throw needed
    return ask(await withExisting(request, needed.resource))
  })
  if (instead === undefined) return error
  return isUnsigned ? denied(instead) : instead
}

/** The error of a refused request. */
async function refusalOf(ask: () => Promise<unknown>): Promise<S3Error | undefined> {
  try {
    await ask()
    return undefined
  } catch (error) {
    if (error instanceof S3Error) return error
    throw error
  }
}

const saysRequestIsWrong = ({ status, code }: S3Error): boolean => status === 400 || code === 'MissingContentLength'

const reachesBucket = ({ errors }: Operation<OperationContext>): boolean => errors.includes('NoSuchBucket')

function scopeOf(
  operation: Operation<OperationContext>,
  request: OperationRequest,
  input: Record<string, unknown>,
): AskingScope {
  const permissions = permissionsFor(operation, input)
  const { conditions } = operation
  const declaredConditions = conditions && (() => conditions(input))
  return reachesBucket(operation)
    ? new RequestScope(request, resourceOf(request, input), permissions, declaredConditions)
    : new BucketlessScope(request, request.bucket, permissions, declaredConditions)
}

/** Most requests name no version and no upload and are their own resource, which saves an object per request. */
function resourceOf(request: OperationRequest, { versionId, uploadId }: Record<string, unknown>): ScopedResource {
  const { bucket, key } = request
  if (typeof uploadId === 'string') return { bucket, key, uploadId }
  return typeof versionId === 'string' ? { bucket, key, versionId } : request
}

/** Every request makes one, so fields are copied one by one, and getters make what few handlers use. */
class RequestContext implements OperationContext {
  readonly backend: OperationContext['backend']
  readonly principal: Principal
  readonly conditionValue: OperationContext['conditionValue']
  readonly existing: OperationContext['existing']
  readonly accountName: OperationContext['accountName']
  readonly isAccount: OperationContext['isAccount']
  readonly requestId: string
  readonly presigned: boolean
  readonly bucket: string
  readonly key: string
  readonly expectedBucketOwner: string | undefined
  readonly resourceUrl: string
  readonly region: string
  readonly customerKeysMayTravel: boolean
  readonly accountBlocks: OperationContext['accountBlocks']
  readonly scope: AskingScope

  constructor(request: OperationRequest, scope: AskingScope) {
    this.backend = request.backend
    this.principal = request.principal
    this.conditionValue = request.conditionValue
    this.existing = request.existing
    this.accountName = request.accountName
    this.isAccount = request.isAccount
    this.requestId = request.requestId
    this.presigned = request.presigned
    this.bucket = request.bucket
    this.key = request.key
    this.expectedBucketOwner = request.expectedBucketOwner
    this.resourceUrl = request.resourceUrl
    this.region = request.region
    this.customerKeysMayTravel = request.customerKeysMayTravel
    this.accountBlocks = request.accountBlocks
    this.scope = scope
  }

  get ownerOf(): OperationContext['ownerOf'] {
    return ({ owner }) => ({ ID: owner, DisplayName: this.accountName(owner) })
  }

  get mayBypassGovernance(): OperationContext['mayBypassGovernance'] {
    return (asked) => {
      if (asked === true) this.scope.ask('s3:BypassGovernanceRetention')
      return asked === true
    }
  }

  get scopeOf(): OperationContext['scopeOf'] {
    return (resource, permission, expectedBucketOwner) =>
      new RequestScope({ ...this, expectedBucketOwner }, resource, [permission])
  }
}

/**
 * A request that names a version needs a permission of its own, so a key without it can't destroy what versioning keeps. A header that asks for more than the
 * operation, such as a lock or tags, adds a permission too.
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
  /** Fields that need additional permissions when they are sent. */
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
