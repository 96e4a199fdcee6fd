/** Runs an operation: permit, then handle. The permission is asked again, with the bucket's owner, wherever a handler reaches a bucket. */
import { permits } from '../auth/permissions.ts'
import type { Answer, Operation } from '../contract/operation.ts'
import { notImplemented } from '../errors.ts'
import type { BucketScope } from '../store/scope.ts'
import { checkBucketNameLength } from './bucket-name.ts'
import type { OperationContext, OperationRequest } from './context.ts'

/** Throws AccessDenied, NotImplemented, InvalidBucketName, and what the handler throws. */
export async function run(
  operation: Operation<OperationContext>,
  request: OperationRequest,
  input: Record<string, unknown>,
): Promise<Answer> {
  const { principal } = request
  const permission = permissionFor(operation, input)
  permits(principal, permission, undefined)
  if (!operation.implemented) throw notImplemented(operation.name)

  const scopeOf = (name: string, permission: string, expectedOwner: string | undefined): BucketScope => {
    checkBucketNameLength(name)
    return { name, admit: (bucket) => permits(principal, permission, bucket, expectedOwner) }
  }
  const scope = scopeOf(request.bucket, permission, request.expectedBucketOwner)
  const mayBypassGovernance = (asked: boolean | undefined): boolean => {
    if (asked === true) permits(principal, 's3:BypassGovernanceRetention', undefined)
    return asked === true
  }
  return operation.handle({ ...request, scope, scopeOf, mayBypassGovernance }, input)
}

/** To read, delete or tag a version that is not the current one is a right of its own: a key without it can't destroy what versioning keeps. */
function permissionFor(
  { permission, versionPermission = permission }: Operation<OperationContext>,
  { versionId }: Record<string, unknown>,
): string {
  return versionId === undefined ? permission : versionPermission
}
