/** Grants of access control lists, and what blocks public ones. Pure. */

export type GrantPermission = 'FULL_CONTROL' | 'READ' | 'WRITE' | 'READ_ACP' | 'WRITE_ACP'

export type Grantee =
  | { readonly kind: 'account'; readonly accountId: string }
  /** Whoever signed, of any account. */
  | { readonly kind: 'authenticated' }
  | { readonly kind: 'everyone' }

export interface Grant {
  readonly grantee: Grantee
  readonly permission: GrantPermission
}

export type ObjectOwnership = 'BucketOwnerEnforced' | 'BucketOwnerPreferred' | 'ObjectWriter'

export interface PublicAccessBlock {
  readonly blockPublicAcls: boolean
  readonly ignorePublicAcls: boolean
  readonly blockPublicPolicy: boolean
  readonly restrictPublicBuckets: boolean
}

export const noPublicAccessBlock: PublicAccessBlock = {
  blockPublicAcls: false,
  ignorePublicAcls: false,
  blockPublicPolicy: false,
  restrictPublicBuckets: false,
}
