/** Who may do what. Pure. Today an account may do everything with what it owns, and nothing with what others own. */
import { S3Error } from '../errors.ts'
import type { Principal } from './principal.ts'

/** What a permission is asked for: a bucket, or what lies in it. */
export interface OwnedResource {
  /** Account id. */
  owner: string
}

/**
 * Throws AccessDenied unless `principal` has `permission` (S3's name for it: `s3:GetObject`).
 * Without `resource` it asks whether the account may use the operation at all; ask again when the resource is known.
 * `expectedOwner` is the account that the client believes to own the resource.
 */
export function permits(
  principal: Principal,
  permission: string,
  resource: OwnedResource | undefined,
  expectedOwner?: string,
): void {
  if (resource === undefined) return
  if (expectedOwner !== undefined && expectedOwner !== resource.owner) throw new S3Error('AccessDenied')
  if (resource.owner === principal.accountId) return
  throw new S3Error('AccessDenied', {
    message: `This access key is not permitted to perform ${permission} on this resource.`,
  })
}
