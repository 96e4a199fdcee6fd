/** What an access control list holds, as the records of buckets and objects keep it. */

/** Who gets the permission: one account, every signed request, or everyone. */
export type Grantee =
  | { readonly kind: 'account'; readonly accountId: string }
  | { readonly kind: 'authenticated' }
  | { readonly kind: 'everyone' }

export type GrantPermission = 'FULL_CONTROL' | 'READ' | 'WRITE' | 'READ_ACP' | 'WRITE_ACP'

export interface Grant {
  readonly grantee: Grantee
  readonly permission: GrantPermission
}
