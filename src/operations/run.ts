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
  const permissions = permissionsFor(operation, input)
  for (const permission of permissions) permits(principal, permission, undefined)
  if (!operation.implemented) throw notImplemented(operation.name)

  const scopeFor = (
    name: string,
    asked: readonly (string | undefined)[],
    expectedOwner: string | undefined,
  ): BucketScope => {
    checkBucketNameLength(name)
    return {
      name,
      admit: (bucket) => {
        for (const permission of asked) permits(principal, permission, bucket, expectedOwner)
      },
    }
  }
  const scope = scopeFor(
    request.bucket,
    // Whose the bucket is must be right also where each thing is asked for by itself.
    permissions.length === 0 ? [undefined] : permissions,
    request.expectedBucketOwner,
  )
  const scopeOf: OperationContext['scopeOf'] = (name, permission, expectedOwner) =>
    scopeFor(name, [permission], expectedOwner)
  const permit = (permission: string): void => permits(principal, permission, undefined)
  const mayBypassGovernance = (asked: boolean | undefined): boolean => {
    if (asked === true) permit('s3:BypassGovernanceRetention')
    return asked === true
  }
  return operation.handle({ ...request, scope, scopeOf, permit, mayBypassGovernance }, input)
}

/**
 * To read, delete or tag a version that is not the current one is a right of its own: a key without it can't destroy what versioning keeps. So is
 * what a header asks for beside the operation: to lock, to tag.
 */
function permissionsFor(
  { permission, versionPermission = permission, input: fields }: Operation<OperationContext>,
  input: Record<string, unknown>,
): readonly string[] {
  const own = input.versionId === undefined ? permission : versionPermission
  const asked = typeof own === 'string' ? [own] : [...own]
  for (const name of Object.keys(input)) {
    const value = input[name]
    if (value !== undefined && value !== false) asked.push(...(fields[name]?.permissions ?? []))
  }
  return asked
}
