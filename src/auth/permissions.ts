/** Who may do what. Pure. An account may do everything with what it owns, as far as its key permits, and nothing with what others own. */
import { S3Error } from '../errors.ts'
import type { Principal } from './principal.ts'

/** The resource of a permission: a bucket, or something in it. */
export interface OwnedResource {
  /** Account id. */
  owner: string
}

/**
 * Throws AccessDenied unless `principal` has `permission` (S3's name for it: `s3:GetObject`). Without `permission`, checks only the resource.
 * Without `resource`, checks whether the account may use the operation at all; check again when the resource is known.
 * `expectedOwner` is the account that the client believes to own the resource.
 */
export function permits(
  principal: Principal,
  permission: string | undefined,
  resource: OwnedResource | undefined,
  expectedOwner?: string,
): void {
  if (permission !== undefined && !keyPermits(principal, permission)) throw refusal(permission)
  if (resource === undefined) return
  if (expectedOwner !== undefined && expectedOwner !== resource.owner) throw new S3Error('AccessDenied')
  if (resource.owner === principal.accountId) return
  throw refusal(permission)
}

function refusal(permission: string | undefined): S3Error {
  if (permission === undefined) return new S3Error('AccessDenied')
  return new S3Error('AccessDenied', {
    message: `This access key is not permitted to perform ${permission} on this resource.`,
  })
}

/** `s3:Get*`: one star stands for any characters. Case does not matter, as in AWS's policies. */
function keyPermits({ permissions }: Principal, permission: string): boolean {
  if (permissions === undefined) return true
  const asked = permission.toLowerCase()
  return permissions.some((pattern) => {
    const [start = '', end] = pattern.toLowerCase().split('*')
    if (end === undefined) return asked === start
    return asked.length >= start.length + end.length && asked.startsWith(start) && asked.endsWith(end)
  })
}
