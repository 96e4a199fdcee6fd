/** Runs an operation: permit, then handle. Permissions are asked wherever a handler reaches a bucket, as its owner and its policy decide with. */
import { nobody, type Principal } from '../auth/principal.ts'
import type { Backend } from '../commits/backend.ts'
import { lastSeen } from '../commits/scope.ts'
import type { Answer, Operation, Permissions } from '../contract/operation.ts'
import { notImplemented, S3Error } from '../errors.ts'
import { findBucket } from '../objects/buckets.ts'
import { findVersion } from '../objects/find-version.ts'
import type { ExistingObject } from './authorize.ts'
import {
  type AskingScope,
  type OperationContext,
  type OperationRequest,
  resourceId,
  type ScopedResource,
} from './context.ts'
import { ObjectNeededOf, RequestScope, UnmadeScope } from './request-scope.ts'

/** Rejects with AccessDenied, NotImplemented, InvalidBucketName, and what the handler throws. */
export function run(
  operation: Operation<OperationContext>,
  request: OperationRequest,
  input: Record<string, unknown>,
): Promise<Answer> {
  // Not asynchronous itself, as a promise that waits for the handler's would cost each request some turns of the microtask queue.
  try {
    const scope = scopeOf(operation, request, input)
    if (!operation.implemented) throw notImplemented(operation.name)
    return operation.handle(new RequestContext(request, scope), input)
  } catch (error) {
    return Promise.reject(error)
  }
}

/**
 * What becomes of a request that failed with `error`: what to answer instead, or to throw. Only now is anything looked up: no request that succeeds pays for
 * it. `input` is what could be read of it.
 */
export async function runAfter(
  error: unknown,
  operation: Operation<OperationContext>,
  request: OperationRequest,
  input: Record<string, unknown>,
): Promise<Answer> {
  // A handler asks before it takes anything of the body.
  if (error instanceof ObjectNeededOf) return runWithObject(error.resource, operation, request, input)
  if (!(error instanceof S3Error)) throw error
  if (isMissingObject(error)) throw await hiddenFromStrangers(error, operation, request)
  throw await bucketFirst(operation, request, input, error)
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
  if (known.has(id)) throw new Error('an object is asked for again')
  return { ...request, existing: new Map([...known, [id, await existingOf(request.backend, resource)]]) }
}

/** Where there is no such object, a policy finds the key of its condition missing. Read for the decision alone, so that nobody is asked. */
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

/** To whoever may not list the bucket, what is missing looks like what is private. */
async function hiddenFromStrangers(
  error: S3Error,
  operation: Operation<OperationContext>,
  request: OperationRequest,
): Promise<S3Error> {
  if (operation.target !== 'object' || !reachesBucket(operation)) return error
  // Asked of the bucket, which has no tags that a policy could need.
  const listed = { ...request, key: '', expectedBucketOwner: undefined }
  const scope = new RequestScope(listed, listed, ['s3:ListBucket'])
  const seen = lastSeen(request.bucket)
  // As it was when it was read for this request, nearly always. The source of a copy is read before it, so that what it says may be old.
  if (seen !== undefined && (await refusalOf(async () => scope.admit(seen))) === undefined) return error
  const refusal = await refusalOf(() => findBucket(request.backend, scope))
  return refusal === undefined ? error : denied(refusal)
}

/** With nothing that would tell the client why; the log is told. */
const denied = ({ reason }: S3Error): S3Error => new S3Error('AccessDenied', reason === undefined ? {} : { reason })

/**
 * S3 looks for the bucket before it looks at headers and bodies, so where those are wrong and the bucket is not there, NoSuchBucket takes their place; and
 * AccessDenied where the asker may not do this there. Whoever did not sign is told nothing else of what is not open to all.
 */
async function bucketFirst(
  operation: Operation<OperationContext>,
  request: OperationRequest,
  input: Record<string, unknown>,
  error: S3Error,
): Promise<S3Error> {
  const isUnsigned = request.principal === nobody
  if (!isUnsigned && !saysRequestIsWrong(error)) return error
  // To some operations the bucket need not be there.
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

/** Why the bucket does not admit the request. */
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
  const said = conditions && (() => conditions(input))
  return reachesBucket(operation)
    ? new RequestScope(request, resourceOf(request, input.versionId), permissions, said)
    : new UnmadeScope(request, request.bucket, permissions, said)
}

/** The request itself, as most name no version. */
function resourceOf(request: OperationRequest, versionId: unknown): ScopedResource {
  return typeof versionId === 'string' ? { bucket: request.bucket, key: request.key, versionId } : request
}

/** Field by field, and what few handlers ask for made when they ask: every request comes by here. */
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
